package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// IndexPath is the work tree's own index.
func (r *Git) IndexPath() string { return filepath.Join(r.GitDir, "index") }

// Options say where the repository is and what git processes may see.
type Options struct {
	Dir string   // any directory in the work tree
	Env []string // the environment, as of os.Environ
	// Write says that the command is going to write: what git must be asked then is asked at once with the first question.
	Write bool
	// Waits, which may be nil, is told when the command waits for another wfs.
	Waits func(why string)
}

// Open finds the work tree that contains a directory, in one git process.
func Open(ctx context.Context, o Options) (*Git, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &Git{Root: dir, Env: QuietEnv(o.Env), UserEnv: CleanEnv(o.Env), Waits: o.Waits}
	var also Opts
	if o.Write {
		also.Env = Traced
	}
	// The work tree comes last: in a bare repository git prints what stands before it and then fails.
	out, said, err := r.RunBoth(ctx, also, "rev-parse", "--path-format=absolute", "--is-bare-repository",
		"--show-object-format",
		"--git-dir", "--git-common-dir", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	var failed *GitError
	switch {
	case errors.As(err, &failed) && strings.Contains(failed.Stderr, "not a git repository"):
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRepository)
	case errors.As(err, &failed) && lines[0] == "true":
		return nil, fmt.Errorf("%s: %w", dir, ErrBare)
	case errors.As(err, &failed) && strings.Contains(failed.Stderr, "must be run in a work tree"):
		return nil, fmt.Errorf("%s: %w", dir, ErrNoWorkTree)
	case err != nil:
		if _, tooOld := r.Version(ctx); errors.Is(tooOld, ErrGitTooOld) {
			return nil, tooOld // an old git does not know the question's options
		}
		if failed != nil && failed.Exit == GitDied {
			return nil, unusable(dir, withoutTrace(failed.Stderr))
		}
		return nil, err
	case len(lines) != 5:
		if _, tooOld := r.Version(ctx); tooOld != nil {
			return nil, tooOld
		}
		return nil, fmt.Errorf("%s: git gave an unexpected answer about the repository: %q", dir, out)
	}
	r.Format = lines[1]
	r.GitDir, r.CommonDir, r.Root = filepath.FromSlash(lines[2]), filepath.FromSlash(lines[3]), filepath.FromSlash(
		lines[4])
	r.Worktree = WorktreeID(r.GitDir, r.CommonDir)
	if err := r.notLed(dir); err != nil {
		return nil, err
	}
	if o.Write {
		r.believe(string(said))
	}
	return r, nil
}

// WorktreeID is "main", or the name under which git keeps a linked work tree. Git makes those unique and fit for ref
// names, but one may be called main as well.
func WorktreeID(gitDir, commonDir string) string {
	if gitDir == commonDir {
		return "main"
	}
	name := filepath.Base(gitDir)
	if strings.EqualFold(name, "main") {
		return name + "@linked"
	}
	return name
}

// StateDir is where wfs keeps what is not in refs and objects. It need not exist.
func (r *Git) StateDir() string { return filepath.Join(r.CommonDir, "wfs") }

// PrivateDir is the part of StateDir that belongs to this work tree.
func (r *Git) PrivateDir() string {
	if r.Scratch != "" {
		return r.Scratch
	}
	return filepath.Join(r.StateDir(), "worktrees", r.Worktree)
}

// LinkedDir is the git directory of a linked work tree.
func (r *Git) LinkedDir(id string) string {
	return filepath.Join(r.CommonDir, "worktrees", strings.TrimSuffix(id, "@linked"))
}
