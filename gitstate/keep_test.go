package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/backup"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
)

// TestNothingOfATurnIsGarbage: git may collect garbage thoroughly between any two steps of a checkpoint, and must not
// remove any object of it.
func TestNothingOfATurnIsGarbage(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"gc -q --prune=now", "repack -adq", "prune --expire=now"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r, d := newSession(t)
			collect := func() { r.run(strings.Fields(line)...) }
			r.write("a.txt", "edited\n")
			r.write("dir/new.txt", "new\n")
			p := r.prepare(d)
			collect()
			r.publish(p)
			collect()
			r.fsck()
			r.wantClean()
			if got := r.run("show", "HEAD:dir/new.txt"); got != "new" {
				t.Errorf("the checkpoint holds %q", got)
			}
			if names := strings.Join(r.packFiles(), " "); strings.Contains(names, ".keep") {
				t.Errorf("still kept: %s", names)
			}
		})
	}
}

// TestNoLooseObjectsAreLeft: objects in the pack of a checkpoint do not stay as loose objects, too: these would become
// so many that git begins to collect garbage while the user waits.
func TestNoLooseObjectsAreLeft(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.run("gc", "-q")
	r.write("a.txt", "edited\n")
	r.write("dir/new.txt", "new\n")
	r.publish(r.prepare(d))
	r.Quiet()
	if out := r.run("count-objects"); !strings.HasPrefix(out, "0 objects") {
		t.Errorf("loose: %s", out)
	}
}

// TestTidyPacks removes everything that a killed process left among the packs, and nothing that a process still holds
// or that is not ours.
func TestTidyPacks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	ids := r.packed(1, 0)
	gone := []string{object.TempOfPack + "1", object.TempOfIndex + "1", object.TempOfMark + "1", "pack-1.keep",
		"pack-1.pack", "pack-2.keep"}
	stays := []string{"tmp_pack_git", "pack-2.pack", "pack-2.idx", "pack-3.keep", "pack-3.pack", "pack-4.keep",
		"pack-5.keep"}
	for _, name := range append(gone, stays...) {
		r.put(filepath.Join(dir, name), map[string]string{"pack-1.keep": object.KeepMark, "pack-2.keep": object.KeepMark,
			"pack-3.keep": "a person's\n", "pack-4.keep": object.KeepByGit + "\n"}[name])
	}
	os.Remove(filepath.Join(dir, "pack-5.keep"))
	held, err := object.KeepPack(filepath.Join(dir, "pack-5"))
	if err != nil {
		t.Fatal(err)
	}
	r.tidy()
	there := strings.Join(r.packFiles(), " ") + " "
	for _, name := range gone {
		if strings.Contains(there, name+" ") {
			t.Errorf("left: %s", name)
		}
	}
	for _, name := range stays {
		if !strings.Contains(there, name+" ") {
			t.Errorf("removed: %s", name)
		}
	}
	hours := time.Now().Add(-2 * time.Hour)
	for path, stays := range map[string]bool{r.Git.PrivateDir() + "/.tmp-1": false,
		r.Git.PrivateDir() + "/stage.lock": false, r.Git.StateDir() + "/.tmp-1": true,
		r.Git.StateDir() + "/half-made/.tmp-1": true, r.Git.StateDir() + "/.tmp-old": false, r.Git.StateDir() +
			"/half-made/.tmp-old": false} {
		r.put(path, "")
		if strings.HasSuffix(path, "old") {
			if err := os.Chtimes(path, hours, hours); err != nil {
				t.Fatal(err)
			}
		}
		r.put(r.Git.IndexPath()+".lock", string(gitcmd.LockMark))
		if err := r.HealLocks(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(r.Git.IndexPath() + ".lock"); !gitcmd.Absent(err) {
			t.Errorf("our index.lock is left: %v", err)
		}
		if _, err := os.Lstat(path); gitcmd.Absent(err) == stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	held.LetGo()
	if _, err := os.Lstat(filepath.Join(dir, "pack-5.keep")); !gitcmd.Absent(err) {
		t.Errorf("let go of, and there: %v", err)
	}
	for _, name := range stays[1:] {
		os.Remove(filepath.Join(dir, name))
	}
	r.holds(ids)
}

// TestNothingOfARescueIsGarbage: a rescue has what only the work tree had, and git does not remove its objects either.
func TestNothingOfARescueIsGarbage(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write("dir/new.txt", "new\n")
	s := r.snapshot()
	objects, err := r.Backups.StateCommit(backup.StateOf("a test", s, nil), s, "", "before a test", nil,
		"T <t@example.com>", at)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Objects.WriteObjects(context.Background(),
		append(r.Objects.LooseBelow(s.Tree, s.Index), objects...)...); err != nil {
		t.Fatal(err)
	}
	r.run("gc", "-q", "--prune=now")
	r.run("update-ref", "refs/wfs/s/rescue/1", objects[len(objects)-1].ID)
	r.Objects.LetGo(true)
	r.run("gc", "-q", "--prune=now")
	r.fsck()
}
