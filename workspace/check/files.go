package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

func base(path string) string { return filepath.Base(path) }

// fileChecks has the checks of the files that wfs keeps outside of Git.
type fileChecks struct{ *Report }

// files checks all files in the directory wfs of the common git directory, where this clone's journals and locks are.
func (r fileChecks) files() error {
	flaws, err := r.Files.Examine()
	if errors.Is(err, fs.ErrPermission) {
		r.add(Blocks, "file", "", r.Files.Dir(), "cannot be read: "+err.Error(), "no session can be used",
			fmt.Sprintf("sudo chown -R \"$(id -u)\" %s", word(r.Files.Dir())))
	} else if err != nil {
		return err
	}
	var left []registry.Flaw
	for _, f := range flaws {
		if f.Left {
			left = append(left, f)
		} else {
			r.flaw(f)
		}
	}
	if len(left) > 0 {
		r.add(Tells, "left-over", "", r.Files.Dir(), number(len(left), "unfinished file")+" of killed commands",
			"they hold nothing that wfs reported", "").
			by(func(ctx context.Context) (string, string, error) { return r.removeLeft(ctx, left) })
	}
	return nil
}

// removeLeft removes unfinished files that killed commands left. It skips files that another process may be writing.
func (r fileChecks) removeLeft(ctx context.Context, left []registry.Flaw) (done, undo string, err error) {
	for _, f := range left {
		if why, err := r.Lock(ctx, f.Session); err != nil {
			return "", "", err
		} else if why != "" {
			continue
		}
		if _, err := r.Files.Mend(f, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
		done = "removed"
	}
	return done, "", nil
}

// flaw adds a finding about one damaged or misplaced file of the clone.
func (r fileChecks) flaw(flaw registry.Flaw) {
	kind := flaw.Kind
	f := r.add(Blocks, "file", flaw.Session, flaw.Path, kind.Name+": "+plainError(flaw), kind.Lost, "")
	if kind.Name == "journal" {
		f.About = "journal"
	}
	switch {
	case kind.Cache && flaw.Wrong:
		f.Level, f.Follows = Warns, "it cannot be recreated in place"
	case kind.Cache:
		f.Level, f.Follows = Tells, "nothing: it is recreated"
	}
	switch {
	case errors.Is(flaw.Err, session.ErrNewer):
		f.What, f.Next = kind.Name+": a newer wfs wrote it", "install a newer wfs; nothing was changed"
	case errors.Is(flaw.Err, durable.ErrNotPrivate) && !flaw.Wrong:
		f.What, f.Follows, f.Next = flaw.Err.Error(), "nothing in it can be trusted", makePrivate(flaw.Path)
	default:
		f.free = flaw.Wrong
		f.by(func(ctx context.Context) (string, string, error) { return r.mendFlaw(ctx, flaw) })
	}
}

// plainError returns the text of a flaw's error without the file's path, because the path is displayed separately.
func plainError(f registry.Flaw) string {
	return strings.NewReplacer(registry.ErrCorrupt.Error()+": ", "", f.Path+": ", "", f.Path+", ", "", f.Path+" ",
		"").Replace(f.Err.Error())
}

func makePrivate(dir string) string {
	return fmt.Sprintf("chown -R \"$(id -u)\" %s && chmod -R go-w %s", word(dir), word(dir))
}

// mendFlaw moves a damaged file aside, and says from which source it is recreated. For a journal it keeps the events
// before the damage.
func (r fileChecks) mendFlaw(ctx context.Context, f registry.Flaw) (done, undo string, err error) {
	var events []session.Event
	var tip session.Commit
	journal := f.Kind.Name == "journal" && f.Session != ""
	if journal {
		name := strings.TrimSuffix(strings.TrimPrefix(base(f.Path), "events-"), ".jsonl")
		if name != "none" {
			tip = session.Commit(name)
		}
		events, _, _ = r.Files.Session(f.Session).Peek(tip) // returns the events before the damage
		if s, err := r.Engine.AtTip(ctx, f.Session, tip); err == nil {
			n, _ := history.Fitting(s, events)
			events = events[:n]
		}
	}
	kept, err := r.Files.Mend(f, len(events))
	if err != nil {
		return "", "", err
	}
	done = "moved to " + base(kept)
	switch f.Kind.Name {
	case "journal":
		done += fmt.Sprintf("; %s before the damage are kept, later ones are lost", number(len(events), "event"))
	case "claim":
		done += "; if a command was interrupted here, wfs resume of its session completes it"
	case "exclude rules":
		done += "; the next command that uses the session rewrites them from its history"
	}
	return done, moveBack(kept, f.Path), nil
}

// trust checks the directory with the user's trust: which commands may run.
func (r fileChecks) trust() error {
	const follows = "no command of the repository runs"
	if r.NoTrust != nil {
		r.add(Warns, "file", "", "XDG_STATE_HOME", r.NoTrust.Error(), "no trust can be recorded, so "+follows, "")
		return nil
	}
	dir := r.TrustDir
	_, err := durable.CheckPrivateDir(dir)
	if err == nil {
		_, err = os.ReadDir(dir)
	}
	if errors.Is(err, durable.ErrNotPrivate) || errors.Is(err, fs.ErrPermission) {
		f := r.add(Blocks, "file", "", dir, err.Error(), follows, makePrivate(dir))
		// in place of the directory there is a link or a file
		if found, err := durable.CheckDir(dir); found && err != nil {
			f.by(moveAside(dir)).free = true
		}
	}
	return nil
}
