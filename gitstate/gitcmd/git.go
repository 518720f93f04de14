package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
)

// Place says in which repository git runs, and how.
type Place struct {
	Root      string // top of the work tree
	GitDir    string // git directory of this work tree, with HEAD and the index
	CommonDir string // git directory that all work trees of the repository share
	Worktree  string // id of the work tree: "main", or a linked work tree's name
	Scratch   string // directory for private files of this work tree; if "", PrivateDir has a default
	Idle      bool   // git processes run with low priority
	Format    string // "sha1" or "sha256"
	Env       []string
	UserEnv   []string // environment of calls with the user's hooks and configuration
	Waits     func(why string)
}

// Git runs git in one work tree. It is safe for concurrent use.
type Git struct {
	Place
	Locks   *Locks
	Answers *Answers

	known  known
	once   sync.Once
	direct bool // see ReadsDirectly
}

// New returns a Git for a place.
func New(p Place) *Git {
	g := &Git{Place: p}
	g.Locks, g.Answers = &Locks{git: g}, &Answers{git: g}
	return g
}

// Opts are the options of one git process.
type Opts struct {
	Stderr io.Writer // where Stream writes standard error; nil discards it
	Stdin  []byte
	Env    []string // additional variables, such as GIT_INDEX_FILE=…
	Write  bool     // git changes the repository; it syncs objects and refs to disk before it returns
	User   bool     // run with the user's hooks, signing and configuration, and without the options Quiet
	GitDir string   // a private git directory instead of the repository's own; the work tree stays Root
	Refs   []string // refs that git will move, in addition to those in Stdin and in the arguments
	OkExit []int    // exit codes other than 0 that are answers and not failures
}

// moves returns the refs that a git process is going to lock, nil if it locks none. If it locks HEAD, that is the HEAD
// of the git directory in which the process runs.
func (r *Git) moves(o Opts, args []string) []string {
	if !o.Write && o.Refs == nil {
		return nil
	}
	refs := append(refsIn(args, o.Stdin), o.Refs...)
	if o.GitDir == "" {
		return refs
	}
	for i, ref := range refs {
		if ref == "HEAD" {
			refs[i] = headOfDir(r.Place, o.GitDir)
		}
	}
	return slices.DeleteFunc(refs, func(ref string) bool { return ref == "" })
}

// GitError is the error of a git process that exited with an unexpected code.
type GitError struct {
	Args   []string // without the options that wfs adds to every call
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
		if len(e.Args) > 0 && e.Args[0] != "commit" { // hooks may have printed messages
			msg = oneLine(msg)
		}
		return name + ": " + msg
	}
	return fmt.Sprintf("%s: exit code %d", name, e.Exit)
}

// Failed returns the GitError that an error wraps, or nil if it wraps none.
func Failed(err error) *GitError {
	var failed *GitError
	_ = errors.As(err, &failed)
	return failed
}

// oneLine joins the lines of git's messages to one line.
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

// Quiet are the options of every call without Opts.User. They disable settings that run other programs (hooks,
// fsmonitor), start background work (gc, maintenance), or change what a command does: submodules, files whose changes
// git ignores, a HEAD that is a symbolic link, an index in two files.
var Quiet = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "core.splitIndex=false", "-c", "core.ignoreStat=false", "-c", "core.preferSymlinkRefs=false", "-c",
	"submodule.recurse=false", "-c",
	"core.protectHFS=true", "-c", "core.protectNTFS=true",
	"-c", "advice.addEmbeddedRepo=false", "-c", "color.ui=false",
}

// impatient makes git fail at once if a ref is locked, because wfs itself waits for locks (see patiently).
var impatient = []string{"-c", "core.filesRefLockTimeout=0", "-c", "core.packedRefsTimeout=0"}

// By default, git does not sync loose objects and refs to disk. The method `batch` (git 2.36) flushes the disk once for
// any number of objects; older versions of git flush once per object.
const (
	fsyncWhat   = "core.fsync=committed,loose-object,reference"
	fsyncBatch  = "core.fsyncMethod=batch"
	fsyncBefore = "core.fsyncObjectFiles=true"
)

// Run runs one git process at the top of the work tree. It returns the standard output even if there is an error.
func (r *Git) Run(ctx context.Context, o Opts, args ...string) ([]byte, error) {
	out, _, err := r.RunBoth(ctx, o, args...)
	return out, err
}

// Ask runs a git command that only reads, without options.
func (r *Git) Ask(ctx context.Context, args ...string) ([]byte, error) {
	return r.Run(ctx, Opts{}, args...)
}

// Stream runs git, and streams its input and output instead of holding them in memory.
func (r *Git) Stream(ctx context.Context, o Opts, in io.Reader, out io.Writer, args ...string) error {
	if refs := r.moves(o, args); len(refs) > 0 {
		done, err := r.Locks.NoteLocks(refs)
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
	said := o.Stderr
	if said == nil {
		said = io.Discard
	}
	exit, err := proc.Stream(ctx, c, out, said)
	if err == nil && exit != 0 {
		err = &GitError{Args: args, Exit: exit}
	}
	return err
}

// RunBoth does the same as Run, and also returns the standard error. If the command moves refs, it waits for the locks
// of other processes.
func (r *Git) RunBoth(ctx context.Context, o Opts, args ...string) (stdout, stderr []byte, err error) {
	refs := r.moves(o, args)
	if len(refs) == 0 {
		return r.gitOnce(ctx, o, args)
	}
	once := func() error {
		done, err := r.Locks.NoteLocks(refs)
		if err != nil {
			return err
		}
		stdout, stderr, err = r.gitOnce(ctx, o, args)
		done(lockIn(err))
		return err
	}
	if o.User { // do not retry: that would run the user's hooks again
		err = once()
	} else {
		err = r.Locks.patiently(ctx, once)
	}
	return stdout, stderr, err
}

func (r *Git) gitOnce(ctx context.Context, o Opts, args []string) (stdout, stderr []byte, err error) {
	c, err := r.command(ctx, o, args)
	if err != nil {
		return nil, nil, err
	}
	stdout, stderr, err = run(ctx, c, o.Stdin, o.OkExit, args)
	for _, v := range o.Env { // git gives new files the mode that the umask allows
		if index, ok := strings.CutPrefix(v, WithIndex("")[0]); ok && o.Write && index != r.IndexPath() {
			_ = os.Chmod(index, 0o600)
		}
	}
	return stdout, stderr, r.gone(err)
}

// ErrGone means that the git directory of the work tree no longer exists.
var ErrGone = errors.New("the git directory is gone, and all commits with it; your files are untouched")

// gone returns ErrGone instead of an error of git if the git directory no longer exists.
func (r *Git) gone(err error) error {
	var failed *GitError
	if r.GitDir == "" || !errors.As(err, &failed) || failed.Exit != GitDied {
		return err
	}
	if _, e := os.Lstat(filepath.Join(r.GitDir, "HEAD")); Absent(e) {
		return fmt.Errorf("%s: %w", r.GitDir, ErrGone)
	}
	return err
}

func (r *Git) command(ctx context.Context, o Opts, args []string) (proc.Cmd, error) {
	argv := []string{"git", "-C", r.Root}
	switch {
	case o.GitDir != "":
		argv = append(argv, "--git-dir="+o.GitDir, "--work-tree="+r.Root)
	case r.CommonDir != "" && !o.User && r.Led():
		argv = append(argv, "--work-tree="+r.Root)
	}
	if o.Write && !o.User {
		v, err := r.Answers.Version(ctx)
		if err != nil {
			return proc.Cmd{}, err
		}
		argv = append(append(argv, v.FsyncArgs()...), impatient...)
	}
	env := r.Env
	if o.User {
		env = r.UserEnv
	} else {
		argv = append(argv, Quiet...)
		if !o.Write {
			env = append(env[:len(env):len(env)], "GIT_OPTIONAL_LOCKS=0")
		}
	}
	env = append(env[:len(env):len(env)], o.Env...)
	return proc.Cmd{Argv: append(argv, args...), Env: env, Idle: r.Idle}, nil
}

func run(ctx context.Context, c proc.Cmd, stdin []byte, okExit []int, args []string) (stdout, stderr []byte,
	err error) {
	if stdin != nil {
		c.Stdin = bytes.NewReader(stdin)
	}
	stdout, stderr, exit, err := proc.Output(ctx, c)
	if err != nil {
		return stdout, stderr, NotStarted(err)
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

// keptVars are the variables that set configuration or identity, and so belong to the user. A name that ends in "*" is
// a prefix. All other GIT_… variables point to a repository, an index or a terminal, and may come from a hook or an
// agent.
var keptVars = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*", "GIT_ATTR_NOSYSTEM",
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_SSH*", "GIT_ASKPASS", "GIT_EXEC_PATH",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}

// CleanEnv returns env without the GIT_… variables that could make git work in another repository.
func CleanEnv(env []string) []string {
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

// QuietEnv returns the environment of all calls without Opts.User: messages are in English, and git asks no questions
// and ignores replaced objects.
func QuietEnv(env []string) []string {
	return append(CleanEnv(env), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ADVICE=0")
}

// LeadsTo returns the path of the git directory that the .git file of a linked work tree names.
func LeadsTo(root string) (string, error) {
	text, err := ReadFile(filepath.Join(root, ".git"))
	if err != nil {
		return "", err
	}
	to, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if to = filepath.FromSlash(strings.TrimSpace(to)); !filepath.IsAbs(to) {
		to = filepath.Join(root, to)
	}
	return filepath.Clean(to), nil
}

// Errors of Open. Open wraps them with the requested directory.
var (
	ErrNoGit         = errors.New("git is not installed, or not in PATH")
	ErrGitTooOld     = errors.New("git is too old")
	ErrNotRepository = errors.New("not a git repository")
	ErrBare          = errors.New("a bare repository has no work tree")
	ErrNoWorkTree    = errors.New("inside a git directory, not in a work tree")
)

// UnusableError means that git refuses to work in a repository, for example because of its format, its owner, or an
// unreadable configuration.
type UnusableError struct {
	Dir  string // the requested directory
	Said string // git's message, in one line
	Hint string // command that fixes it, "" if none is known
}

func (e *UnusableError) Error() string { return e.Dir + ": git does not work here: " + e.Said }

// unusable returns the error for git's message about a repository that it cannot use.
func unusable(dir, stderr string) *UnusableError {
	e := &UnusableError{Dir: dir}
	if _, hint, ok := strings.Cut(stderr, "To add an exception for this directory, call:"); ok {
		e.Hint = strings.TrimSpace(hint)
		stderr, _, _ = strings.Cut(stderr, "To add an exception for this directory, call:")
	}
	e.Said = oneLine(stderr)
	return e
}

// GitDied is git's exit code after "fatal: …".
const GitDied = 128

// NotStarted returns ErrNoGit if an error means that git is not installed, otherwise it returns the error.
func NotStarted(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%w: %v", ErrNoGit, err)
	}
	return err
}

// LastLine returns the last line of an output, without "fatal: ".
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimPrefix(s[strings.LastIndexByte(s, '\n')+1:], "fatal: ")
}

// WithIndex returns the environment variable that makes git use the index at a path.
func WithIndex(path string) []string { return []string{"GIT_INDEX_FILE=" + path} }

var setsWorkTree = lazyregexp.New(`(?im)(^|\])[ \t]*worktree[ \t]*=`)

// Led reports whether the repository's configuration sets the path of the work tree.
func (r *Git) Led() bool {
	files := []string{filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, "config.worktree")}
	for _, file := range files {
		data, err := durable.ReadFile(file, 1<<20)
		if setsWorkTree.Match(data) || err != nil && !Absent(err) { // if it is unreadable, pass --work-tree as well
			return true
		}
	}
	return false
}

// notLed returns an error if the repository's configuration sets a directory as work tree that is not a work tree of
// this repository. The error names dir, the requested directory.
func (r *Git) notLed(dir string) error {
	if !r.Led() {
		return nil
	}
	to, err := LeadsTo(r.Root)
	if err != nil {
		to = filepath.Join(r.Root, ".git")
	}
	there, err := os.Stat(to)
	own, e := os.Stat(r.GitDir)
	if err == nil && e == nil && os.SameFile(there, own) {
		return nil
	}
	return &UnusableError{Dir: dir,
		Said: "core.worktree leads to " + r.Root + ", which is not a work tree of " + r.GitDir,
		Hint: "git config --unset core.worktree"}
}
