package workflows

import (
	"path/filepath"
	"strings"
	"time"
)

// Worktree configures the separate work trees that `wfs new --worktree` makes for sessions.
type Worktree struct {
	// Dir is a template for the path of the work tree, relative to the main work tree. It contains {slug}, and may
	// contain {repo}.
	Dir string `json:"dir" is:"dir" default:"../{repo}-{slug}"`
	// Copy has patterns of untracked and ignored files of the main work tree that are copied into the new one. Link has
	// paths that are linked instead.
	Copy    []string      `json:"copy,omitempty" is:"copy"`
	Link    []string      `json:"link,omitempty" is:"link"`
	Setup   Command       `json:"setup,omitzero" is:""`        // command that runs in the new work tree before any gate
	Timeout time.Duration `json:"timeout" is:"" default:"30m"` // time limit of Setup
}

// By default, work trees are next to the repository. A set-up may take as long as an agent may be silent.
const (
	DefaultWorktreeDir     = "../{repo}-{slug}"
	DefaultWorktreeTimeout = 30 * time.Minute
)

// ExpandDir returns the path of a work tree: Dir with its placeholders replaced.
func (w Worktree) ExpandDir(repo, slug string) string {
	return strings.NewReplacer("{repo}", repo, "{slug}", slug).Replace(w.Dir)
}

// check reports a Dir that a repository's configuration may not choose. It may choose a directory below its work tree
// or directly next to it, but no other place on the user's machine.
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
