package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// What a killed process of ours left of git's locks in another work tree keeps that one's HEAD and index from being
// moved, and refs from being moved anywhere. Nobody may come to that work tree for days, or it may be gone.

// mainHead is git's name, in a linked work tree, for the HEAD of the main one; that of another linked one is
// worktrees/NAME/HEAD (gitrevisions(7), gitrepository-layout(5)).
const mainHead = "main-worktree/HEAD"

func isLinkedHead(ref string) bool {
	name, linked := strings.CutPrefix(ref, "worktrees/")
	name, head := strings.CutSuffix(name, "/HEAD")
	return linked && head && name != "" && !strings.Contains(name, "/")
}

// headOfDir names the HEAD of a git directory, "" for a private one of ours, whose locks are tidied up with it.
func (r *Repo) headOfDir(dir string) string {
	switch {
	case dir == r.gitDir:
		return "HEAD"
	case dir == r.commonDir:
		return mainHead
	case filepath.Dir(dir) == filepath.Join(r.commonDir, "worktrees"):
		return "worktrees/" + filepath.Base(dir) + "/HEAD"
	}
	return ""
}

// others are the work trees of this repository besides this one that wfs was used in, whether they are still
// there or not.
func (r *Repo) others() []*Repo {
	dirs, err := os.ReadDir(filepath.Join(r.StateDir(), "worktrees"))
	if err != nil {
		return nil
	}
	var list []*Repo
	for _, d := range dirs {
		if id := d.Name(); d.IsDir() && id != r.worktree && !strings.HasPrefix(id, ".") {
			o := &Repo{root: r.root, gitDir: r.commonDir, commonDir: r.commonDir, worktree: id, format: r.format, env: r.env,
				userEnv: r.userEnv}
			if id != "main" {
				o.gitDir = r.linkedDir(id)
			}
			list = append(list, o)
		}
	}
	return list
}

// leftLocked reports whether there are locks in a work tree that a process of ours made, dead or alive.
func (r *Repo) leftLocked() bool {
	return len(r.leftLocks(r.notedRefs())) > 0 || oursByMark(r.indexPath()+".lock")
}

// HealOthers removes what killed processes of ours left of git's locks in other work trees, and returns the ids
// of the work trees. take takes the lock of one, by its id, and returns what gives it back; nil when somebody
// is at work there.
func (r *Repo) HealOthers(ctx context.Context, take func(worktree string) (giveBack func(), err error)) ([]string,
	error) {
	var healed []string
	for _, o := range r.others() {
		if !o.leftLocked() {
			continue
		}
		giveBack, err := take(o.worktree)
		if err != nil {
			return healed, err
		}
		if giveBack == nil {
			continue
		}
		if o.worktree == "main" { // where gits are looked for that may be at work
			if path, err := r.mainWorktree(ctx); err == nil && path != "" {
				o.root = path
			}
		}
		err = o.HealLocks(ctx)
		giveBack()
		if err != nil {
			return healed, err
		}
		healed = append(healed, o.worktree)
	}
	return healed, nil
}

// notedAnywhere returns the paths of locks that notes of any work tree name, by the work tree's id.
func (r *Repo) notedAnywhere() map[string]string {
	noted := map[string]string{}
	for _, o := range append(r.others(), r) {
		for _, path := range o.leftLocks(o.notedRefs()) {
			noted[path] = o.worktree
		}
		if lock := o.indexPath() + ".lock"; oursByMark(lock) {
			noted[lock] = o.worktree
		}
	}
	return noted
}
