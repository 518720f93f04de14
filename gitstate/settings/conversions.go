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

// Settings reads git's settings in one work tree that affect which files git examines and how it converts them.
type Settings struct {
	Git     *gitcmd.Git
	Objects *object.Store
}

// New returns the settings of a repository.
func New(git *gitcmd.Git, objects *object.Store) *Settings {
	return &Settings{Git: git, Objects: objects}
}

// shaping matches the git settings that select the files that git examines, or that convert files when git adds or
// writes them. A clone of the repository does not get these settings: if an agent changes them, gates judge other
// content than a clone of the branch will have. Settings of git-lfs are excepted (see shapingSettings), because they
// are the same everywhere.
var shaping = lazyregexp.New(`^(filter\..*|include\.path|includeif\..*|core\.(attributesfile|autocrlf|checkstat|eol|excludesfile|filemode|fsmonitor|ignorecase|precomposeunicode|symlinks|trustctime|worktree))$`)

// Conversions returns the present values of the settings that shaping matches, both in each file of this repository and
// from all of git's configuration files together.
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

// shapingFiles returns the files in the git directory that may have settings that shaping matches, or attributes.
func (r *Settings) shapingFiles() []string {
	return []string{filepath.Join(r.Git.CommonDir, "config"), filepath.Join(r.Git.GitDir, "config.worktree"),
		filepath.Join(r.Git.CommonDir, "info", "attributes")}
}

// shapingSettings returns the settings from a file that shaping matches, by name with all their values. listed has all
// settings of the file as one text, to compare it.
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

// PutConversionsBack restores settings that shaping matches in the files of this repository. It also removes marks that
// were added since and make git ignore changes of a file. back names the restored settings. elsewhere names settings
// that differ in the user's other configuration files, which it does not change.
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

// putSettingsBack restores some settings of a file. If the file then has the same settings as before, it restores the
// whole text.
func (r *Settings) putSettingsBack(ctx context.Context, file string, keys []string, was session.Conversions) error {
	for _, key := range keys {
		// exit code 5: the setting does not exist
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

// putTextBack restores the text of a configuration file of git, or removes the file if it did not exist.
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

// SettingsBetween returns the names of the settings that differ between two configuration files of git. From the names
// it removes parts that may be passwords. It returns none if git cannot read one of the files.
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
