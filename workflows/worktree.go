package workflows

import (
	"path/filepath"
	"strings"
	"time"
)

// Worktree says how a work tree of a session's own is made.
type Worktree struct {
	// Dir is where: a path with {slug}, and {repo} if it likes, relative to the main work tree.
	Dir string `json:"dir" is:"dir" default:"../{repo}-{slug}"`
	// Copy are patterns of untracked and ignored files of the main work tree, from its top, Link are paths there.
	Copy    []string      `json:"copy,omitempty" is:"copy"`
	Link    []string      `json:"link,omitempty" is:"link"`
	Setup   Command       `json:"setup,omitzero" is:""`        // run in the new work tree before anything is judged
	Timeout time.Duration `json:"timeout" is:"" default:"30m"` // of Setup
}

// Defaults of work trees: beside the repository, and as long for a set-up as an agent may be silent.
const (
	DefaultWorktreeDir     = "../{repo}-{slug}"
	DefaultWorktreeTimeout = 30 * time.Minute
)

// ExpandDir fills in the template of a work tree's directory.
func (w Worktree) ExpandDir(repo, slug string) string {
	return strings.NewReplacer("{repo}", repo, "{slug}", slug).Replace(w.Dir)
}

// check reports a directory that a repository may not choose: it has a say about names below its work tree and right
// beside it, and about no other place of a person's machine.
func (w *Worktree) check(r *reader, at string) {
	trimSlashes(w.Copy)
	trimSlashes(w.Link)
	name, beside := strings.CutPrefix(w.Dir, "../")
	if w.Dir == "" || !r.has(at, "dir") || r.layer.Source != FromRepository ||
		beside && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".") ||
		!beside && filepath.IsLocal(filepath.FromSlash(w.Dir)) {
		return
	}
	r.fail(at+".dir", " %s is neither below the work tree nor right beside it, where a repository may not point\n%s",
		quote(w.Dir), setLocally)
}

func trimSlashes(paths []string) {
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], "/")
	}
}
