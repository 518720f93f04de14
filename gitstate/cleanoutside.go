package gitstate

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// upward is a path in a manifest that leads out of the manifest's own directory.
var upward = regexp.MustCompile(`\.\./[A-Za-z0-9_.@/+-]*[A-Za-z0-9_@+-]`)

// manifestsOf are those of some files that say where modules are.
func manifestsOf(files map[string]bool) []string {
	var list []string
	for name := range files {
		if manifests[path.Base(name)] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// besideTop are the names of what lies beside the top directory that a manifest names, such as a module that it is
// replaced with: "../lib" in the go.mod at the top. dir is the manifest's own directory.
func besideTop(dir, text string) []string {
	var list []string
	for _, m := range upward.FindAllString(text, -1) {
		name, ok := strings.CutPrefix(path.Join(dir, m), "../")
		if name, _, _ = strings.Cut(name, "/"); ok && name != ".." && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// Outside lists what lies beside the work tree and is named by manifests of the tree of the newest Snapshot. Whether that
// changes nobody sees.
func (r *Repo) Outside() []string {
	m := &materialiser{repo: r, dir: r.root, private: r.worktreeDir()}
	data, err := os.ReadFile(m.index())
	if err != nil {
		return nil
	}
	x := r.parsed(data)
	if x == nil {
		return nil
	}
	files := map[string]bool{}
	for _, e := range x.entries {
		if name := string(e.name); manifests[path.Base(name)] {
			files[name] = true
		}
	}
	var list []string
	for _, name := range manifestsOf(files) {
		text, err := readSome(filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		for _, n := range besideTop(path.Dir(name), text) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(r.root), n)); err == nil && n != filepath.Base(r.root) && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}

// linkOutside makes what manifests name beside the work tree be found beside the clean one as well, by links. It is no
// part of the project, unless it leads back to it.
func (b *bringer) linkOutside() error {
	above := filepath.Dir(b.clean.Root)
	want := map[string]string{}
	for _, name := range manifestsOf(b.files) {
		text, err := readSome(b.at(name))
		if err != nil {
			continue
		}
		for _, n := range besideTop(path.Dir(name), text) {
			to := filepath.Join(filepath.Dir(b.repo.root), n)
			if _, err := os.Stat(to); err != nil || n == filepath.Base(b.clean.Root) {
				continue
			}
			want[n] = to
			if out := b.leaves(to); out != "" {
				b.found(name, out)
			}
		}
	}
	entries, err := os.ReadDir(above)
	if err != nil {
		return err
	}
	for _, e := range entries { // those of before
		if to, err := os.Readlink(filepath.Join(above, e.Name())); err == nil && want[e.Name()] != to {
			if err := os.Remove(filepath.Join(above, e.Name())); err != nil {
				return err
			}
		}
	}
	for n, to := range want {
		b.sum.unknown = true // nobody looks whether it changes
		if err := os.Symlink(to, filepath.Join(above, n)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}
