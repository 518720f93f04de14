package gitcmd

import (
	"os"
	"path/filepath"
	"strings"
)

// mainHead is git's name, in a linked work tree, for the HEAD of the main one; that of another linked one is
// worktrees/NAME/HEAD (gitrevisions(7), gitrepository-layout(5)).
const mainHead = "main-worktree/HEAD"

func isLinkedHead(ref string) bool {
	name, linked := strings.CutPrefix(ref, "worktrees/")
	name, head := strings.CutSuffix(name, "/HEAD")
	return linked && head && name != "" && !strings.Contains(name, "/")
}

// headOfDir names the HEAD of a git directory, "" for a private one of ours, whose locks are tidied up with it.
func (r *Git) headOfDir(dir string) string {
	switch {
	case dir == r.GitDir:
		return "HEAD"
	case dir == r.CommonDir:
		return mainHead
	case filepath.Dir(dir) == filepath.Join(r.CommonDir, "worktrees"):
		return "worktrees/" + filepath.Base(dir) + "/HEAD"
	}
	return ""
}

// Others are the work trees of this repository besides this one that wfs was used in, whether they are still
// there or not.
func (r *Git) Others() []*Git {
	dirs, err := os.ReadDir(filepath.Join(r.StateDir(), "worktrees"))
	if err != nil {
		return nil
	}
	var list []*Git
	for _, d := range dirs {
		if id := d.Name(); d.IsDir() && id != r.Worktree && !strings.HasPrefix(id, ".") {
			o := &Git{Root: r.Root, GitDir: r.CommonDir, CommonDir: r.CommonDir, Worktree: id, Format: r.Format, Env: r.Env,
				UserEnv: r.UserEnv}
			if id != "main" {
				o.GitDir = r.LinkedDir(id)
			}
			list = append(list, o)
		}
	}
	return list
}

// LeftLocked reports whether there are locks in a work tree that a process of ours made, dead or alive.
func (r *Git) LeftLocked() bool {
	return len(r.leftLocks(r.NotedRefs())) > 0 || OursByMark(r.IndexPath()+".lock")
}

// notedAnywhere returns the paths of locks that notes of any work tree name, by the work tree's id.
func (r *Git) notedAnywhere() map[string]string {
	noted := map[string]string{}
	for _, o := range append(r.Others(), r) {
		for _, path := range o.leftLocks(o.NotedRefs()) {
			noted[path] = o.Worktree
		}
		if lock := o.IndexPath() + ".lock"; OursByMark(lock) {
			noted[lock] = o.Worktree
		}
	}
	return noted
}
