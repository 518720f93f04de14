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
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// Settings reads git's settings in one work tree that affect which files git looks at and how it converts them.
type Settings struct {
	Git     *gitcmd.Git
	Objects *object.Store
}

// New returns the settings of a repository.
func New(git *gitcmd.Git, objects *object.Store) *Settings {
	return &Settings{Git: git, Objects: objects}
}

// shaping matches git's settings that select the files that git looks at, or convert them on their way into objects and
// back. A clone does not have them: if they are changed, gates judge other content than a clone of the branch will
// have. Those of git-lfs are the same everywhere.
var shaping = lazyregexp.New(`^(filter\..*|include\.path|includeif\..*|core\.(attributesfile|autocrlf|checkstat|eol|excludesfile|filemode|fsmonitor|ignorecase|precomposeunicode|symlinks|trustctime|worktree))$`)

// Conversions returns the present values of these settings, in the files of this repository and in all files together.
func (r *Settings) Conversions(ctx context.Context) (session.Conversions, error) {
	c := session.Conversions{Settings: map[string]map[string]string{}, Texts: map[string][]byte{},
		Listed: map[string]string{}}
	for _, name := range r.shapingFiles() {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, err
		}
		c.Texts[name] = text
		if filepath.Base(name) == "attributes" {
			continue
		}
		if c.Settings[name], c.Listed[name], err = r.shapingSettings(ctx, "--file", name); err != nil {
			return c, err
		}
	}
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if err != nil {
		return c, err
	}
	c.Marks = x.Marked()
	all, _, err := r.shapingSettings(ctx, "--includes")
	if err != nil {
		return c, err
	}
	if out, err := r.Git.Ask(ctx, "var", "GIT_ATTR_GLOBAL"); err == nil { // since git 2.42
		name := strings.TrimSpace(string(out))
		if text, err := os.ReadFile(name); err == nil {
			all[name] = string(text)
		}
	}
	c.All = all
	return c, nil
}

// shapingFiles returns the files of the git directory that may have such settings.
func (r *Settings) shapingFiles() []string {
	return []string{filepath.Join(r.Git.CommonDir, "config"), filepath.Join(r.Git.GitDir, "config.worktree"),
		filepath.Join(r.Git.CommonDir, "info", "attributes")}
}

// shapingSettings returns the settings that match shaping, with all their values, and in listed all settings.
func (r *Settings) shapingSettings(ctx context.Context, from ...string) (all map[string]string, listed string,
	err error) {
	out, err := r.Git.Ask(ctx, append(append([]string{"config"}, from...), "--list", "-z")...)
	all = map[string]string{}
	entries := strings.Split(string(out), "\x00")
	for _, entry := range entries {
		if name, value, _ := strings.Cut(entry, "\n"); shaping.MatchString(name) && !strings.HasPrefix(name, "filter.lfs.") {
			all[name] += value + "\x00"
		}
	}
	slices.Sort(entries)
	return all, strings.Join(entries, "\x00"), err
}

// PutConversionsBack restores such settings in the files of this repository, and removes new marks that make git ignore
// changes of a file. back names the restored settings, elsewhere those that differ in the user's other files.
func (r *Settings) PutConversionsBack(ctx context.Context, was session.Conversions) (back, elsewhere []string,
	err error) {
	now, err := r.Conversions(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range r.shapingFiles() {
		if filepath.Base(name) == "attributes" {
			if !bytes.Equal(was.Texts[name], now.Texts[name]) {
				back, err = append(back, ".git/info/attributes"), putTextBack(name, was)
			}
		} else if keys := session.Differing(was.Settings[name], now.Settings[name]); len(keys) > 0 {
			for _, key := range keys {
				back = append(back, key+" in .git/"+filepath.Base(name))
			}
			err = r.putSettingsBack(ctx, name, keys, was)
		}
		if err != nil {
			return back, nil, err
		}
	}
	marks := slices.DeleteFunc(now.Marks, func(p string) bool { return slices.Contains(was.Marks, p) })
	if marks = r.Git.ThoseThere(slices.Sorted(slices.Values(marks))); len(marks) > 0 {
		for _, how := range []string{"--no-skip-worktree", "--no-assume-unchanged"} {
			if _, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(marks, "\x00") + "\x00")},
				"update-index", how, "-z", "--stdin"); err != nil {
				return back, nil, err
			}
		}
		for _, p := range marks[:min(len(marks), 3)] {
			back = append(back, "the mark that hid "+p+" from git")
		}
	}
	if len(back) > 0 {
		if now, err = r.Conversions(ctx); err != nil {
			return back, nil, err
		}
	}
	return back, session.Differing(was.All, now.All), nil
}

// putSettingsBack restores some settings of a file. If nothing else changed in the file, it restores the whole file.
func (r *Settings) putSettingsBack(ctx context.Context, file string, keys []string, was session.Conversions) error {
	for _, key := range keys {
		// 5: it does not exist
		if _, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{5}}, "config", "--file", file, "--unset-all", key); err != nil {
			return err
		}
		values, had := was.Settings[file][key]
		for value := range strings.SplitSeq(strings.TrimSuffix(values, "\x00"), "\x00") {
			if !had {
				break
			}
			if _, err := r.Git.Ask(ctx, "config", "--file", file, "--add", key, value); err != nil {
				return err
			}
		}
	}
	_, listed, err := r.shapingSettings(ctx, "--file", file)
	if err != nil || listed != was.Listed[file] {
		return err
	}
	return putTextBack(file, was)
}

// putTextBack restores a configuration file of git.
func putTextBack(file string, was session.Conversions) error {
	text, there := was.Texts[file]
	if !there {
		return os.Remove(file)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	return durable.WriteFile(file, text, mode)
}

// SettingsBetween returns the names of the settings that differ between two configuration files of git, without parts
// that may be passwords. It returns none if git cannot read a file.
func (r *Settings) SettingsBetween(ctx context.Context, was, now string) []string {
	var all [2]map[string]string
	for i, file := range []string{was, now} {
		out, err := r.Git.Ask(ctx, "config", "--file", file, "--list", "-z")
		if err != nil {
			return nil
		}
		all[i] = map[string]string{}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if name, value, _ := strings.Cut(entry, "\n"); name != "" {
				if strings.Contains(name, "@") { // url.https://user:password@host.insteadof
					name = name[:strings.Index(name, ".")] + ".*" + name[strings.LastIndex(name, "."):]
				}
				all[i][name] += value + "\x00"
			}
		}
	}
	return session.Differing(all[0], all[1])
}
