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

// Answers caches git's answers to some questions. Each has its own lock, so that they can be requested concurrently.
type Answers struct {
	git     *Git
	version asked[Version]
	ident   asked[string] // "Name <mail>"
	config  asked[map[string]string]
	stamp   atomic.Pointer[string] // of the settings files at the last request
}

// Traced makes git write its version, and the settings that writing commands need, to standard error.
var Traced = []string{"GIT_TRACE2=2", "GIT_TRACE2_BRIEF=1",
	"GIT_TRACE2_CONFIG_PARAMS=user.*,committer.*,core.*,attr.*"}

// traceEvents are the first words of the trace lines of the git process in Open.
var traceEvents = []string{"version", "def_param", "start", "cmd_ancestry", "cmd_name", "cmd_mode", "worktree",
	"def_repo", "exit", "atexit"}

// ReadTrace parses the trace of a git process (api-trace2). It returns false if there are other lines too.
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

// withoutTrace returns git's error message without the trace, for users.
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

// asked is a cached answer of git that hardly changes while a command runs. Errors are not cached.
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

// forget clears the cache.
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

// Truth parses a boolean value as git does.
func Truth(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// Pager returns the user's pager, a shell command line, as git finds it: core.pager, $PAGER, or the system's. "cat"
// stands for no pager.
func (r *Answers) Pager(ctx context.Context) (string, error) {
	out, err := r.git.Run(ctx, Opts{User: true}, "var", "GIT_PAGER")
	return strings.TrimSpace(string(out)), err
}

// believe caches the answers that a trace has. Git is asked later for uncertain ones.
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

// Settings returns git's effective settings that wfs needs, by their names in lower case.
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

// settingsStamp returns a text that changes if git's settings files change. It does not cover included files.
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

// FreshSettings returns Settings, and reads them again if their files changed: an agent may be running.
func (r *Answers) FreshSettings(ctx context.Context) (map[string]string, error) {
	now := r.settingsStamp()
	if was := r.stamp.Swap(&now); was != nil && *was != now {
		r.config.forget()
	}
	return r.Settings(ctx)
}
