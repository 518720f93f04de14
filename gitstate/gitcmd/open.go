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
	r := New(Place{Root: dir, Env: QuietEnv(o.Env), UserEnv: CleanEnv(o.Env), Waits: o.Waits})
	var also Opts
	if o.Write {
		also.Env = Traced
	}
	// The work tree comes last: in a bare repository git prints what stands before it and then fails.
	out, said, err := r.RunBoth(ctx, also, "rev-parse", "--path-format=absolute", "--is-bare-repository",
		"--show-object-format",
		"--git-dir", "--git-common-dir", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != 5 {
		return nil, r.notOpened(ctx, dir, lines, err)
	}
	r.Format = lines[1]
	r.GitDir, r.CommonDir, r.Root = filepath.FromSlash(lines[2]), filepath.FromSlash(lines[3]), filepath.FromSlash(
		lines[4])
	r.Worktree = WorktreeID(r.GitDir, r.CommonDir)
	if err := r.notLed(dir); err != nil {
		return nil, err
	}
	if o.Write {
		r.Answers.believe(string(said))
	}
	return r, nil
}

// notOpened says why git did not answer where the repository of a directory is.
func (r *Git) notOpened(ctx context.Context, dir string, lines []string, err error) error {
	failed := Failed(err)
	if failed != nil {
		switch {
		case strings.Contains(failed.Stderr, "not a git repository"):
			return fmt.Errorf("%s: %w", dir, ErrNotRepository)
		case lines[0] == "true":
			return fmt.Errorf("%s: %w", dir, ErrBare)
		case strings.Contains(failed.Stderr, "must be run in a work tree"):
			return fmt.Errorf("%s: %w", dir, ErrNoWorkTree)
		}
	}
	_, tooOld := r.Answers.Version(ctx) // an old git does not know the question's options
	switch {
	case errors.Is(tooOld, ErrGitTooOld), err == nil && tooOld != nil:
		return tooOld
	case failed != nil && failed.Exit == GitDied:
		return unusable(dir, withoutTrace(failed.Stderr))
	case err != nil:
		return err
	}
	return fmt.Errorf("%s: git gave an unexpected answer about the repository: %q", dir, lines)
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

// LinkedPath returns the top directory of a linked work tree by its git directory, "" when that does not say.
func LinkedPath(gitDir string) (string, error) {
	link, err := ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		if Absent(err) {
			err = nil
		}
		return "", err
	}
	path := filepath.FromSlash(strings.TrimSpace(string(link)))
	if path == "" {
		return "", nil
	}
	if !filepath.IsAbs(path) { // git 2.48 can write it so
		path = filepath.Join(gitDir, path)
	}
	return filepath.Dir(path), nil
}

// MainWorktree is the top of the main work tree, "" when the repository is bare. Where that cannot be known,
// because git's directory lies elsewhere, it is that directory, as git has it.
func (r *Git) MainWorktree(ctx context.Context) (string, error) {
	if r.GitDir == r.CommonDir {
		return r.Root, nil
	}
	out, err := r.Run(ctx, Opts{OkExit: []int{1}}, "config", "--file", filepath.Join(r.CommonDir, "config"), "-z",
		"--get-regexp", `^core\.(bare|worktree)$`)
	if err != nil {
		return "", err
	}
	path := r.CommonDir
	if filepath.Base(path) == ".git" {
		path = filepath.Dir(path)
	}
	for _, entry := range SplitZ(out) {
		key, value, set := strings.Cut(entry, "\n")
		switch {
		case key == "core.worktree" && value != "": // a repository whose git directory lies elsewhere, as a submodule's
			if path = filepath.FromSlash(value); !filepath.IsAbs(path) {
				path = filepath.Join(r.CommonDir, path)
			}
		case key == "core.bare" && (!set || Truth(value)):
			return "", nil
		}
	}
	return path, nil
}
