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

// tidy removes files that killed wfs processes left. It skips files that cannot be removed now: the next call tries
// again. The caller holds the work tree's lock.
func (r *Repo) tidy() {
	packs := filepath.Join(r.Git.CommonDir, "objects", "pack")
	if files, err := os.ReadDir(packs); err == nil {
		r.Objects.TidyPacks(packs, files)
	}
	// our own lock would block the user's git until the next turn
	if lock := r.Git.IndexPath() + ".lock"; gitcmd.OursByMark(lock) {
		_ = os.Remove(lock)
	}
	for _, private := range []string{"*.lock", filepath.Join("*", "*.lock")} { // of indexes, and of git directories
		locks, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(r.Git.PrivateDir()), private))
		for _, path := range locks {
			_ = os.Remove(path)
		}
	}
	notes := filepath.Join(r.Git.StateDir(), "half-made") // written by the packages registry and phases
	// Processes of all work trees use the latter two directories, so only old files are removed from them.
	for dir, age := range map[string]time.Duration{r.Git.PrivateDir(): 0, r.Git.StateDir(): time.Hour, notes: time.Hour} {
		r.dropTemporary(dir, age)
	}
}

// dropTemporary removes the temporary files in a directory that are older than age, or all of them if age is 0. It does
// not remove directories: wfs gc does.
func (r *Repo) dropTemporary(dir string, age time.Duration) {
	files, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(dir), durable.TempPrefix+"*"))
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && (age == 0 || r.Git.FileAge(info) > age) {
			_ = os.Remove(file)
		}
	}
}

// To move a ref, git creates a lock file next to the ref, and one for HEAD if HEAD is on that ref. If git is killed,
// these files stay, and the refs cannot be moved any more. So wfs writes down the refs before it starts a git that
// moves them, and removes that note when this git has ended. If the next command that locks the work tree finds a note,
// it knows which lock files are leftovers.

// HealLocks removes leftovers of killed wfs processes, above all locks of refs. The caller holds the work tree's lock.
func (r *Repo) HealLocks(ctx context.Context) error {
	r.tidy()
	return r.Git.Locks.HealRefLocks(ctx)
}

// If a wfs is killed in another work tree, the git locks that it leaves there block the HEAD and the index of that work
// tree, and refs in all work trees. That work tree may not be used for days, or may no longer exist.

// HealOthers removes git locks that killed wfs processes left in other work trees, and returns the ids of these work
// trees. It calls take to lock each of them by its id. take returns a function that unlocks the work tree, or nil if
// another process is using the work tree.
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
		if o.Git.Worktree == "main" { // HealLocks looks for running git processes in this directory
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

// SetLocksAside moves to dir those of the locks that persist and that certainly no running process holds. It returns
// their names.
func (r *Repo) SetLocksAside(ctx context.Context, locks []session.GitLock, dir string) ([]string, error) {
	return r.Git.Locks.SetAside(ctx, locks, dir)
}
