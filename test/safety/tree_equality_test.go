package safety

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// files are the files of a work tree, by path: "-> target" for a link, "x" or "-" and the bytes for a file.
type files map[string]string

// onDisk reads a work tree without .git and .wfs. It leaves directories out: git does not keep them.
func onDisk(t interface{ Fatal(...any) }, root string) files {
	found := files{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if rel == ".git" || rel == ".wfs" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			found[rel] = "-> " + link
			return err
		}
		data, err := os.ReadFile(path)
		mode := "-"
		if info.Mode()&0o100 != 0 {
			mode = "x"
		}
		found[rel] = mode + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// lay makes a work tree hold exactly these files.
func lay(t interface{ Fatal(...any) }, root string, want files) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" && e.Name() != ".wfs" {
			if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, what := range want {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if link, ok := strings.CutPrefix(what, "-> "); ok {
			err = os.Symlink(link, path)
		} else if err = os.WriteFile(path, []byte(what[1:]), 0o666); err == nil && what[0] == 'x' {
			err = os.Chmod(path, 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// ignored returns the files that git ignores here, and the others.
func (all files) ignored() (ignored, others files) {
	ignored, others = files{}, files{}
	for name, what := range all {
		if strings.HasSuffix(name, ".ignored") {
			ignored[name] = what
		} else {
			others[name] = what
		}
	}
	return ignored, others
}

// add adds a path, unless it is a directory of another one or is below one.
func (all files) add(name, what string) {
	for other := range all {
		if strings.HasPrefix(name+"/", other+"/") || strings.HasPrefix(other+"/", name+"/") {
			return
		}
	}
	all[name] = what
}

var (
	drawnName = rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "b", "-c", "d e", "f\ng", "\u00e9", "e\u0301", "#", "'q\"", ".h", "x.t"}), 1, 3)
		return strings.Join(parts.Draw(t, "name"), "/")
	})
	drawnFile = rapid.SampledFrom([]string{"-", "-1\n", "-2\n", "-3", "-\x00\xff\r\n", "-> a", "-> /nowhere", "-> ../b", "x1\n", "x#!"})
	// git stores these with other bytes than the work tree has.
	drawnEdit = rapid.OneOf(drawnFile, rapid.SampledFrom([]string{"-1\r\n", "-1\r\n2\n", "x\r\n"}))
)

func drawFiles(t *rapid.T, what string, content *rapid.Generator[string], most int) files {
	all := files{}
	drawn := rapid.MapOfN(drawnName, content, 0, most).Draw(t, what)
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		all.add(name, drawn[name])
	}
	return all
}

// TestBar02TreeEquality goes back to checkpoints of random files after random edits: files, links and directories in
// each other's places, modes, odd names, bytes that git converts, ignored files, any of them staged. Going back
// restores the files of the checkpoint byte by byte, and the undo restores the edits and the index; ignored files
// stay unchanged in both. A move that a file is in the way of changes nothing. WFS_RAPID sets the number of cases.
func TestBar02TreeEquality(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a file system that tells names apart")
	}
	defer testkit.Drawn(t, 8, 1)()
	f := plainTemplate.fixture(t)
	fixed := files{".gitignore": "-*.ignored\n", ".gitattributes": "-*.t text\n"}
	var cases, refused, converted int
	wfs := func(t *rapid.T, args ...string) (string, int) {
		t.Helper()
		out, exit := f.try(nil, append([]string{"wfs"}, args...)...)
		if exit != exitOK && !strings.Contains(out, "in the way") {
			t.Fatalf("wfs %s: exit %d: %s", strings.Join(args, " "), exit, out)
		}
		return out, exit
	}
	rapid.Check(t, func(t *rapid.T) {
		cases++
		a := drawFiles(t, "checkpoint", drawnFile, 8)
		for name, what := range a { // a checkpoint of CRLF in a text file restores LF, as git does
			if strings.HasSuffix(name, ".t") && strings.Contains(what, "\r") {
				delete(a, name)
			}
		}
		a["ends.t"] = "-1\n2\n"
		maps.Copy(a, fixed)
		lay(t, f.dir, a)
		wfs(t, "checkpoint")
		out, _ := wfs(t, "log", "--json")
		var at struct{ Current int }
		if err := json.Unmarshal([]byte(out), &at); err != nil {
			t.Fatal(err, out)
		}

		b := files{}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			switch how := rapid.SampledFrom([]string{"keep", "keep", "delete", "change", "mode"}).Draw(t, "edit"); {
			case name == "ends.t":
			case how == "keep" || fixed[name] != "":
				b.add(name, a[name])
			case how == "change":
				b.add(name, drawnEdit.Draw(t, "content"))
			case how == "mode" && a[name][0] == '-' && !strings.HasPrefix(a[name], "-> "):
				b.add(name, "x"+a[name][1:])
			}
		}
		if ends := rapid.SampledFrom([]string{"", "-1\n2\n", "-1\r\n2\n", "-1\r\n2\r\n", "x3\r\n"}).Draw(t, "line ends"); ends != "" {
			b["ends.t"] = ends
		}
		more := drawFiles(t, "new", drawnEdit, 4)
		for _, name := range slices.Sorted(maps.Keys(more)) {
			b.add(name, more[name])
			b.add(name+".ignored", "-ignored\r\n")
		}
		if rapid.Bool().Draw(t, "ignored in a directory") {
			b.add("a/deep.ignored", "-deep\n")
		}
		lay(t, f.dir, b)
		if staged := rapid.SampledFrom([]string{"", "add -A", "rm -r -q -f --cached --ignore-unmatch ."}).Draw(t, "staged"); staged != "" {
			f.ok(append([]string{"git"}, strings.Fields(staged)...)...)
		}
		ignored, _ := b.ignored()
		index := f.ok("git", "ls-files", "-s")
		for name, what := range b {
			if strings.HasSuffix(name, ".t") && strings.Contains(what, "\r\n") {
				converted++
			}
		}

		if _, exit := wfs(t, "resume", fmt.Sprint("@", at.Current)); exit != exitOK {
			refused++
			same(t, "after a refusal", onDisk(t, f.dir), b)
			return
		}
		want := maps.Clone(a)
		for name, what := range b { // git sees no edit here: the file is left alone
			if strings.HasSuffix(name, ".t") && strings.ReplaceAll(what, "\r\n", "\n") == a[name] {
				want[name] = what
			}
		}
		still, now := onDisk(t, f.dir).ignored()
		same(t, "at the checkpoint", now, want)
		same(t, "what is ignored, at the checkpoint", still, ignored)
		if status := f.ok("git", "status", "--porcelain", "--", ".", ":!*.t"); status != "" { // git judges those by size
			t.Fatalf("git status: %s", status)
		}
		wfs(t, "undo")
		same(t, "after the undo", onDisk(t, f.dir), b)
		if now := f.ok("git", "ls-files", "-s"); now != index {
			t.Fatalf("the index after the undo:\n%s\nwant\n%s", now, index)
		}
	})
	f.sound()
	t.Logf("%d cases, %d of them refused because of ignored files, %d edited files with bytes that git converts, 0 differences", cases, refused, converted)
	if converted == 0 || refused == cases {
		t.Error("nothing was tried")
	}
}

func same(t *rapid.T, when string, got, want files) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Fatalf("%s: %q is %q, want %q", when, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Fatalf("%s: %q is there: %q", when, name, got[name])
		}
	}
}
