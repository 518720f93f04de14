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
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// sayUnseen prints changes outside the session that happened while its agent ran, with the commands that revert them.
// It prints them each time until the user confirms them with wfs status --seen.
func sayUnseen(ctx context.Context, w *workspace.Workspace, s *session.Session, say func(string, ...any)) {
	if s.Unseen == nil {
		return
	}
	var lines []string
	line := func(what, mends string) {
		if lines = append(lines, "  "+what); mends != "" {
			lines = append(lines, "    to put it back: "+mends)
		}
	}
	for _, m := range s.Unseen.Refs {
		if what, mends := movedOutside(ctx, w.Repo, m); what != "" {
			line(what, mends)
		}
	}
	for _, f := range s.Unseen.Files {
		if what, mends, put := watchedNow(ctx, w, s, f); !put {
			line(what, mends)
		}
	}
	if len(lines) == 0 {
		return
	}
	say("changed outside of the session while its agent ran:")
	for _, text := range lines {
		say("%s", text)
	}
	say("  once you have seen it: wfs status %s --seen", s.ID)
}

// movedOutside describes how a ref was changed, and returns the command that reverts the change. It returns "" if the
// ref has its old value again, or if a fetch changed it.
func movedOutside(ctx context.Context, repo *gitstate.Repo, m session.RefMove) (what, mends string) {
	if now, err := repo.Ref(ctx, m.Ref); err != nil || now == m.Old {
		return "", ""
	}
	name := present.ShortRef(m.Ref)
	if there, isRemote := strings.CutPrefix(m.Ref, "refs/remotes/"); isRemote {
		if m.New == "" || !repo.Pushed(ctx, m.Ref) {
			return "", "" // a fetch
		}
		remote, branch, _ := strings.Cut(there, "/")
		if m.Old == "" {
			return fmt.Sprintf("%s was pushed to %s", m.New.Short(), name),
				fmt.Sprintf("git push %s --delete %s", shellWord(remote), shellWord(branch))
		}
		return fmt.Sprintf("%s was pushed to %s, which was at %s", m.New.Short(), name, m.Old.Short()),
			fmt.Sprintf("git push %s %s %s:refs/heads/%s", shellWord("--force-with-lease="+branch+":"+string(m.New)),
				shellWord(remote), m.Old, shellWord(branch))
	}
	switch {
	case m.Old == "":
		return fmt.Sprintf("%s was made at %s", name, m.New.Short()),
			fmt.Sprintf("git update-ref -d %s %s", shellWord(m.Ref), m.New)
	case m.New == "":
		return fmt.Sprintf("%s was deleted; it was at %s", name, m.Old.Short()),
			fmt.Sprintf("git update-ref %s %s", shellWord(m.Ref), m.Old)
	}
	return fmt.Sprintf("%s was moved from %s to %s", name, m.Old.Short(), m.New.Short()),
		fmt.Sprintf("git update-ref %s %s %s", shellWord(m.Ref), m.Old, m.New)
}

// watchedNow describes how a watched file was changed, and returns the command that reverts the change. Watched files
// are outside the session, such as .git/config. `put` reports whether the file is already as it was before.
func watchedNow(ctx context.Context, w *workspace.Workspace, s *session.Session, f string) (what, mends string,
	put bool) {
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
		was = w.Clone.Session(s.ID).Was(s.Unseen.Was[f], f)
		what, mends, put = changedOutside(name, was, file, now)
	}
	if now != nil && !put && now.Mode().IsRegular() &&
		slices.Contains([]string{"config", "config.worktree"}, path.Base(f)) {
		if keys := w.Repo.SettingsBetween(ctx, was, file); len(keys) > 0 {
			what += ": " + strings.Join(keys[:min(len(keys), present.MostSaid)], ", ")
		}
	}
	if strings.HasPrefix(f, ".wfs/") && w.Repo.HasFile(ctx, s.Base, f) {
		mends = fmt.Sprintf("git -C %s checkout %s -- %s", shellWord(w.Repo.Root()), s.Base.Short(), shellWord(f))
	}
	return what, mends, put
}

// changedOutside compares a file with the copy `was` that wfs made before the run. `now` is nil if the file does not
// exist any more. The results are those of watchedNow.
func changedOutside(name, was, file string, now fs.FileInfo) (what, mends string, put bool) {
	info, err := os.Lstat(was)
	if err != nil {
		return name + " was changed, made or removed", "", false
	}
	mends = "cp " + shellWord(was) + " " + shellWord(file)
	switch {
	case now == nil:
		return name + " was removed", mends, false
	case !now.Mode().IsRegular():
		return name + " was replaced", "rm " + shellWord(file) + " && " + mends, false
	case info.Mode()&0o100 != now.Mode()&0o100:
		sign := "-"
		if info.Mode()&0o100 != 0 {
			sign = "+"
		}
		return name + " was changed", mends + " && chmod " + sign + "x " + shellWord(file), false
	}
	before, err1 := os.ReadFile(was)
	text, err2 := durable.ReadFile(file, info.Size())
	return name + " was changed", mends, err1 == nil && err2 == nil && bytes.Equal(before, text)
}

// sawAll records that the user has seen the changes outside the session.
func (a *statusVerb) sawAll(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs status --seen", Session: name})
	if err == nil {
		err = h.Seen()
	}
	a.Close()
	return err
}
