package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository with a home of its own, which is the directory above it. Commands that run there find the
// binary.
type Repo struct {
	T   testing.TB
	Dir string // the work tree
	Env []string
	Wfs string // path of the binary; "": the usual one
}

// At returns the repository in top/repo.
func At(t testing.TB, top string) *Repo {
	t.Helper()
	return &Repo{T: t, Dir: filepath.Join(top, "repo"), Env: append(Env(top), "PATH="+Path(t))}
}

// Path returns a PATH with the binary first.
func Path(t testing.TB) string {
	t.Helper()
	return filepath.Dir(Wfs(t)) + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// Copy returns the repository in a copy of a template that is removed with the test.
func (p *Template) Copy(t testing.TB, make func(r *Repo)) *Repo {
	t.Helper()
	top := filepath.Join(Temp(t, p.Parent()), "all")
	p.CopyTo(t, top, func(top string) { make(At(t, top)) })
	return At(t, top)
}

// Write writes a file in the work tree.
func (r *Repo) Write(name, text string) { r.T.Helper(); Write(r.T, r.Dir, name, text) }

// WriteAll writes files in the work tree, by path.
func (r *Repo) WriteAll(files map[string]string) { r.T.Helper(); WriteAll(r.T, r.Dir, files) }

// Try runs a command and returns its output and exit code, or -1 if a signal ended it.
func (r *Repo) Try(args ...string) (string, int) {
	r.T.Helper()
	if args[0] == "wfs" {
		binary := r.Wfs
		if binary == "" {
			binary = Wfs(r.T)
		}
		args = append([]string{binary}, args[1:]...)
	}
	return Run(r.T, r.Dir, r.Env, args...)
}

// OK runs a command that must succeed, and returns its output.
func (r *Repo) OK(args ...string) string {
	r.T.Helper()
	out, exit := r.Try(args...)
	if exit != 0 {
		r.T.Fatalf("%s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return strings.TrimSpace(out)
}
