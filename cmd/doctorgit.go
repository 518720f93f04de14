package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// What the doctor looks at in git, and around it.

// What of a disk is little: a checkpoint and everything that belongs to it fit, if they are not large.
const (
	littleBytes = 200 << 20
	littleFiles = 2000
)

// longHeld is how old a lock of git's must be to be worth a word: git holds it for moments.
const longHeld = 10 * time.Second

func (e *examination) git() error {
	_, err := e.a.repo.Version(e.ctx)
	if errors.Is(err, gitstate.ErrGitTooOld) {
		e.add(finding{Level: findBlocks, About: "git", Where: "git", What: err.Error(), Follows: "nothing can be written", Next: "install git 2.34 or newer"})
		return nil
	}
	if err != nil {
		return err
	}
	if err = e.a.repo.Fit(e.ctx, true); err == nil {
		err = e.a.repo.Able(e.ctx)
	}
	var ready *gitstate.ReadyError
	if errors.As(err, &ready) {
		e.add(finding{Level: findBlocks, About: "git", Where: e.a.repo.Root(), What: ready.Error(), Follows: "nothing can be written here", Next: readyHints[ready.Code]})
	} else if err != nil && !errors.Is(err, gitstate.ErrBrokenRef) {
		return err
	}
	if head, err := e.a.repo.Head(e.ctx); err == nil && head.Ref == "" {
		e.add(finding{Level: findWarns, About: "git", Where: "HEAD", What: "is on no branch", Follows: "wfs new works here, but no session can be checked out",
			Next: readyHints[gitstate.NotOnBranch]})
	}
	var wrong *findingsError
	if _, err := e.a.ownSettings(e.ctx); errors.As(err, &wrong) {
		e.add(finding{Level: findBlocks, About: "config", Where: filepath.Join(e.a.repo.Root(), ".wfs"), What: wrong.Error(), Follows: "no session can begin", Next: "wfs workflow check"})
	}
	traps, err := e.a.repo.Traps(e.ctx)
	if err != nil {
		return err
	}
	for _, t := range traps {
		e.add(finding{Level: findWarns, About: "config", Where: t.Key, What: "is " + t.Value, Follows: t.Follows, Next: t.Next})
	}
	return nil
}

func (e *examination) disk() error {
	dir := e.a.repo.CommonDir()
	if s, known := durable.SpaceAt(dir); known {
		if s.Bytes < littleBytes {
			e.add(finding{Level: findWarns, About: "disk", Where: dir, What: inBytes(int64(s.Bytes)) + " are left on this file system", Follows: "a checkpoint may fail, without losing anything", Next: "wfs gc"})
		}
		if s.Count && s.Files < littleFiles {
			e.add(finding{Level: findWarns, About: "disk", Where: dir, What: fmt.Sprintf("%d more files can be made on this file system", s.Files), Follows: "a checkpoint may fail, without losing anything", Next: "git gc"})
		}
	}
	err := durable.HasLocks(filepath.Join(dir, "HEAD"))
	if errors.Is(err, durable.ErrNoLocks) {
		e.add(finding{Level: findBlocks, About: "disk", Where: dir, What: "this file system has no locks (flock)", Follows: "sessions can be read here, but not run", Next: "git clone . A-LOCAL-DISK"})
		return nil
	}
	return nil // any other error is said where that file is used
}

// refsOfOurs looks at every ref of ours, and offers what a broken one may be made again from.
func (e *examination) refsOfOurs() error {
	refs, broken, err := e.a.repo.OurRefs(e.ctx)
	if err != nil {
		return err
	}
	e.refs, e.tips = len(refs), map[session.ID]session.Commit{}
	for name, tip := range refs {
		if id := sessionOf(name); id != "" && name == session.LedgerOf(id) {
			e.tips[id] = tip
		}
	}
	for _, b := range broken {
		e.brokenRef(b, refs)
	}
	for id := range e.tips {
		if name := session.BranchOf(id); refs[name] == "" && e.a.wasIn(name, broken...) {
			e.brokenRef(gitstate.BrokenRef{Ref: name, Err: errors.New("its storage is damaged")}, refs)
		}
	}
	return e.lostLedgers(refs, broken)
}

// sessionOf is the session that a ref belongs to, "" for none.
func sessionOf(ref string) session.ID {
	name, ok := strings.CutPrefix(ref, session.BranchPrefix)
	if !ok {
		rest, below := strings.CutPrefix(ref, session.RefPrefix)
		if !below {
			return ""
		}
		name, _, _ = strings.Cut(rest, "/")
	}
	id, err := session.ParseID(name)
	if err != nil || string(id) != name {
		return ""
	}
	return id
}

func (e *examination) brokenRef(b gitstate.BrokenRef, refs map[string]session.Commit) {
	id := sessionOf(b.Ref)
	f := finding{Level: findBlocks, About: "ref", Session: id, Where: b.Ref, What: strings.TrimPrefix(b.Err.Error(), b.Ref+": "), Next: repairCommand, lock: id}
	to, from := e.formerly(b, refs)
	switch {
	case id != "" && b.Ref == session.LedgerOf(id):
		f.Follows = "the session cannot be used"
	case id != "" && b.Ref == session.BranchOf(id):
		f.Follows = "the session's branch is not there"
	case strings.Contains(b.Ref, "/rescue/"):
		f.Follows = "that backup cannot be restored by its name"
	case strings.HasPrefix(b.Ref, "refs/wfs-ops/"):
		f.Follows = "wfs undo has no history for that work tree"
	default:
		f.Follows = "git warns about it, and its objects may be lost at the next git gc"
	}
	switch {
	case to == "" && b.File == "": // it can be read, and what it names may come back
		f.Next = fmt.Sprintf("git fsck, and git fetch REMOTE '+%s:%s' if another clone has it", b.Ref, b.Ref)
	case to == "" && id != "" && (b.Ref == session.LedgerOf(id) || b.Ref == session.BranchOf(id)):
		f.Next = "git fsck --lost-found, then git update-ref " + b.Ref + " COMMIT"
	default:
		f.mend = func(ctx context.Context) (string, string, error) {
			kept, err := e.a.repo.Replant(ctx, b, to, filepath.Join(e.a.clone.Dir(), "refs"))
			if err != nil {
				return "", "", err
			}
			if to == "" {
				e.a.cleared = append(e.a.cleared, b.Ref)
			}
			did := "its file is kept as " + kept
			if b.File == "" {
				return fmt.Sprintf("it is at %s again, %s", to.Short(), from), "git update-ref -d " + b.Ref, nil
			}
			if to != "" {
				did = fmt.Sprintf("it is at %s again, %s; %s", to.Short(), from, did)
			}
			return did, fmt.Sprintf("mv %s %s", shellWord(kept), shellWord(b.File)), nil
		}
	}
	e.add(f)
}

// formerly is where a broken ref was as far as anything else tells, and what told.
func (e *examination) formerly(b gitstate.BrokenRef, refs map[string]session.Commit) (to session.Commit, from string) {
	a, id := e.a, sessionOf(b.Ref)
	switch {
	case id != "" && b.Ref == session.LedgerOf(id):
		return e.newestLedger(id, refs), "the latest history commit that this clone's files and backups name"
	case id != "" && b.Ref == session.BranchOf(id):
		if c := a.repo.Reflog(e.ctx, b.Ref); c != "" {
			return c, "as its reflog says"
		}
		if tip := refs[session.LedgerOf(id)]; tip != "" {
			if v, err := a.eng.Load(e.ctx, id, tip); err == nil && v.Session.At(v.Session.Current) != nil {
				return v.Session.At(v.Session.Current).Code, "the session's current checkpoint"
			}
		}
	case strings.Contains(b.Ref, "/rescue/"):
		if c := a.repo.RescueOf(e.ctx, b.Ref); c != "" {
			return c, "as the operation log has it"
		}
	}
	return "", ""
}

// newestLedger is the newest commit of a session's ledger that anything but its ref tells of.
func (e *examination) newestLedger(id session.ID, refs map[string]session.Commit) session.Commit {
	known, err := e.a.clone.AnchorOf(id)
	if err != nil {
		return ""
	}
	for name, c := range refs {
		if strings.HasPrefix(name, session.RefPrefix+string(id)+"/rescue/") {
			if info, err := e.a.repo.CommitInfo(e.ctx, c); err == nil && len(info.Parents) > 0 {
				known = append(known, info.Parents[0])
			}
		}
	}
	newest, err := e.a.repo.NewestLedger(e.ctx, id, known)
	if err != nil {
		return ""
	}
	return newest
}

// lostLedgers offers to bring back ledgers whose refs are gone while this clone has journals of them. It is not done by
// itself: somebody may have removed them on purpose.
func (e *examination) lostLedgers(refs map[string]session.Commit, broken []gitstate.BrokenRef) error {
	known, err := e.a.clone.Sessions()
	if err != nil {
		return nil //nolint:nilerr // said among the files
	}
	driven := slices.Clone(known)
	for name := range refs { // a branch without a ledger, or a rescue
		if id := sessionOf(name); id != "" && !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	for _, id := range known {
		if e.tips[id] != "" || slices.ContainsFunc(broken, func(b gitstate.BrokenRef) bool { return b.Ref == session.LedgerOf(id) }) {
			continue
		}
		if kept, err := e.a.keptOf(e.ctx, id); err == nil && kept != "" {
			continue // it was deleted
		}
		if !slices.Contains(driven, id) && refs[session.BranchOf(id)] == "" { // nothing but rescues is left: it was deleted for good
			lines, err := e.a.staysLines(e.ctx, id)
			if err != nil {
				return nil //nolint:nilerr // said among the refs
			}
			for _, line := range lines {
				what, next, _ := strings.Cut(line, ": ")
				e.add(finding{Level: findTells, About: "rescue", Where: session.RefPrefix + string(id) + "/rescue", What: what, Follows: "session " + string(id) + " is deleted", Next: next})
			}
			continue
		}
		newest := e.newestLedger(id, refs)
		if what, path := e.a.repo.InPlaceOf(session.LedgerOf(id)); newest != "" && what != "" { // git never leaves that there
			e.brokenRef(gitstate.BrokenRef{Ref: session.LedgerOf(id), File: path, Err: fmt.Errorf("%w: there is %s in its place", gitstate.ErrBrokenRef, what)}, refs)
			continue
		}
		if newest != "" && e.a.wasIn(session.LedgerOf(id), broken...) {
			e.brokenRef(gitstate.BrokenRef{Ref: session.LedgerOf(id), Err: errors.New("its storage is damaged")}, refs)
			continue
		}
		if newest != "" {
			e.add(finding{Level: findWarns, About: "ledger", Session: id, Where: session.LedgerOf(id), What: "is missing, but its commits exist",
				Follows: "there is no session of that name", Next: fmt.Sprintf("git update-ref %s %s", session.LedgerOf(id), newest)})
		} else if branch := refs[session.BranchOf(id)]; branch != "" {
			e.add(finding{Level: findTells, About: "branch", Session: id, Where: session.BranchOf(id), What: "it is named like a session's branch, but there is no such session", Follows: "wfs leaves it alone"})
		}
	}
	return nil
}

// objects looks whether everything that refs of ours lead to is there.
func (e *examination) objects() error {
	refs, _, err := e.a.repo.OurRefs(e.ctx)
	if err != nil {
		return err
	}
	lost, err := e.a.repo.Lost(e.ctx, slices.Sorted(maps.Keys(refs)))
	if err != nil || lost == "" {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		e.progress("checking the objects of " + name)
		if lost, err = e.a.repo.Lost(e.ctx, []string{name}); err != nil {
			return err
		}
		if lost != "" {
			e.add(finding{Level: findBlocks, About: "objects", Session: sessionOf(name), Where: name, What: "objects of it are missing or damaged: " + lost, Follows: "those checkpoints are incomplete",
				Next: fmt.Sprintf("git fsck, and git fetch --refetch REMOTE '+%s:%s' if another clone has them", name, name)})
		}
	}
	return nil
}

// operations reads this work tree's operation log.
func (e *examination) operations() error {
	_, damage, err := e.a.repo.OpLog(e.ctx, e.a.repo.Worktree())
	f := finding{Level: findWarns, About: "ref", Where: "refs/wfs-ops/" + e.a.repo.Worktree()}
	switch {
	case errors.Is(err, session.ErrNewer):
		f.What, f.Follows, f.Next = "a newer wfs wrote it", "wfs undo does not work here", "install a newer wfs"
	case err != nil:
		return err
	case errors.Is(damage, gitstate.ErrBrokenRef): // said of the ref
		return nil
	case damage != nil:
		f.What, f.Follows = "cannot be read: "+damage.Error(), "wfs undo has no earlier history; the next operation starts a new log on top of this one"
	default:
		return nil
	}
	e.add(f)
	return nil
}

// locks looks for locks of git's that nobody seems to hold.
func (e *examination) locks() error {
	list, err := e.a.repo.LockFiles(e.ctx)
	if err != nil {
		return err
	}
	for _, l := range list {
		f := finding{Level: findBlocks, About: "lock", Where: l.Path, What: strings.TrimPrefix(l.Error(), "git's lock "+l.Path+" "), Follows: "neither wfs nor git can change what it locks"}
		if !l.Needed {
			f.Level = findWarns
		}
		switch {
		case l.Ours:
			e.lockOfOurs(l, &f)
		case l.Age < longHeld && !l.Stays():
			continue
		case l.Deserted():
			f.Next = "rm " + shellWord(l.Path)
		case len(l.Holders)+len(l.AtWork) > 0:
			f.Level, f.Next = findWarns, "wait for it, or stop it"
		default:
			f.Next = "rm " + shellWord(l.Path) + " once no git command is running"
		}
		e.add(f)
	}
	return nil
}

// lockOfOurs says of a lock of ours whether somebody is at it, or the repair can remove it.
func (e *examination) lockOfOurs(l gitstate.LockFile, f *finding) {
	f.Level, f.What, f.Follows = findTells, "a lock of wfs, left by a command that was killed", "the next command that changes something removes it"
	if who, held, err := e.a.clone.WorktreeHolder(l.Worktree); err == nil && held && who.PID != e.a.env.PID {
		f.What, f.Follows = fmt.Sprintf("a lock of wfs; `%s` (pid %d) is running in work tree %s", who.Command, who.PID, l.Worktree), "it is removed when that command exits"
		return
	}
	f.Next = repairCommand
	f.mend = func(context.Context) (string, string, error) { // whoever takes the lock of a work tree removes it
		if _, err := os.Lstat(l.Path); errors.Is(err, fs.ErrNotExist) {
			return "removed", "", nil
		}
		return "", "", nil
	}
}

func (e *examination) leftovers() error {
	l, err := e.a.repo.Leftovers()
	if err != nil {
		return err
	}
	objects := filepath.Join(e.a.repo.CommonDir(), "objects")
	if l.Temporary > 0 && e.a.env.Now().Sub(l.Newest) > longHeld {
		e.add(finding{Level: findTells, About: "left-over", Where: objects, What: fmt.Sprintf("%d unfinished %s of killed commands, %s", l.Temporary, plural(l.Temporary, "file", "files"), inBytes(l.Bytes)),
			Follows: "git gc removes them once they are two weeks old", Next: "git gc"})
	}
	for _, path := range l.Orphans {
		e.add(finding{Level: findTells, About: "left-over", Where: path, What: "half of a pack, whose other half is not there", Follows: "git ignores it", Next: "git gc"})
	}
	for _, path := range l.Keeps {
		e.add(finding{Level: findTells, About: "left-over", Where: path, What: "a mark of a fetch or push that may have been killed", Follows: "git never merges that pack into others",
			Next: "rm " + shellWord(path) + " once no git command is running"})
	}
	return nil
}

// clone looks whether this clone is where it was, or a copy.
func (e *examination) clone() error {
	place, was, _, err := e.a.clone.Whence()
	if err != nil && !errors.Is(err, session.ErrNewer) {
		return err
	}
	if place == registry.Copied {
		e.add(finding{Level: findWarns, About: "clone", Where: e.a.repo.CommonDir(), What: "this is a copy of " + was.Path, Follows: "sessions of the original stay there; the next command that changes something separates the two clones"})
	}
	return nil
}
