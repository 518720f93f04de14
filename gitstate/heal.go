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

// New objects are garbage to git until a ref reaches them: `git repack -ad` removes their packs, `git gc --prune=now`
// also loose objects, and a ref that moves later would be broken. Git does not remove a pack with a .keep file
// (gitformat-pack(5)). So each pack of wfs has one from before the pack appears until the refs have moved, and includes
// the blobs that git has written as loose objects for it. The process that keeps the pack holds a lock on the .keep
// file: one without a lock was left by a process that was killed.

// tidy removes files that killed wfs processes left. The caller holds the work tree's lock. Files that cannot be
// removed now are removed another time.
func (r *Repo) tidy() {
	packs := filepath.Join(r.Git.CommonDir, "objects", "pack")
	if files, err := os.ReadDir(packs); err == nil {
		r.Objects.TidyPacks(packs, files)
	}
	// otherwise the user's own git would be blocked until the next turn
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
	// Processes of all work trees use the latter two, so only old files are removed there.
	for dir, age := range map[string]time.Duration{r.Git.PrivateDir(): 0, r.Git.StateDir(): time.Hour, notes: time.Hour} {
		r.dropTemporary(dir, age)
	}
}

// dropTemporary removes temporary files older than age, 0 for all. It leaves directories to wfs gc.
func (r *Repo) dropTemporary(dir string, age time.Duration) {
	files, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(dir), durable.TempPrefix+"*"))
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && (age == 0 || r.Git.FileAge(info) > age) {
			_ = os.Remove(file)
		}
	}
}

// Git locks a ref with a lock file next to it, and also HEAD if it is on that ref. If git is killed, these files stay,
// and those refs cannot be moved any more. So before wfs starts a git that moves refs, it notes the refs; it removes
// the notes when that git has ended. The next command that locks the work tree and finds notes knows which locks are
// leftovers.

// HealLocks removes leftovers of killed wfs processes, above all locks of refs. The caller holds the work tree's lock.
func (r *Repo) HealLocks(ctx context.Context) error {
	r.tidy()
	return r.Git.Locks.HealRefLocks(ctx)
}

// Git locks that a killed wfs left in another work tree block that one's HEAD and index, and refs everywhere. That work
// tree may not be used for days, or may no longer exist.

// HealOthers removes git locks that killed wfs processes left in other work trees, and returns the ids of these work
// trees. It calls take to lock a work tree, by its id; take returns a function that unlocks it, nil if another process
// is using the work tree.
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
		if o.Git.Worktree == "main" { // the directory in which running git processes are looked for
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

// Locks returns git's present locks: of the repository, of refs, and of this work tree's HEAD and index.
func (r *Repo) Locks() []session.GitLock { return r.Git.Locks.Found() }

// SetLocksAside moves locks to a directory if they persist and certainly no running process holds them.
func (r *Repo) SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error) {
	return r.Git.Locks.SetAside(ctx, locks, dir)
}
