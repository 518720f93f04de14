package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// IndexPath returns the path of the work tree's own index.
func (r *Git) IndexPath() string { return filepath.Join(r.GitDir, "index") }

// Options select the repository and the environment of git processes.
type Options struct {
	Dir string   // any directory in the work tree
	Env []string // the environment, as from os.Environ
	// Write means that the command is going to write. Then the first git process of Open also returns the settings that
	// writing commands need.
	Write bool
	// Directly means that files are read instead of asking git, as far as possible. It is for commands that must be
	// fast and only read: unlike git it does not check who owns the repository.
	Directly bool
	// Waits is called with the reason when the command waits for another wfs process. It may be nil.
	Waits func(why string)
}

// Open finds the work tree that contains a directory, with one git process at most.
func Open(ctx context.Context, o Options) (*Git, error) {
	if o.Directly {
		if r, known, err := openDirectly(o); known {
			return r, err
		}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r := New(Place{Root: dir, Env: QuietEnv(o.Env), UserEnv: CleanEnv(o.Env), Waits: o.Waits})
	var also Opts
	if o.Write {
		also.Env = Traced
	}
	// --show-toplevel must be last: in a bare repository, git prints the answers before it, and then fails.
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

// notOpened returns the reason why git did not find the repository of a directory.
func (r *Git) notOpened(ctx context.Context, dir string, lines []string, err error) error {
	failed := Failed(err)
	if failed != nil {
		switch {
		case strings.Contains(failed.Stderr, "not a git repository: "): // a .git file names a directory that is gone
			e := unusable(dir, failed.Stderr)
			e.Hint = "if it was moved: git -C NEW-PATH worktree repair " + safetext.ShellWord(dir)
			return e
		case strings.Contains(failed.Stderr, "not a git repository"):
			return fmt.Errorf("%s: %w", dir, ErrNotRepository)
		case lines[0] == "true":
			return fmt.Errorf("%s: %w", dir, ErrBare)
		case strings.Contains(failed.Stderr, "must be run in a work tree"):
			return fmt.Errorf("%s: %w", dir, ErrNoWorkTree)
		}
	}
	_, tooOld := r.Answers.Version(ctx) // an old git does not know some of the options above
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

// WorktreeID returns the id of a work tree: "main", or the name of git's entry for a linked work tree. Git makes these
// names unique and valid in refs. If a linked work tree is called main, too, its id is the name with "@linked".
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

// StateDir returns the directory .git/wfs of this clone, for data that is not in refs and objects. It may not exist
// yet.
func (r *Git) StateDir() string { return filepath.Join(r.CommonDir, "wfs") }

// PrivateDir returns the directory for wfs's data about this work tree, normally in StateDir.
func (r *Git) PrivateDir() string {
	if r.Scratch != "" {
		return r.Scratch
	}
	return filepath.Join(r.StateDir(), "worktrees", r.Worktree)
}

// LinkedDir returns the git directory of the linked work tree with an id.
func (r *Git) LinkedDir(id string) string {
	return filepath.Join(r.CommonDir, "worktrees", strings.TrimSuffix(id, "@linked"))
}

// LinkedPath returns the top directory of the linked work tree with a git directory, "" if git has recorded no path for
// it.
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
	if !filepath.IsAbs(path) { // git 2.48 can write a relative path
		path = filepath.Join(gitDir, path)
	}
	return filepath.Dir(path), nil
}

// MainWorktree returns the top directory of the main work tree, "" if the repository is bare. If the git directory is
// not called .git, and the configuration names no work tree, it returns the git directory, as git does.
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
		case key == "core.worktree" && value != "": // the git directory is elsewhere, as for a submodule
			if path = filepath.FromSlash(value); !filepath.IsAbs(path) {
				path = filepath.Join(r.CommonDir, path)
			}
		case key == "core.bare" && (!set || Truth(value)):
			return "", nil
		}
	}
	return path, nil
}
