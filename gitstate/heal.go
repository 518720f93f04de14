package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
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
		r.dropTemporary(dir, age)
	}
}

// dropTemporary removes temporary files that are older, 0 for all. What is in a directory wfs gc removes.
func (r *Repo) dropTemporary(dir string, age time.Duration) {
	files, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(dir), durable.TempPrefix+"*"))
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && (age == 0 || r.Git.FileAge(info) > age) {
			_ = os.Remove(file)
		}
	}
}

// Git locks a ref with a file beside it, and HEAD as well when it is on that ref. A git that is killed leaves these
// files, and nobody can move those refs any more. So before a git of ours is started that moves refs, notes say which;
// they are removed when that git has ended. Whoever takes the work tree next and finds notes knows which locks are
// nobody's.

// HealLocks removes what a killed process of ours left, the locks of refs above all. The caller holds the work
// tree's lock.
func (r *Repo) HealLocks(ctx context.Context) error {
	r.tidy()
	return r.Git.Locks.HealRefLocks(ctx)
}

// What a killed process of ours left of git's locks in another work tree keeps that one's HEAD and index from being
// moved, and refs from being moved anywhere. Nobody may come to that work tree for days, or it may be gone.

// HealOthers removes what killed processes of ours left of git's locks in other work trees, and returns the ids
// of the work trees. take takes the lock of one, by its id, and returns what gives it back; nil when somebody
// is at work there.
func (r *Repo) HealOthers(ctx context.Context, take func(worktree string) (giveBack func(), err error)) ([]string,
	error) {
	var healed []string
	for _, git := range r.Git.Locks.Others() {
		o := repoOf(git)
		if !o.Git.Locks.LeftLocked() {
			continue
		}
		giveBack, err := take(o.Git.Worktree)
		if err != nil {
			return healed, err
		}
		if giveBack == nil {
			continue
		}
		if o.Git.Worktree == "main" { // where gits are looked for that may be at work
			if path, err := r.Git.MainWorktree(ctx); err == nil && path != "" {
				o.Git.Root = path
			}
		}
		err = o.HealLocks(ctx)
		giveBack()
		if err != nil {
			return healed, err
		}
		healed = append(healed, o.Git.Worktree)
	}
	return healed, nil
}

// Locks are git's locks that are there now: of the repository, of refs, and of this work tree's HEAD and index.
func (r *Repo) Locks() []session.GitLock { return r.Git.Locks.Found() }

// SetLocksAside moves locks into a directory if they stay, and it is certain that no living process holds them.
func (r *Repo) SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error) {
	return r.Git.Locks.SetAside(ctx, locks, dir)
}
