package workflows

import (
	"path/filepath"
	"strings"
	"time"
)

// Worktree is the configuration of a separate work tree for a session.
type Worktree struct {
	// Dir is its path with {slug}, and optionally {repo}, relative to the main work tree.
	Dir string `json:"dir" is:"dir" default:"../{repo}-{slug}"`
	// Copy are patterns of untracked and ignored files of the main work tree, from its top. Link are paths there.
	Copy    []string      `json:"copy,omitempty" is:"copy"`
	Link    []string      `json:"link,omitempty" is:"link"`
	Setup   Command       `json:"setup,omitzero" is:""`        // runs in the new work tree before any gate
	Timeout time.Duration `json:"timeout" is:"" default:"30m"` // of Setup
}

// Defaults of work trees: next to the repository. A set-up may run as long as an agent may be silent.
const (
	DefaultWorktreeDir     = "../{repo}-{slug}"
	DefaultWorktreeTimeout = 30 * time.Minute
)

// ExpandDir fills in the directory template.
func (w Worktree) ExpandDir(repo, slug string) string {
	return strings.NewReplacer("{repo}", repo, "{slug}", slug).Replace(w.Dir)
}

// check reports a directory that a repository may not choose. It may choose one below its work tree or directly next to
// it, but nowhere else on the user's machine.
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
