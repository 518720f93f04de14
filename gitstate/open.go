// Package gitstate is a session's life in Git: snapshots, checkpoints, the ledger, restores, rescues, history
// and the handover. Git moves the work tree and adds files that it converts; plain files, packs and moves of
// refs are made here; go-git only ever reads.
package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// The names that wfs uses in a repository.
const (
	branchPrefix = "refs/heads/wfs/" // <slug>: the session's branch
	refsPrefix   = "refs/wfs/"       // <slug>/ledger, <slug>/auto, <slug>/rescue/<n>
	opsPrefix    = "refs/wfs-ops/"   // <work tree>: its operation log

	deletedPrefix = "refs/wfs-deleted/" // <slug>/<when>/…: what was deleted, until gc
)

// BranchRef is the full name of a session's branch.
func BranchRef(id session.ID) string { return branchPrefix + string(id) }

// AutoRef is the full name of the ref of a session's newest auto-save.
func AutoRef(id session.ID) string { return refsPrefix + string(id) + "/auto" }

// LedgerRef is the full name of a session's ledger.
func LedgerRef(id session.ID) string { return refsPrefix + string(id) + "/ledger" }

// What Open returns when there is nothing to work in. Each is wrapped with the directory that was asked for.
var (
	ErrNoGit         = errors.New("git is not installed, or not in PATH")
	ErrGitTooOld     = errors.New("git is too old")
	ErrNotRepository = errors.New("not a git repository")
	ErrBare          = errors.New("a bare repository has no work tree")
	ErrNoWorkTree    = errors.New("inside a git directory, not in a work tree")
)

// UnusableError is a repository that git itself does not work in: of a later format, of another user, with a
// configuration that cannot be read.
type UnusableError struct {
	Dir  string // where was asked
	Said string // git's own words, in one line
	Hint string // the command that git recommends, "" for none
}

func (e *UnusableError) Error() string { return e.Dir + ": git does not work here: " + e.Said }

// unusable reads what git said when it was asked where the repository is.
func unusable(dir, stderr string) *UnusableError {
	e := &UnusableError{Dir: dir}
	if _, hint, ok := strings.Cut(stderr, "To add an exception for this directory, call:"); ok {
		e.Hint = strings.TrimSpace(hint)
		stderr, _, _ = strings.Cut(stderr, "To add an exception for this directory, call:")
	}
	e.Said = oneLine(stderr)
	return e
}

// Options say where the repository is and what git processes may see.
type Options struct {
	Dir string   // any directory in the work tree
	Env []string // the environment, as of os.Environ
	// Write says that the command is going to write: what git must be asked then is asked at once with the first question.
	Write bool
	// Waits, which may be nil, is told when the command waits for another wfs.
	Waits func(why string)
}

// Repo is one work tree and the repository that it belongs to. Its methods may be called from several goroutines.
type Repo struct {
	root      string
	gitDir    string
	commonDir string
	worktree  string
	scratch   string // where private files of this work tree are, "" for worktreeDir's own choice
	idle      bool   // git processes give way to all others
	format    string // "sha1" or "sha256"
	env       []string
	userEnv   []string
	reader    reader // what is read without git

	Rooms *room.Set

	notedAside atomic.Pointer[string] // see SetAside

	noting  sync.Mutex
	noted   int           // git processes that move refs now
	moving  *durable.Lock // while there are some, see movingRefs
	waited  atomic.Int64  // nanoseconds, for locks of somebody else
	longer  func(waited time.Duration, e *LockedError) bool
	waits   func(why string)
	auto    autoSaves
	keeping keeping

	// What git is asked only once. Each has a lock of its own, so that they can be asked for at the same time.
	version asked[Version]
	ident   asked[string] // "Name <mail>"
	config  asked[map[string]string]

	configured atomic.Pointer[string] // what files of settings were like when that was asked last
}

// gitDied is git's exit code when it gives up: "fatal: …".
const gitDied = 128

// Open finds the work tree that contains a directory, in one git process.
func Open(ctx context.Context, o Options) (*Repo, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{root: dir, env: quietEnv(o.Env), userEnv: cleanEnv(o.Env), waits: o.Waits}
	var also gitOpts
	if o.Write {
		also.env = traced
	}
	// The work tree comes last: in a bare repository git prints what stands before it and then fails.
	out, said, err := r.gitBoth(ctx, also, "rev-parse", "--path-format=absolute", "--is-bare-repository",
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
		if failed != nil && failed.Exit == gitDied {
			return nil, unusable(dir, withoutTrace(failed.Stderr))
		}
		return nil, err
	case len(lines) != 5:
		if _, tooOld := r.Version(ctx); tooOld != nil {
			return nil, tooOld
		}
		return nil, fmt.Errorf("%s: git gave an unexpected answer about the repository: %q", dir, out)
	}
	r.format = lines[1]
	r.gitDir, r.commonDir, r.root = filepath.FromSlash(lines[2]), filepath.FromSlash(lines[3]), filepath.FromSlash(
		lines[4])
	r.worktree = worktreeID(r.gitDir, r.commonDir)
	if err := r.notLed(dir); err != nil {
		return nil, err
	}
	if o.Write {
		r.believe(string(said))
	}
	r.Rooms = r.rooms()
	return r, nil
}

// worktreeID is "main", or the name under which git keeps a linked work tree. Git makes those unique and fit for ref
// names, but one may be called main as well.
func worktreeID(gitDir, commonDir string) string {
	if gitDir == commonDir {
		return "main"
	}
	name := filepath.Base(gitDir)
	if strings.EqualFold(name, "main") {
		return name + "@linked"
	}
	return name
}

// Root is the top of the work tree.
func (r *Repo) Root() string { return r.root }

// GitDir is the work tree's own git directory: HEAD and the index are there.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir is the git directory that all work trees of the repository share.
func (r *Repo) CommonDir() string { return r.commonDir }

// Worktree is the id of the work tree: "main", or a linked work tree's name.
func (r *Repo) Worktree() string { return r.worktree }

// StateDir is where wfs keeps what is not in refs and objects. It need not exist.
func (r *Repo) StateDir() string { return filepath.Join(r.commonDir, "wfs") }

// worktreeDir is the part of StateDir that belongs to this work tree.
func (r *Repo) worktreeDir() string {
	if r.scratch != "" {
		return r.scratch
	}
	return filepath.Join(r.StateDir(), "worktrees", r.worktree)
}

// Version is a version of git. The patch level never matters here.
type Version struct{ Major, Minor int }

// MinVersion is the oldest git that wfs is written for: Ubuntu 22.04 has it.
var MinVersion = Version{2, 34}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

func (v Version) before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

func (v Version) fsyncArgs() []string {
	if v.before(Version{2, 36}) {
		return []string{"-c", fsyncBefore}
	}
	return []string{"-c", fsyncWhat, "-c", fsyncBatch}
}

// parseVersion reads "git version 2.39.5 (Apple Git-154)".
func parseVersion(s string) (Version, error) {
	rest, ok := strings.CutPrefix(s, "git version ")
	major, rest, ok2 := strings.Cut(rest, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	ma, err := strconv.Atoi(major)
	mi, err2 := strconv.Atoi(minor)
	if !ok || !ok2 || err != nil || err2 != nil {
		return Version{}, fmt.Errorf("git did not print its version: %q", strings.TrimSpace(s))
	}
	return Version{ma, mi}, nil
}

// Version asks git for its version, once, and fails with ErrGitTooOld below MinVersion. Reading commands do without
// it, writing ones ask.
func (r *Repo) Version(ctx context.Context) (Version, error) {
	return r.version.get(func() (Version, error) { return r.askVersion(ctx) })
}

// Pager returns the user's pager as git finds it, a line of shell: core.pager, $PAGER, or the system's. "cat" is none.
func (r *Repo) Pager(ctx context.Context) (string, error) {
	out, err := r.git(ctx, gitOpts{user: true}, "var", "GIT_PAGER")
	return strings.TrimSpace(string(out)), err
}

func (r *Repo) askVersion(ctx context.Context) (Version, error) {
	out, _, err := run(ctx, proc.Cmd{Argv: []string{"git", "version"}, Env: r.env}, nil, nil, []string{"version"})
	if err != nil {
		return Version{}, err
	}
	v, err := parseVersion(string(out))
	if err != nil {
		return Version{}, err
	}
	return v, v.check()
}

// traced lets git write to standard error what it is, and the settings that every writing command wants to know.
var traced = []string{"GIT_TRACE2=2", "GIT_TRACE2_BRIEF=1",
	"GIT_TRACE2_CONFIG_PARAMS=user.*,committer.*,core.*,attr.*"}

// traceEvents begin the lines of a git process that was asked where it is.
var traceEvents = []string{"version", "def_param", "start", "cmd_ancestry", "cmd_name", "cmd_mode", "worktree",
	"def_repo", "exit", "atexit"}

// readTrace reads what git has traced, as api-trace2 has it. It answers false when something else is there as well.
func readTrace(trace string) (v Version, settings map[string]string, ok bool) {
	settings = map[string]string{}
	for line := range strings.Lines(trace) {
		event, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !slices.Contains(traceEvents, event):
			return v, nil, false
		case event == "version":
			v, _ = parseVersion("git version " + rest)
		case event == "def_param":
			if strings.HasPrefix(rest, "scope:") {
				_, rest, _ = strings.Cut(rest, " ")
			}
			key, value, _ := strings.Cut(rest, "=")
			settings[key] = value
		}
	}
	return v, settings, v != Version{}
}

// withoutTrace is what git said of why it gave up, for people.
func withoutTrace(stderr string) string {
	_, said, _ := strings.Cut(stderr, "fatal: ")
	var b strings.Builder
	for line := range strings.Lines("fatal: " + said) {
		if event, _, _ := strings.Cut(strings.TrimSpace(line), " "); !slices.Contains(traceEvents, event) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// believe takes from a trace what git need not be asked then. What is not certain it is asked by name.
func (r *Repo) believe(trace string) {
	v, settings, ok := readTrace(trace)
	if !ok {
		return
	}
	if v.check() == nil {
		r.version.know(v)
	}
	if ident := r.identityIn(settings); ident != "" {
		r.ident.know(ident)
	}
	r.config.know(settings)
}

func (v Version) check() error {
	if v.before(MinVersion) {
		return fmt.Errorf("%w: this is %s, wfs needs %s or newer", ErrGitTooOld, v, MinVersion)
	}
	return nil
}

// asked is an answer of git's that hardly changes while a command runs. A failure is not kept.
type asked[T any] struct {
	mu    sync.Mutex
	known bool
	value T
}

func (a *asked[T]) know(v T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.value, a.known = v, true
}

func (a *asked[T]) get(ask func() (T, error)) (T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known {
		return a.value, nil
	}
	v, err := ask()
	if err == nil {
		a.value, a.known = v, true
	}
	return v, err
}

// forget has it asked again.
func (a *asked[T]) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = false
}

// notStarted turns the failure to start git into ErrNoGit where that is the reason.
func notStarted(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%w: %v", ErrNoGit, err)
	}
	return err
}
