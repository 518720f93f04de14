package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Every turn adds a pack, and each git command searches all packs. From 50 packs on (gc.autoPackLimit), `git gc --auto`
// merges them while the user waits. So wfs merges them earlier.

// RepackFrom is the number of packs from which on wfs merges them.
const RepackFrom = 20

// gcPatience is the age up to which git respects a gc.pid file.
const gcPatience = 12 * time.Hour

// Repack merges small packs if there are at least `from` packs. Git adds the new pack before it removes the old ones,
// skips packs with a .keep file, and copies each object only O(log n) times for n objects. A failure or a kill loses
// nothing; the next Repack continues. During the repack, gc.pid blocks `git gc`: if objects move while that runs, it
// can fail, and then refuses to run for a day.
func (r *Packs) Repack(ctx context.Context, from int) error {
	packs, err := r.PackFiles()
	_, killed := r.readGC() // a Repack was killed, or another one is running and has the lock
	if err != nil || len(packs) < from && !killed || r.borrows() || r.Promised() {
		return err
	}
	unlock, err := r.LockGC()
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	_, err = r.Git.Run(ctx, gitcmd.Opts{Write: true}, "-c", "repack.writeBitmaps=false", "-c",
		"repack.updateServerInfo=false",
		"repack", "--geometric=2", "-d", "-q")
	return errors.Join(err, r.dropLoneIndexes())
}

// dropLoneIndexes removes indexes whose pack is missing: git removes a pack before its index, and a repack was killed
// between. Such an index never belongs to a new pack, since git adds an index after its pack.
func (r *Packs) dropLoneIndexes() error {
	indexes, err := filepath.Glob(filepath.Join(gitcmd.Globbed(r.Git.CommonDir), "objects", "pack", "pack-*.idx"))
	for _, index := range indexes {
		name := strings.TrimSuffix(index, ".idx")
		if !gitcmd.IsThere(name + ".pack") {
			err = errors.Join(err, os.Remove(index), gitcmd.IgnoreAbsent(os.Remove(name+".rev")))
		}
	}
	return err
}

// RepackMany runs Repack in the course of other work. It ignores errors: their only effect is that more packs remain.
func (r *Packs) RepackMany(ctx context.Context) { _ = r.Repack(ctx, RepackFrom) }

// borrows reports whether the repository uses the objects of another repository (alternates). Old versions of git would
// copy the packs of that one.
func (r *Packs) borrows() bool {
	_, err := os.Lstat(filepath.Join(r.Git.CommonDir, "objects", "info", "alternates"))
	return !gitcmd.Absent(err)
}

func (r *Packs) gcPath() string { return filepath.Join(r.Git.CommonDir, "gc.pid") }

// LockGC blocks `git gc` and the Repack of other wfs processes. Git takes its gc.pid file for a running `git gc`.
// LockGC returns nil if one of these is running already.
func (r *Packs) LockGC() (unlock func(), err error) {
	if err := durable.MkdirAll(r.Git.StateDir()); err != nil {
		return nil, err
	}
	lock, err := durable.TryLock(filepath.Join(r.Git.StateDir(), "packs.lock"), nil)
	if errors.Is(err, durable.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, theirs := range []string{r.gcPath() + ".lock", filepath.Join(r.Git.CommonDir, "objects", "maintenance.lock")} {
		if _, err := os.Stat(theirs); !gitcmd.Absent(err) {
			lock.Release()
			return nil, err
		}
	}
	if held, _ := r.readGC(); held {
		lock.Release()
		return nil, nil
	}
	host, _ := os.Hostname()
	// Write it in the directory of wfs, so that a kill leaves no partial file where git reads it.
	ours := filepath.Join(r.Git.StateDir(), "gc.pid")
	err = durable.WriteCache(ours, fmt.Appendf(nil, "%d %s wfs\n", os.Getpid(), cmp.Or(host, "unknown")), 0o644)
	if err == nil {
		err = os.Rename(ours, r.gcPath())
	}
	if err != nil {
		lock.Release()
		return nil, err
	}
	return func() {
		_ = os.Remove(r.gcPath())
		lock.Release()
	}, nil
}

// readGC reads gc.pid. held means that a `git gc` may be running; ours means that wfs wrote the file: git reads two
// words, the process and its host, and wfs adds a third. While the caller holds packs.lock, a file of ours is from a
// killed wfs.
func (r *Packs) readGC() (held, ours bool) {
	data, err := os.ReadFile(r.gcPath())
	if err != nil {
		return false, false
	}
	words := strings.Fields(string(data))
	if len(words) == 0 || len(words) == 3 && words[2] == "wfs" {
		return false, true
	}
	st, err := os.Stat(r.gcPath())
	return err == nil && r.Git.FileAge(st) < gcPatience, false
}
