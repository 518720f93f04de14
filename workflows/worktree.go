package workflows

import (
	"path/filepath"
	"strings"
	"time"
)

// Worktree says how a work tree of a session's own is made.
type Worktree struct {
	// Dir is where: a path with {slug}, and {repo} if it likes, relative to the main work tree.
	Dir string `json:"dir"`
	// Copy are patterns of untracked and ignored files of the main work tree, from its top, Link are paths there.
	Copy    []string      `json:"copy,omitempty"`
	Link    []string      `json:"link,omitempty"`
	Setup   Command       `json:"setup,omitzero"` // run in the new work tree before anything is judged
	Timeout time.Duration `json:"timeout"`        // of Setup
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

func (r *reader) worktree(n *node) Worktree {
	w := Worktree{Dir: DefaultWorktreeDir, Timeout: DefaultWorktreeTimeout}
	f, _ := r.fields(n, "worktree", worktreeObject)
	if dir := r.line(f["dir"], "worktree: dir"); dir != "" {
		w.Dir = dir
		if problem := dirProblem(dir); problem != "" {
			r.fail(f["dir"].line, "worktree: dir %s %s", quote(dir), problem)
		}
		r.checkBeside(f["dir"], dir)
	}
	for _, item := range r.items(f["copy"], "worktree: copy", "patterns") {
		if g := r.glob(item, "worktree: copy", copyProblem); g != "" {
			w.Copy = append(w.Copy, strings.TrimSuffix(g, "/"))
		}
	}
	for _, item := range r.items(f["link"], "worktree: link", "paths") {
		p := strings.TrimSuffix(r.line(item, "worktree: link"), "/")
		if p == "" {
			continue
		}
		if problem := linkProblem(p); problem != "" {
			r.fail(item.line, "worktree: link %s %s", quote(p), problem)
			continue
		}
		w.Link = append(w.Link, p)
	}
	w.Setup = r.command(f["setup"], "worktree: setup")
	w.Timeout = r.duration(f["timeout"], "worktree: timeout", w.Timeout)
	return w
}

// checkBeside reports a directory that a repository may not choose: it has a say about names below its work tree and
// right beside it, and about no other place of a person's machine.
func (r *reader) checkBeside(n *node, dir string) {
	if r.layer == nil || r.layer.Source != FromRepository {
		return
	}
	name, beside := strings.CutPrefix(dir, "../")
	if beside && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".") || !beside && filepath.IsLocal(filepath.FromSlash(dir)) {
		return
	}
	r.fail(n.line, "worktree: dir %s is neither below the work tree nor right beside it, where a repository may not point", quote(dir))
	r.hint("set it in .wfs/local.yaml, which is this clone's own")
}

// dirProblem says what is wrong with the template of a directory, "" if nothing is.
func dirProblem(dir string) string {
	rest := strings.NewReplacer("{repo}", "", "{slug}", "").Replace(dir)
	switch {
	case !strings.Contains(dir, "{slug}"):
		return "must hold {slug}, the session's name: each session has a work tree of its own"
	case strings.ContainsAny(rest, "{}"):
		return "may hold {repo} and {slug}, and no other {…}"
	case strings.HasPrefix(dir, "~"):
		return "may not begin with ~: it is relative to the main work tree, or absolute"
	}
	return ""
}

// copyProblem says what is wrong with a pattern of files to copy. Unlike a guard's it is always meant from the top:
// that of a name would look into every directory of what is installed.
func copyProblem(g string) string {
	if strings.HasPrefix(g, "!") {
		return "cannot be negated"
	}
	if problem := globProblem(g); problem != "" {
		return problem
	}
	return gitProblem(g)
}

func linkProblem(p string) string {
	if strings.ContainsAny(p, "*?[") {
		return "is a path, not a pattern"
	}
	return copyProblem(p)
}

func gitProblem(p string) string {
	if first, _, _ := strings.Cut(p, "/"); strings.EqualFold(first, ".git") {
		return "is git's own"
	}
	return ""
}
