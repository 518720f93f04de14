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

// Answers caches answers of git. Each answer has its own lock, so that several can be requested at the same time.
type Answers struct {
	git     *Git
	version asked[Version]
	ident   asked[string] // "Name <mail>"
	config  asked[map[string]string]
	stamp   atomic.Pointer[string] // fingerprint of the settings files at the last request
}

// Traced makes git print its version, and the settings that writing commands need, to standard error as a trace.
var Traced = []string{"GIT_TRACE2=2", "GIT_TRACE2_BRIEF=1",
	"GIT_TRACE2_CONFIG_PARAMS=user.*,committer.*,core.*,attr.*"}

// traceEvents are the first words of the trace lines of the git process in Open.
var traceEvents = []string{"version", "def_param", "start", "cmd_ancestry", "cmd_name", "cmd_mode", "worktree",
	"def_repo", "exit", "atexit"}

// ReadTrace parses the trace of a git process (git's api-trace2), which has its version and settings. It returns false
// if there are other lines, too.
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

// withoutTrace removes the trace from git's error message, which users will see.
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

// asked is a cached answer of git, which hardly ever changes while a command runs. It does not cache errors.
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

// forget clears the cache, so that git is asked again.
func (a *asked[T]) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = false
}

// SplitZ splits a list of git's whose elements end in NUL bytes.
func SplitZ(out []byte) []string {
	out = bytes.TrimSuffix(out, []byte{0})
	if len(out) == 0 {
		return nil
	}
	return strings.Split(string(out), "\x00")
}

// Getenv returns the value of a variable in the environment of git, "" if it is not set.
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

// Pager returns the user's pager as a shell command line, as git finds it: from core.pager, $PAGER, or the system. The
// result "cat" stands for no pager.
func (r *Answers) Pager(ctx context.Context) (string, error) {
	out, err := r.git.Run(ctx, Opts{User: true}, "var", "GIT_PAGER")
	return strings.TrimSpace(string(out)), err
}

// believe caches the answers that the trace of a git process contains. If one of them is uncertain, git is asked later.
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

// Settings returns git's effective settings by their names, in lower case. It may only have those that wfs needs.
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

// settingsStamp returns a fingerprint of git's settings files, which changes if one of them does. It does not cover
// files that these include.
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

// FreshSettings returns the same as Settings, but reads the settings again if their files have changed: an agent that
// is running may change them.
func (r *Answers) FreshSettings(ctx context.Context) (map[string]string, error) {
	now := r.settingsStamp()
	if was := r.stamp.Swap(&now); was != nil && *was != now {
		r.config.forget()
	}
	return r.Settings(ctx)
}
