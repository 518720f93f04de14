package gitstate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Treats reports what git does with a path of the work tree, given with slashes.
func (r *Repo) Treats(ctx context.Context, path string) (tracked, ignored bool, err error) {
	said, err := r.ignoredNow(ctx, []string{path})
	if err != nil {
		return false, false, err
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "ls-files", "-z", "--", ":(top,literal)"+path)
	return len(out) > 0, said[path], err
}

// maxInfoExclude bounds the clone's own exclude file, in bytes.
const maxInfoExclude = 1 << 20

// ExcludeLocally adds a line to the clone's own exclude file (info/exclude), or with remove takes it out. It
// returns the file's path. One that is so already is left alone.
func (r *Repo) ExcludeLocally(line string, remove bool) (file string, changed bool, err error) {
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
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = append(text, line...)
		text = append(text, '\n')
	}
	if err := durable.MkdirAll(filepath.Dir(file)); err != nil {
		return file, false, err
	}
	return file, true, durable.WriteFile(file, text, 0o644)
}

// ExcludedLocally reports whether the clone's own exclude file has a line.
func (r *Repo) ExcludedLocally(line string) (file string, there bool, err error) {
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
