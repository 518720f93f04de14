package gitcmd

import (
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
