package settings

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session/codec"
)

// IgnoredBefore lists untracked paths that an exclude file names one by one, because they were ignored once, and that
// the repository's own rules do not ignore by now. What its guard holds out is none of them.
func (r *Settings) IgnoredBefore(ctx context.Context, exclude string) ([]string, error) {
	text, err := durable.ReadFile(exclude, MaxRules)
	if err != nil {
		return nil, err
	}
	rules, g := codec.SplitGuard(text)
	var there []string
	for line := range strings.Lines(string(rules)) {
		p := codec.ExcludedPath(strings.TrimSuffix(line, "\n"))
		if p == "" || g.Allows(p) {
			continue
		}
		if _, err := r.Git.Lstat(strings.TrimSuffix(p, "/")); err == nil {
			there = append(there, p)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}
	ignored, err := r.Ignores(ctx, there)
	if err != nil {
		return nil, err
	}
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	return slices.DeleteFunc(there, func(p string) bool {
		return ignored[p] || err == nil && x.Tracks(strings.TrimSuffix(p, "/"))
	}), err
}

// Treats reports what git does with a path of the work tree, given with slashes.
func (r *Settings) Treats(ctx context.Context, path string) (tracked, ignored bool, err error) {
	said, err := r.Ignores(ctx, []string{path})
	if err != nil {
		return false, false, err
	}
	out, err := r.Git.Ask(ctx, "ls-files", "-z", "--", ":(top,literal)"+path)
	return len(out) > 0, said[path], err
}

// maxInfoExclude bounds the clone's own exclude file, in bytes.
const maxInfoExclude = 1 << 20

// ExcludeLocally adds a line to the clone's own exclude file (info/exclude), or with remove takes it out. It
// returns the file's path. One that is so already is left alone.
func (r *Settings) ExcludeLocally(line string, remove bool) (file string, changed bool, err error) {
	file = filepath.Join(r.Git.CommonDir, "info", "exclude")
	old, err := durable.ReadFile(file, maxInfoExclude)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file, false, err
	}
	var text []byte
	found := false
	for l := range bytes.Lines(old) {
		if string(bytes.TrimRight(l, "\r\n")) == line {
			found = true
			if remove {
				continue
			}
		}
		text = append(text, l...)
	}
	if found != remove {
		return file, false, nil
	}
	if !remove {
		text = append(endLine(text), line+"\n"...)
	}
	if err := durable.MkdirAll(filepath.Dir(file)); err != nil {
		return file, false, err
	}
	return file, true, durable.WriteFile(file, text, 0o644)
}

// ExcludedLocally reports whether the clone's own exclude file has a line.
func (r *Settings) ExcludedLocally(line string) (file string, there bool, err error) {
	file = filepath.Join(r.Git.CommonDir, "info", "exclude")
	text, err := durable.ReadFile(file, maxInfoExclude)
	if errors.Is(err, fs.ErrNotExist) {
		return file, false, nil
	}
	for l := range bytes.Lines(text) {
		there = there || string(bytes.TrimRight(l, "\r\n")) == line
	}
	return file, there, err
}

// MaxRules bounds a session's exclude file, in bytes.
const MaxRules = 16 << 20

// Ignores returns those of some untracked paths that the repository's and the user's rules ignore.
func (r *Settings) Ignores(ctx context.Context, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: in.Bytes(), OkExit: []int{1}}, "check-ignore", "--no-index", "-z",
		"--stdin")
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, p := range gitcmd.SplitZ(out) {
		said[p], said[p+"/"] = true, true
	}
	return said, nil
}

// Ignored lists what the work tree ignores now. A directory that a rule matches stands for all that is in it,
// and ends in a slash. One whose files are ignored, and it is not, is no such directory, though `ls-files
// --directory` names it: the next file in it may be none of them.
func (r *Settings) Ignored(ctx context.Context) ([]string, error) {
	out, err := r.Git.Ask(ctx, "status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all",
		"--no-renames", "--ignore-submodules=all")
	var ignored []string
	for _, line := range gitcmd.SplitZ(out) {
		if p, ok := strings.CutPrefix(line, "!! "); ok {
			ignored = append(ignored, p)
		}
	}
	return ignored, err
}

// ExcludesPath is a file with the user's own global excludes followed by a session's. Git reads only one
// core.excludesFile.
func (r *Settings) ExcludesPath() string { return filepath.Join(r.Git.PrivateDir(), "excludes") }

// CombineExcludes writes that file.
func (r *Settings) CombineExcludes(ctx context.Context, rules []byte) error {
	all, err := r.UserExcludes(ctx)
	if err != nil {
		return err
	}
	all = append(endLine(all), rules...)
	if old, err := durable.ReadFile(r.ExcludesPath(), int64(len(all))); err == nil && bytes.Equal(old, all) {
		return nil
	}
	if err := durable.MkdirAll(r.Git.PrivateDir()); err != nil {
		return err
	}
	return durable.WriteCache(r.ExcludesPath(), all, 0o600)
}

// UserExcludes is the content of the user's own exclude file. One that cannot be read is a *ReadyError: git
// gives up then.
func (r *Settings) UserExcludes(ctx context.Context) ([]byte, error) {
	path, err := r.GlobalExcludes(ctx)
	if err != nil || path == "" {
		return nil, err
	}
	if path == noExcludes {
		return nil, nil
	}
	text, err := gitcmd.ReadFile(path)
	if err != nil && !gitcmd.Absent(err) {
		return nil, &gitcmd.ReadyError{Code: gitcmd.NotExcludes, Detail: err.Error()}
	}
	return text, nil
}

// GlobalExcludes is the path of the user's own exclude file, "" for none. While agents work, settings may change.
func (r *Settings) GlobalExcludes(ctx context.Context) (string, error) {
	s, err := r.Git.Answers.FreshSettings(ctx)
	path, set := s["core.excludesfile"]
	switch {
	case err != nil:
		return "", err
	case set && path == "":
		return noExcludes, nil
	case path != "" && strings.Contains("~%:", path[:1]) && !strings.HasPrefix(path, "~/"): // only git can expand it
		out, err := r.Git.Ask(ctx, "config", "--type=path", "--get", "core.excludesFile")
		return strings.TrimSuffix(string(out), "\n"), err
	}
	return r.ExcludeFile(path), nil
}

// noExcludes is an exclude file for those who have switched theirs off: core.excludesFile is set, to nothing.
const noExcludes = os.DevNull

// ExcludeFile is the file that a value of core.excludesFile names, from the top of the work tree; where git
// looks without one, for "".
func (r *Settings) ExcludeFile(path string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(r.Git.Getenv("HOME"), below)
	}
	if path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.Git.Root, path)
		}
		return path
	}
	if dir := r.Git.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", "ignore")
	}
	if home := r.Git.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}

// endLine ends the last line of a text.
func endLine(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}
