package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Answers are what git is asked only once. Each has a lock of its own, so that they can be asked for at the same time.
type Answers struct {
	git     *Git
	version asked[Version]
	ident   asked[string] // "Name <mail>"
	config  asked[map[string]string]
	stamp   atomic.Pointer[string] // of the files of settings, when they were asked for last
}

// Traced lets git write to standard error what it is, and the settings that every writing command wants to know.
var Traced = []string{"GIT_TRACE2=2", "GIT_TRACE2_BRIEF=1",
	"GIT_TRACE2_CONFIG_PARAMS=user.*,committer.*,core.*,attr.*"}

// traceEvents begin the lines of a git process that was asked where it is.
var traceEvents = []string{"version", "def_param", "start", "cmd_ancestry", "cmd_name", "cmd_mode", "worktree",
	"def_repo", "exit", "atexit"}

// ReadTrace reads what git has traced, as api-trace2 has it. It answers false when something else is there as well.
func ReadTrace(trace string) (v Version, settings map[string]string, ok bool) {
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

// SplitZ splits git's NUL-terminated lists.
func SplitZ(out []byte) []string {
	out = bytes.TrimSuffix(out, []byte{0})
	if len(out) == 0 {
		return nil
	}
	return strings.Split(string(out), "\x00")
}

func (r *Git) Getenv(name string) string {
	for _, kv := range slices.Backward(r.Env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// Truth reads a truth value as git does.
func Truth(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// Pager returns the user's pager as git finds it, a line of shell: core.pager, $PAGER, or the system's. "cat" is none.
func (r *Answers) Pager(ctx context.Context) (string, error) {
	out, err := r.git.Run(ctx, Opts{User: true}, "var", "GIT_PAGER")
	return strings.TrimSpace(string(out)), err
}

// believe takes from a trace what git need not be asked then. What is not certain it is asked by name.
func (r *Answers) believe(trace string) {
	v, settings, ok := ReadTrace(trace)
	if !ok {
		return
	}
	if v.check() == nil {
		r.version.know(v)
	}
	if ident := r.IdentityIn(settings); ident != "" {
		r.ident.know(ident)
	}
	r.config.know(settings)
}

// Settings are the settings of git's that count here, by their names in small letters, as far as wfs wants
// to know them.
func (r *Answers) Settings(ctx context.Context) (map[string]string, error) {
	return r.config.get(func() (map[string]string, error) {
		out, err := r.git.Run(ctx, Opts{}, "config", "--list", "-z")
		all := map[string]string{}
		for _, entry := range SplitZ(out) {
			key, value, _ := strings.Cut(entry, "\n")
			all[key] = value
		}
		return all, err
	})
}

// settingsStamp tells whether files of git's settings were written to. What they include is not looked at.
func (r *Answers) settingsStamp() string {
	home := r.git.Getenv("HOME")
	var b strings.Builder
	for _, file := range []string{filepath.Join(r.git.CommonDir, "config"), filepath.Join(r.git.GitDir, "config.worktree"),
		r.git.Getenv("GIT_CONFIG_GLOBAL"),
		filepath.Join(home, ".gitconfig"),
		filepath.Join(cmp.Or(r.git.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "config")} {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintln(&b, file, info.Size(), info.ModTime().UnixNano(), inodeOf(info))
		}
	}
	return b.String()
}

// FreshSettings are Settings, asked for again when their files changed: an agent may be at work.
func (r *Answers) FreshSettings(ctx context.Context) (map[string]string, error) {
	now := r.settingsStamp()
	if was := r.stamp.Swap(&now); was != nil && *was != now {
		r.config.forget()
	}
	return r.Settings(ctx)
}
