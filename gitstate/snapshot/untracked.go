package snapshot

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// maxUntracked is how many untracked files are listed without git.
const maxUntracked = 10000

const byteOrderMark = "\ufeff" // which git passes over

// readRules reads a file of rules, without those that make files wanted again.
func readRules(file string) (lines []string, ok bool) {
	text, err := gitcmd.ReadFile(file)
	for line := range strings.Lines(strings.TrimPrefix(string(text), byteOrderMark)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" && line[0] != '!' && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines, err == nil || gitcmd.Absent(err)
}

// untracked lists the files at and below some untracked paths, sorted, if it is certain that no rule ignores
// any of them, and that git takes all of them for files. Otherwise it answers false: git has to be asked.
func (r *Adder) untracked(ctx context.Context, paths []string) ([]string, bool) {
	if _, ok := r.plainRules(ctx); !ok {
		return nil, false
	}
	u := untrackedFiles{root: r.Git.Root, rules: map[string][]string{}}
	everywhere, ok := readRules(r.Settings.ExcludesPath())
	local, ok2 := readRules(filepath.Join(r.Git.CommonDir, "info", "exclude"))
	if u.everywhere = append(everywhere, local...); !ok || !ok2 {
		return nil, false
	}
	for _, p := range paths {
		name, isDir := strings.CutSuffix(p, "/")
		if !plainName(name) || !u.wanted(name, name) || isDir && !u.dir(name) {
			return nil, false
		}
		if !isDir {
			u.files = append(u.files, name)
		}
	}
	slices.Sort(u.files)
	return u.files, true
}

type untrackedFiles struct {
	root       string
	everywhere []string            // lines of rules
	rules      map[string][]string // of directories
	files      []string
}

// wanted reports whether no rule of the directories on the way to a path may fit some parts of it.
func (u *untrackedFiles) wanted(path, parts string) bool {
	if slices.ContainsFunc(u.everywhere, func(rule string) bool { return MayMatch(rule, parts) }) {
		return false
	}
	for dir := path; dir != "."; {
		dir = filepath.ToSlash(filepath.Dir(dir))
		rules, read := u.rules[dir]
		if !read {
			var ok bool
			if rules, ok = readRules(filepath.Join(u.root, filepath.FromSlash(dir), ".gitignore")); !ok {
				return false
			}
			u.rules[dir] = rules
		}
		if slices.ContainsFunc(rules, func(rule string) bool { return MayMatch(rule, parts) }) {
			return false
		}
	}
	return true
}

// dir lists what is in a directory, on the way to which no rule fits.
func (u *untrackedFiles) dir(dir string) bool {
	list, err := os.ReadDir(filepath.Join(u.root, filepath.FromSlash(dir)))
	if err != nil || len(u.files)+len(list) > maxUntracked {
		return false
	}
	for _, e := range list {
		p := dir + "/" + e.Name()
		switch {
		case !plainName(e.Name()), !u.wanted(p, e.Name()):
			return false
		case e.IsDir():
			if !u.dir(p) {
				return false
			}
		case e.Type().IsRegular(), e.Type() == fs.ModeSymlink:
			u.files = append(u.files, p)
		default:
			return false
		}
	}
	return true
}
