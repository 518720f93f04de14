package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// autoDraft describes an auto-save of session s after its first checkpoint, which is the present commit.
func (r *testRepo) autoDraft() session.AutoDraft {
	return session.AutoDraft{Session: testID, Ledger: r.resolve(refs.LedgerRef(testID)),
		Tree: session.Tree(r.run("rev-parse", "HEAD^{tree}")), At: at,
		Reason: session.Reason{Trigger: "test", Why: "a test"},
		Files:  session.Files{session.FileSession: []byte("{}\n"), session.FileEvents: nil}}
}

func (r *testRepo) autoSave(d session.AutoDraft) session.AutoSaved {
	r.t.Helper()
	done, err := r.AutoSave(context.Background(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	return done
}

// newSaving returns a repository with a session that has a checkpoint.
func newSaving(t *testing.T) *testRepo {
	t.Helper()
	r, d := newSession(t)
	r.publish(r.prepare(d))
	return r
}

func (r *testRepo) savedFiles() string {
	return strings.ReplaceAll(r.run("ls-tree", "-r", "--name-only", refs.AutoRef(testID)+"^2"), "\n", " ")
}

func (r *testRepo) wantSound() {
	r.t.Helper()
	if out, err := r.try("fsck", "--full", "--strict", "--no-dangling"); err != nil || out != "" {
		r.t.Errorf("git fsck: %v: %s", err, out)
	}
}

func TestAutoSave(t *testing.T) {
	t.Parallel()
	r := newSaving(t)
	r.write(".gitignore", "*.ignored\n")
	r.run("add", ".gitignore")
	d := r.autoDraft()
	d.Tree = session.Tree(r.run("write-tree"))
	d.Ledger = r.resolve(refs.LedgerRef(testID))
	if done := r.autoSave(d); done.Commit != "" || r.resolve(refs.AutoRef(testID)) != "" {
		t.Errorf("nothing differs from the checkpoint, and it was saved: %+v", done)
	}

	exclude := filepath.Join(r.home, "exclude")
	if err := os.WriteFile(exclude, []byte("/once-ignored\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Exclude = exclude
	r.write("b.txt", "b\n")
	r.write("dir/c.txt", "c\n")
	r.write("x.ignored", "x\n")
	r.write("once-ignored", "y\n")
	r.write(".env", "KEY=1\n")
	r.write("node_modules/m.js", "m\n")
	r.write(".wfs/local.yaml", "version: 1\n")
	index, err := os.ReadFile(r.path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(r.path(".git/index"))
	r.Quiet()
	loose := r.run("count-objects")
	d.AtLeast = 3
	if done := r.autoSave(d); done.New || done.Commit != "" {
		t.Errorf("two changes were saved as three: %+v", done)
	}
	d.AtLeast = 2
	first := r.autoSave(d)
	d.AtLeast = 0
	if !first.New || first.Changes != 2 {
		t.Errorf("saved: %+v", first)
	}
	if got := r.savedFiles(); got != ".gitignore a.txt b.txt dir/c.txt" {
		t.Errorf("it holds %s", got)
	}
	now, _ := os.ReadFile(r.path(".git/index"))
	if after, err := os.Stat(r.path(".git/index")); err != nil || string(now) != string(index) ||
		!after.ModTime().Equal(info.ModTime()) {
		t.Error("the user's index was touched")
	}
	if now := r.run("count-objects"); now != loose {
		t.Errorf("loose objects: %s, and before %s", now, loose)
	}
	for _, secret := range []string{"KEY=1\n", "x\n", "y\n", "m\n"} {
		if out, err := r.try("cat-file", "-e", r.Objects.NewObject("blob", []byte(secret)).ID); err == nil {
			t.Errorf("there is an object of %q %s", secret, out)
		}
	}
	format := "--format=%(trailers:key=Wfs-Trigger,valueonly,separator=)"
	if got := r.run("log", "-1", format, refs.AutoRef(testID)); got != "test" {
		t.Errorf("the trailer is %q", got)
	}
	parents := strings.Fields(r.run("log", "-1", "--format=%P", refs.AutoRef(testID)))
	if len(parents) != 3 || parents[0] != string(d.Ledger) || r.run("rev-parse", parents[1]+"^") != string(r.head()) {
		t.Errorf("parents are %v", parents)
	}
	if again := r.autoSave(d); again.New || again.Commit != first.Commit {
		t.Errorf("nothing changed, and it was saved again: %+v", again)
	}
	a, err := r.Auto(context.Background(), testID)
	if err != nil || a.Commit != first.Commit || a.Ledger != d.Ledger || a.Changes != 2 || len(a.HeldOut) != 2 ||
		string(a.Index) == "" {
		t.Errorf("Auto = %+v, %v", a, err)
	}
	r.wantSound()

	r.run("switch", "-q", "-c", "elsewhere")
	r.write("b.txt", "of another line\n")
	if done := r.autoSave(d); done.New {
		t.Error("the files of another branch were saved")
	}
	d.Anywhere = true
	if done := r.autoSave(d); !done.New {
		t.Error("they were to be saved anywhere")
	}
}

// TestAutoSaveInConflict saves the work tree in the middle of a merge, and leaves the merge as it is.
func TestAutoSaveInConflict(t *testing.T) {
	t.Parallel()
	r := newSaving(t)
	d := r.autoDraft()
	r.run("switch", "-q", "-c", "theirs")
	r.write("a.txt", "theirs\n")
	r.run("commit", "-q", "-a", "-m", "theirs")
	r.run("switch", "-q", "wfs/s")
	r.write("a.txt", "ours\n")
	r.run("commit", "-q", "-a", "-m", "ours")
	if out, err := r.try("merge", "theirs"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	r.write("more.txt", "more\n")
	before := r.run("status", "--porcelain") + r.run("ls-files", "-s")
	r.autoSave(d)
	if text := r.run("show", refs.AutoRef(testID)+"^2:a.txt"); !strings.Contains(text, "<<<<<<<") ||
		r.savedFiles() != "a.txt more.txt" {
		t.Errorf("saved: %s in %s", text, r.savedFiles())
	}
	if now := r.run("status", "--porcelain") + r.run("ls-files", "-s"); now != before {
		t.Errorf("the conflict was\n%s\nand is\n%s", before, now)
	}
	r.wantSound()
}

// TestAutoSaveOfLostWork keeps an auto-save of which most changes are gone.
func TestAutoSaveOfLostWork(t *testing.T) {
	t.Parallel()
	r := newSaving(t)
	d := r.autoDraft()
	r.write("a.txt", "edited\n")
	r.write("b.txt", "b\n")
	full := r.autoSave(d)
	r.run("reset", "-q", "--hard")
	r.run("clean", "-qfdx")
	if done := r.autoSave(d); done.New || done.Commit != full.Commit || done.Lost != 2 || done.Kept != "" {
		t.Errorf("nothing but loss: %+v", done)
	}
	r.write("c.txt", "new\n")
	done := r.autoSave(d)
	if !done.New || done.Lost != 2 || done.Kept != refs.RescuePrefix(testID)+"1" || r.resolve(done.Kept) != full.Commit {
		t.Errorf("loss, and something new: %+v", done)
	}
	if r.savedFiles() != "a.txt c.txt" || r.run("show", done.Kept+"^2:b.txt") != "b" {
		t.Errorf("saved %s", r.savedFiles())
	}
	r.run("clean", "-qfdx")
	d.Last = true
	s := r.snapshot()
	d.Snapshot = &s
	if done := r.autoSave(d); done.Lost != 1 || done.Kept != refs.RescuePrefix(testID)+"2" {
		t.Errorf("at the end: %+v", done)
	}
	r.wantSound()
}

// TestBar20AutoSaves measures how much auto-saves add to the repository, if one line changes before each.
func TestBar20AutoSaves(t *testing.T) {
	t.Parallel()
	files, saves := 1000, 10
	if os.Getenv("WFS_SWEEP") == "all" {
		files, saves = 10_000, 100
	}
	r := newRepo(t)
	r.run("switch", "-q", "-c", "wfs/s")
	for i := range files {
		r.write(fmt.Sprintf("d%02d/f%04d.txt", i%50, i), fmt.Sprintf("file %d\n", i))
	}
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "many")
	r.run("repack", "-a", "-d", "-q")
	r.publish(r.prepare(r.draft("")))
	d := r.autoDraft()
	count := func() (n int, bytes int64) {
		if err := filepath.WalkDir(r.path(".git/objects"), func(path string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				info, err := e.Info()
				if err != nil {
					return err
				}
				n, bytes = n+1, bytes+info.Size()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n, bytes
	}
	before, weight := count()
	for i := range saves {
		r.write("d00/f0000.txt", fmt.Sprintf("line %d\n", i))
		if done := r.autoSave(d); !done.New {
			t.Fatal("not saved")
		}
	}
	after, heavy := count()
	t.Logf("%d auto-saves of one line in %d files: %d more files of objects, %d more bytes", saves, files,
		after-before, heavy-weight)
	if most := 2 * object.RepackFrom; after-before > most || heavy-weight > int64(saves)*8<<10 {
		t.Errorf("more than %d files, or 8 KB each", most)
	}
	r.wantSound()
	if err := r.EndAutoSaves(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(r.Git.PrivateDir(), "auto")); err == nil {
		t.Error("what they are made of is left")
	}
	r.wantSound()
	if text := r.run("show", refs.AutoRef(testID)+"^2:d00/f0000.txt"); text != fmt.Sprintf("line %d", saves-1) {
		t.Errorf("the newest holds %q", text)
	}
}
