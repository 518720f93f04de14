package gitstate

import (
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// core.worktree in a repository's configuration leads git to another work tree than the one that it is typed
// in. In submodules it says what is so anyway. But somebody may set it while a run goes on: gates would judge
// one directory, and the checkpoint be of another.

var setsWorkTree = lazyregexp.New(`(?im)(^|\])[ \t]*worktree[ \t]*=`)

// led reports whether the repository's configuration says where the work tree is.
func (r *Repo) led() bool {
	files := []string{filepath.Join(r.commonDir, "config"), filepath.Join(r.gitDir, "config.worktree")}
	for _, file := range files {
		data, err := durable.ReadFile(file, 1<<20)
		if setsWorkTree.Match(data) || err != nil && !absent(err) { // then git has to be told
			return true
		}
	}
	return false
}

// notLed is an error when the configuration leads to a directory that is no work tree of this repository. dir
// is where git was typed.
func (r *Repo) notLed(dir string) error {
	if !r.led() {
		return nil
	}
	to, err := leadsTo(r.root)
	if err != nil {
		to = filepath.Join(r.root, ".git")
	}
	there, err := os.Stat(to)
	own, e := os.Stat(r.gitDir)
	if err == nil && e == nil && os.SameFile(there, own) {
		return nil
	}
	return &UnusableError{Dir: dir,
		Said: "core.worktree leads to " + r.root + ", which is not a work tree of " + r.gitDir,
		Hint: "git config --unset core.worktree"}
}
