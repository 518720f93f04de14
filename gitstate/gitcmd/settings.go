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
)

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
			v, _ = ParseVersion("git version " + rest)
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
func (r *Git) believe(trace string) {
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
	r.Config.know(settings)
}

// Asked is an answer of git's that hardly changes while a command runs. A failure is not kept.
type Asked[T any] struct {
	mu    sync.Mutex
	known bool
	value T
}

func (a *Asked[T]) know(v T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.value, a.known = v, true
}

func (a *Asked[T]) get(ask func() (T, error)) (T, error) {
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

// Forget has it asked again.
func (a *Asked[T]) Forget() {
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

// Settings are the settings of git's that count here, by their names in small letters, as far as wfs wants
// to know them.
func (r *Git) Settings(ctx context.Context) (map[string]string, error) {
	return r.Config.get(func() (map[string]string, error) {
		out, err := r.Run(ctx, Opts{}, "config", "--list", "-z")
		all := map[string]string{}
		for _, entry := range SplitZ(out) {
			key, value, _ := strings.Cut(entry, "\n")
			all[key] = value
		}
		return all, err
	})
}

// SettingsStamp tells whether files of git's settings were written to. What they include is not looked at.
func (r *Git) SettingsStamp() string {
	home := r.Getenv("HOME")
	var b strings.Builder
	for _, file := range []string{filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, "config.worktree"),
		r.Getenv("GIT_CONFIG_GLOBAL"),
		filepath.Join(home, ".gitconfig"),
		filepath.Join(cmp.Or(r.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "config")} {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintln(&b, file, info.Size(), info.ModTime().UnixNano(), InodeOf(info))
		}
	}
	return b.String()
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
