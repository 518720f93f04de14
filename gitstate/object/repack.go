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

// Every turn leaves a pack, and every git command looks into every pack. `git gc --auto` merges them from 50 on
// (gc.autoPackLimit), while the user waits for it; so they are merged before it comes to that.

// RepackFrom is how many packs there are before they are merged.
const RepackFrom = 20

// gcPatience is for how long git believes a gc.pid.
const gcPatience = 12 * time.Hour

// Repack merges small packs if there are at least that many. Git adds the new pack before it removes the old
// ones, leaves packs alone that have a mark beside them, and copies each object only a number of times that
// grows with the logarithm of their number. Nothing is lost when it fails, or is killed: the next one does it.
// Meanwhile gc.pid keeps `git gc` away, which fails when objects move at the wrong moment, and then refuses to
// collect garbage for a day.
func (r *Packs) Repack(ctx context.Context, from int) error {
	packs, err := r.PackFiles()
	_, killed := r.readGC() // or another one is at work, which has the lock
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

// dropLoneIndexes removes what a killed repack left of packs that it had merged: git removes the pack first,
// and makes an index only after its pack.
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

// RepackMany is Repack where nobody asked for it: what goes wrong leaves more packs.
func (r *Packs) RepackMany(ctx context.Context) { _ = r.Repack(ctx, RepackFrom) }

// borrows reports whether objects of another repository are used. Old versions of git would copy its packs.
func (r *Packs) borrows() bool {
	_, err := os.Lstat(filepath.Join(r.Git.CommonDir, "objects", "info", "alternates"))
	return !gitcmd.Absent(err)
}

func (r *Packs) gcPath() string { return filepath.Join(r.Git.CommonDir, "gc.pid") }

// LockGC keeps `git gc` away, as another `git gc` would, and other wfs. It returns nil when one of them is at work.
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
	ours := filepath.Join(r.Git.StateDir(), "gc.pid") // so that a kill leaves no half of it beside git's own files
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

// readGC reports whether a git gc may be at work, or the file is ours: git reads two words, a process and its host, and
// we write a third. Under packs.lock, ours is what a killed wfs left.
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
