package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// sayUnseen tells what runs changed beside the session, until somebody says that it was seen, and what mends it.
func sayUnseen(ctx context.Context, w *workspace.Workspace, s *session.Session, say func(string, ...any)) {
	if s.Unseen == nil {
		return
	}
	said := false
	line := func(what, mends string) {
		if !said {
			say("changed outside of the session while its agent ran:")
			said = true
		}
		say("  %s", what)
		if mends != "" {
			say("    to put it back: %s", mends)
		}
	}
	for _, m := range s.Unseen.Refs {
		if now, err := w.Repo.Ref(ctx, m.Ref); err != nil || now == m.Old {
			continue // it was put back
		}
		remote, branch, _ := strings.Cut(strings.TrimPrefix(m.Ref, "refs/remotes/"), "/")
		pushed := strings.HasPrefix(m.Ref, "refs/remotes/") && m.New != "" && w.Repo.Pushed(ctx, m.Ref)
		switch name := present.ShortRef(m.Ref); {
		case pushed && m.Old == "":
			line(fmt.Sprintf("%s was pushed to %s", m.New.Short(), name),
				fmt.Sprintf("git push %s --delete %s", shellWord(remote), shellWord(branch)))
		case pushed:
			line(fmt.Sprintf("%s was pushed to %s, which was at %s", m.New.Short(), name, m.Old.Short()),
				fmt.Sprintf("git push %s %s %s:refs/heads/%s", shellWord("--force-with-lease="+branch+":"+string(m.New)),
					shellWord(remote), m.Old, shellWord(branch)))
		case strings.HasPrefix(m.Ref, "refs/remotes/"): // a fetch
		case m.Old == "":
			line(fmt.Sprintf("%s was made at %s", name, m.New.Short()),
				fmt.Sprintf("git update-ref -d %s %s", shellWord(m.Ref), m.New))
		case m.New == "":
			line(fmt.Sprintf("%s was deleted; it was at %s", name, m.Old.Short()),
				fmt.Sprintf("git update-ref %s %s", shellWord(m.Ref), m.Old))
		default:
			line(fmt.Sprintf("%s was moved from %s to %s", name, m.Old.Short(), m.New.Short()),
				fmt.Sprintf("git update-ref %s %s %s", shellWord(m.Ref), m.Old, m.New))
		}
	}
	for _, f := range s.Unseen.Files {
		what, mends, put := watchedNow(ctx, w, s, f)
		if put {
			continue
		}
		if strings.HasPrefix(f, ".wfs/") && w.Repo.HasFile(ctx, s.Base, f) {
			mends = fmt.Sprintf("git -C %s checkout %s -- %s", shellWord(w.Repo.Root()), s.Base.Short(), shellWord(f))
		}
		line(what, mends)
	}
	if said {
		say("  once you have seen it: wfs status %s --seen", s.ID)
	}
}

// watchedNow says what became of a file beside a session, and the command that puts it back; put says that it is.
func watchedNow(ctx context.Context, w *workspace.Workspace, s *session.Session, f string) (what, mends string, put bool) {
	name, was := present.WatchedName(f), os.DevNull
	file := filepath.Join(w.Repo.CommonDir(), filepath.FromSlash(f))
	if strings.HasPrefix(f, ".wfs/") {
		file = filepath.Join(w.Repo.Root(), filepath.FromSlash(f))
	}
	now, err := os.Lstat(file)
	gone := errors.Is(err, fs.ErrNotExist)
	if slices.Contains(s.Unseen.Made, f) {
		what, mends, put = name+" was made", "rm "+shellWord(file), gone
	} else {
		was = w.Clone.Was(s.ID, s.Unseen.Was[f], f)
		info, err := os.Lstat(was)
		if err != nil {
			return name + " was changed, made or removed", "", false
		}
		mends = "cp " + shellWord(was) + " " + shellWord(file)
		switch {
		case gone:
			what = name + " was removed"
		case !now.Mode().IsRegular():
			what, mends = name+" was replaced", "rm "+shellWord(file)+" && "+mends
		default:
			what = name + " was changed"
			before, err1 := os.ReadFile(was)
			text, err2 := durable.ReadFile(file, info.Size())
			same := err1 == nil && err2 == nil && bytes.Equal(before, text)
			if sign := map[bool]string{true: "+", false: "-"}[info.Mode()&0o100 != 0]; info.Mode()&0o100 != now.Mode()&0o100 {
				mends += " && chmod " + sign + "x " + shellWord(file)
			} else {
				put = same
			}
		}
	}
	if base := path.Base(f); !gone && !put && now.Mode().IsRegular() && (base == "config" || base == "config.worktree") {
		if keys := w.Repo.SettingsBetween(ctx, was, file); len(keys) > 0 {
			what += ": " + strings.Join(keys[:min(len(keys), present.MostSaid)], ", ")
		}
	}
	return what, mends, put
}

// sawAll records that a person has seen what runs changed beside a session.
func (a *statusVerb) sawAll(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs status --seen", Session: name})
	if err == nil {
		err = h.Seen()
	}
	a.Close()
	return err
}
