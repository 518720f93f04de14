package gitstate

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Until a ref leads to it, what is new in the repository is garbage to git: `git repack -ad` removes packs of
// it, `git gc --prune=now` the loose objects as well, and a ref that then moves leads to nothing. Git leaves a
// pack alone that has a file .keep beside it (gitformat-pack(5)). So every pack of ours has one from before it
// can be seen until the refs have moved, and holds the blobs, too, that git has made as loose objects for it.
// The file is locked by whoever keeps the pack: one that nobody holds was left by a process that was killed.

// tidy removes files that killed processes of ours left. The caller holds the work tree's lock. What cannot be removed
// now is removed another time.
func (r *Repo) tidy() {
	packs := filepath.Join(r.Git.CommonDir, "objects", "pack")
	if files, err := os.ReadDir(packs); err == nil {
		r.Objects.TidyPacks(packs, files)
	}
	// or the user's own git would be kept away until a turn
	if lock := r.Git.IndexPath() + ".lock"; gitcmd.OursByMark(lock) {
		_ = os.Remove(lock)
	}
	for _, private := range []string{"*.lock", filepath.Join("*", "*.lock")} { // of indexes, and in git directories
		locks, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(r.Git.PrivateDir()), private))
		for _, path := range locks {
			_ = os.Remove(path)
		}
	}
	notes := filepath.Join(r.Git.StateDir(), "half-made") // see the registry, and phases
	// The latter two are everybody's.
	for dir, age := range map[string]time.Duration{r.Git.PrivateDir(): 0, r.Git.StateDir(): time.Hour, notes: time.Hour} {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if !strings.HasPrefix(f.Name(), durable.TempPrefix) {
				continue
			}
			if info, err := f.Info(); err == nil && (age == 0 || r.Git.FileAge(info) > age) {
				_ = os.Remove(filepath.Join(dir, f.Name())) // not what is in a directory: wfs gc does that
			}
		}
	}
}
