package gitstate

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// upward is a path in a manifest that leads out of the manifest's own directory.
var upward = lazyregexp.New(`\.\./[A-Za-z0-9_.@/+-]*[A-Za-z0-9_@+-]`)

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

// linkOutside makes what manifests name beside the work tree be found beside the clean one as well, by links. It is no
// part of the project, unless it leads back to it.
func (b *bringer) linkOutside() error {
	above := filepath.Dir(b.clean.Root)
	want := map[string]string{}
	for _, name := range manifestsOf(b.tree.files) {
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
		if err := os.Symlink(to, filepath.Join(above, n)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}
