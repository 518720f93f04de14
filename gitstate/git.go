package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
)

// gitOpts says how one git process is run.
type gitOpts struct {
	stderr io.Writer // of gitStream; nil: nobody reads it
	stdin  []byte
	env    []string // in addition, such as GIT_INDEX_FILE=…
	write  bool     // objects and refs are synced to disk before git returns
	user   bool     // with the user's hooks, signing and configuration: no overrides at all
	gitDir string   // a private git directory instead of the repository's own; the work tree stays Root
	refs   []string // that it will be told to move, beside those in stdin and the arguments
	okExit []int    // exit codes besides 0 that are answers, not failures
}

// moves are the refs that a git is going to lock, nil for none. Its HEAD is that of the git directory it is run in.
func (r *Repo) moves(o gitOpts, args []string) []string {
	if !o.write && o.refs == nil {
		return nil
	}
	refs := append(refsIn(args, o.stdin), o.refs...)
	if o.gitDir == "" {
		return refs
	}
	for i, ref := range refs {
		if ref == "HEAD" {
			refs[i] = r.headOfDir(o.gitDir)
		}
	}
	return slices.DeleteFunc(refs, func(ref string) bool { return ref == "" })
}

// GitError is a git process that ended with an exit code nobody asked for.
type GitError struct {
	Args   []string // without the options that every call gets
	Exit   int
	Stderr string
}

func (e *GitError) Error() string {
	name := "git"
	for i, a := range e.Args {
		if setting := i > 0 && e.Args[i-1] == "-c"; !setting && !strings.HasPrefix(a, "-") {
			name += " " + a
			break
		}
	}
	if msg := strings.TrimSpace(e.Stderr); msg != "" {
		if len(e.Args) > 0 && e.Args[0] != "commit" { // of which hooks may have said something
			msg = oneLine(msg)
		}
		return name + ": " + msg
	}
	return fmt.Sprintf("%s: exit code %d", name, e.Exit)
}

// oneLine is what git said on several lines.
func oneLine(said string) string {
	var parts []string
	for line := range strings.Lines(said) {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}

// Every call gets these. What they switch off either runs somebody's program (hooks, fsmonitor), starts work in the
// background (gc, maintenance), or changes what a command does (submodules, replaced objects, files that git is not to
// look at again, a HEAD that is a link).
var quiet = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "core.ignoreStat=false", "-c", "core.preferSymlinkRefs=false", "-c", "submodule.recurse=false", "-c",
	"core.protectHFS=true", "-c", "core.protectNTFS=true",
	"-c", "advice.addEmbeddedRepo=false", "-c", "color.ui=false",
}

// Locks are waited for here (patiently), and by git not at all.
var impatient = []string{"-c", "core.filesRefLockTimeout=0", "-c", "core.packedRefsTimeout=0"}

// Git's default writes neither loose objects nor refs through to the disk. `batch` (git 2.36) costs one flush for any
// number of objects; before that there is only one flush per object.
const (
	fsyncWhat   = "core.fsync=committed,loose-object,reference"
	fsyncBatch  = "core.fsyncMethod=batch"
	fsyncBefore = "core.fsyncObjectFiles=true"
)

// git runs one git process at the top of the work tree and returns its standard output, also together with an error.
func (r *Repo) git(ctx context.Context, o gitOpts, args ...string) ([]byte, error) {
	out, _, err := r.gitBoth(ctx, o, args...)
	return out, err
}

// gitStream is git with input and output as they come.
func (r *Repo) gitStream(ctx context.Context, o gitOpts, in io.Reader, out io.Writer, args ...string) error {
	if refs := r.moves(o, args); len(refs) > 0 {
		done, err := r.noteLocks(refs)
		if err != nil {
			return err
		}
		defer done("")
	}
	c, err := r.command(ctx, o, args)
	if err != nil {
		return err
	}
	c.Stdin = in
	said := o.stderr
	if said == nil {
		said = io.Discard
	}
	exit, err := proc.Stream(ctx, c, out, said)
	if err == nil && exit != 0 {
		err = &GitError{Args: args, Exit: exit}
	}
	return err
}

// gitBoth is git with what the process said on standard error. One that moves refs waits for locks of somebody else.
func (r *Repo) gitBoth(ctx context.Context, o gitOpts, args ...string) (stdout, stderr []byte, err error) {
	refs := r.moves(o, args)
	if len(refs) == 0 {
		return r.gitOnce(ctx, o, args)
	}
	once := func() error {
		done, err := r.noteLocks(refs)
		if err != nil {
			return err
		}
		stdout, stderr, err = r.gitOnce(ctx, o, args)
		done(lockIn(err))
		return err
	}
	if o.user { // the user's hooks would run again
		err = once()
	} else {
		err = r.patiently(ctx, once)
	}
	return stdout, stderr, err
}

func (r *Repo) gitOnce(ctx context.Context, o gitOpts, args []string) (stdout, stderr []byte, err error) {
	c, err := r.command(ctx, o, args)
	if err != nil {
		return nil, nil, err
	}
	stdout, stderr, err = run(ctx, c, o.stdin, o.okExit, args)
	for _, v := range o.env { // git makes files as the umask says
		if index, ok := strings.CutPrefix(v, withIndex("")[0]); ok && o.write && index != r.indexPath() {
			_ = os.Chmod(index, 0o600)
		}
	}
	return stdout, stderr, r.gone(err)
}

// ErrGone says that the git directory that a command was at work in is not there any more.
var ErrGone = errors.New("the git directory is gone, and all commits with it; your files are untouched")

// gone says so when that is the reason of an error.
func (r *Repo) gone(err error) error {
	var failed *GitError
	if r.gitDir == "" || !errors.As(err, &failed) || failed.Exit != gitDied {
		return err
	}
	if _, e := os.Lstat(filepath.Join(r.gitDir, "HEAD")); absent(e) {
		return fmt.Errorf("%s: %w", r.gitDir, ErrGone)
	}
	return err
}

func (r *Repo) command(ctx context.Context, o gitOpts, args []string) (proc.Cmd, error) {
	argv := []string{"git", "-C", r.root}
	switch {
	case o.gitDir != "":
		argv = append(argv, "--git-dir="+o.gitDir, "--work-tree="+r.root)
	case r.commonDir != "" && !o.user && r.led():
		argv = append(argv, "--work-tree="+r.root)
	}
	if o.write && !o.user {
		v, err := r.Version(ctx)
		if err != nil {
			return proc.Cmd{}, err
		}
		argv = append(append(argv, v.fsyncArgs()...), impatient...)
	}
	env := r.env
	if o.user {
		env = r.userEnv
	} else {
		argv = append(argv, quiet...)
		if !o.write {
			env = append(env[:len(env):len(env)], "GIT_OPTIONAL_LOCKS=0")
		}
	}
	env = append(env[:len(env):len(env)], o.env...)
	return proc.Cmd{Argv: append(argv, args...), Env: env, Idle: r.idle}, nil
}

func run(ctx context.Context, c proc.Cmd, stdin []byte, okExit []int, args []string) (stdout, stderr []byte,
	err error) {
	if stdin != nil {
		c.Stdin = bytes.NewReader(stdin)
	}
	stdout, stderr, exit, err := proc.Output(ctx, c)
	if err != nil {
		return stdout, stderr, notStarted(err)
	}
	if exit == 0 {
		return stdout, stderr, nil
	}
	for _, ok := range okExit {
		if exit == ok {
			return stdout, stderr, nil
		}
	}
	if ctx.Err() != nil {
		return stdout, stderr, ctx.Err()
	}
	return stdout, stderr, &GitError{Args: args, Exit: exit, Stderr: string(stderr)}
}

// Variables that set configuration or identity, and so belong to the user; those that end in "*" are prefixes. Every
// other GIT_… variable points at a repository, an index or a terminal, and may come from a hook or an agent.
var keptVars = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*", "GIT_ATTR_NOSYSTEM",
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_SSH*", "GIT_ASKPASS", "GIT_EXEC_PATH",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}

// cleanEnv returns env without the GIT_… variables that could lead git elsewhere.
func cleanEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "GIT_") || kept(name) {
			out = append(out, kv)
		}
	}
	return out
}

func kept(name string) bool {
	for _, k := range keptVars {
		if k == name || strings.HasSuffix(k, "*") && strings.HasPrefix(name, k[:len(k)-1]) {
			return true
		}
	}
	return false
}

// quietEnv is the environment of every call that is not the user's own.
func quietEnv(env []string) []string {
	return append(cleanEnv(env), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ADVICE=0")
}
