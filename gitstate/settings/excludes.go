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

// IgnoredBefore lists existing untracked paths that were ignored at an earlier time, and so are in the session's
// exclude file (its list of paths that checkpoints leave out), but that the repository's own rules do not ignore now.
// It omits the paths that the file lists as held out.
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

// Treats reports whether git tracks and whether it ignores a path of the work tree, given with slashes.
func (r *Settings) Treats(ctx context.Context, path string) (tracked, ignored bool, err error) {
	said, err := r.Ignores(ctx, []string{path})
	if err != nil {
		return false, false, err
	}
	out, err := r.Git.Ask(ctx, "ls-files", "-z", "--", ":(top,literal)"+path)
	return len(out) > 0, said[path], err
}

// maxInfoExclude limits the size of the file info/exclude, in bytes.
const maxInfoExclude = 1 << 20

// ExcludeLocally adds a line to the exclude file of this clone (info/exclude), or removes it if `remove` is true. It
// returns the path of the file. changed is false if there was nothing to do.
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

// ExcludedLocally reports whether the exclude file of this clone (info/exclude) has a line, and returns the file's
// path.
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

// MaxRules limits the size of a session's exclude file, in bytes.
const MaxRules = 16 << 20

// Ignores returns which of the untracked paths are ignored by the rules of the repository and of the user.
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

// Ignored lists the paths that git ignores in the work tree now. A directory that a rule matches is listed, with a
// slash at its end, instead of everything in it. A directory whose files are merely all ignored is not listed (as
// `ls-files --directory` would), because the next file in it may not be ignored.
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

// ExcludesPath returns the path of a file that combines the user's global exclude rules with those of a session, in
// this order. It is needed because git reads only one core.excludesFile.
func (r *Settings) ExcludesPath() string { return filepath.Join(r.Git.PrivateDir(), "excludes") }

// CombineExcludes writes the file at ExcludesPath. rules are those of the session.
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

// UserExcludes returns the content of the user's own exclude file. If the file cannot be read, the error is a
// *ReadyError, because git fails then, too.
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

// GlobalExcludes returns the path of the user's own exclude file, "" if there is none. It reads the settings again if
// they have changed, because an agent may change them.
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

// noExcludes is the path that GlobalExcludes returns if core.excludesFile is empty, which disables the file.
const noExcludes = os.DevNull

// ExcludeFile returns the path of the file for a value of core.excludesFile. A relative value begins at the top of the
// work tree. For "" it returns the file that git reads by default.
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

// endLine adds a missing line feed at the end of a text.
func endLine(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}
