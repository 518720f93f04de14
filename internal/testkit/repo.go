package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository for tests that run wfs. The directory above it is the home directory of all commands that run in
// it, and their PATH has the wfs binary.
type Repo struct {
	T   testing.TB
	Dir string // path of the work tree
	Env []string
	Wfs string // path of the wfs binary; "": the one that Wfs returns
}

// At returns the repository at `top`/repo. It creates nothing.
func At(t testing.TB, top string) *Repo {
	t.Helper()
	return &Repo{T: t, Dir: filepath.Join(top, "repo"), Env: append(Env(top), "PATH="+Path(t))}
}

// Path returns the current PATH with the directory of the wfs binary before it.
func Path(t testing.TB) string {
	t.Helper()
	return filepath.Dir(Wfs(t)) + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// Copy copies the template, and returns the repository in the copy. The copy is removed after the test.
func (p *Template) Copy(t testing.TB, make func(r *Repo)) *Repo {
	t.Helper()
	top := filepath.Join(Temp(t, p.Parent()), "all")
	p.CopyTo(t, top, func(top string) { make(At(t, top)) })
	return At(t, top)
}

// Write writes a file in the work tree; `name` is its path there.
func (r *Repo) Write(name, text string) { r.T.Helper(); Write(r.T, r.Dir, name, text) }

// WriteAll writes files in the work tree, given by their paths there.
func (r *Repo) WriteAll(files map[string]string) { r.T.Helper(); WriteAll(r.T, r.Dir, files) }

// Try runs a command in the work tree, and returns its output and exit code. The exit code is -1 if a signal ended the
// command.
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

// OK runs a command in the work tree and returns its output. If the command fails, OK fails the test.
func (r *Repo) OK(args ...string) string {
	r.T.Helper()
	out, exit := r.Try(args...)
	if exit != 0 {
		r.T.Fatalf("%s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return strings.TrimSpace(out)
}
