package gitstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/backup"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// rawCase is a repository in which git converts files: the bytes that it adds and those that it writes differ.
type rawCase struct {
	attributes string
	config     []string // keys and values
	files      map[string]string
	raw        []string // paths whose bytes must be kept
	linux      bool     // git's output depends on the system
}

var rawCases = map[string]rawCase{
	"text with CRLF": {attributes: "*.t text", files: map[string]string{"f.t": "a\r\nb\r\n"}, raw: []string{"f.t"}},
	"text with LF":   {attributes: "*.t text", files: map[string]string{"f.t": "a\nb\n"}},
	"text=auto, mixed": {attributes: "* text=auto", files: map[string]string{"f.t": "a\r\nb\n", "g.t": "a\n"},
		raw: []string{"f.t"}},
	"crlf, the old name": {attributes: "*.t crlf", files: map[string]string{"f.t": "a\r\n"}, raw: []string{"f.t"}},
	"eol=lf with CRLF": {attributes: "*.t eol=lf", files: map[string]string{"f.t": "a\r\n", "d/g.t": "b\r\n"},
		raw: []string{"d/g.t", "f.t"}},
	"eol=crlf with LF":   {attributes: "*.t eol=crlf", files: map[string]string{"f.t": "a\nb\n"}, raw: []string{"f.t"}},
	"eol=crlf with CRLF": {attributes: "*.t eol=crlf", files: map[string]string{"f.t": "a\r\nb\r\n"}},
	"autocrlf=input": {config: []string{"core.autocrlf", "input"},
		files: map[string]string{"f.t": "a\r\n", "bin": "\x00\r\n", "lf": "a\n"}, raw: []string{"f.t"}},
	"autocrlf=true": {config: []string{"core.autocrlf", "true"},
		files: map[string]string{"f.t": "a\nb\n", "crlf": "a\r\n", "bin": "\x00\n"}, raw: []string{"f.t"}},
	"core.eol=crlf": {attributes: "* text=auto", config: []string{"core.eol", "crlf"},
		files: map[string]string{"f.t": "a\nb\n"}, raw: []string{".gitattributes", "f.t"}},
	"autocrlf, but no text": {attributes: "*.t -text", config: []string{"core.autocrlf", "input"},
		files: map[string]string{"f.t": "a\r\n"}},
	"ident": {attributes: "*.t ident",
		files: map[string]string{"f.t": "$Id: of another age $\n", "g.t": "none\n"}, raw: []string{"f.t"}},
	"UTF-16 without a mark": {attributes: "*.t working-tree-encoding=UTF-16LE-BOM",
		files: map[string]string{"f.t": "\xff\xfea\x00\n\x00"}},
	"UTF-16, either mark": {linux: true, attributes: "*.t working-tree-encoding=UTF-16",
		files: map[string]string{"f.t": "\xff\xfea\x00\n\x00", "g.t": "\xfe\xff\x00a\x00\n"},
		raw:   []string{"g.t"}},
	"a filter that forgets": {attributes: "*.t filter=forget",
		config: []string{"filter.forget.clean", "grep -v secret || true", "filter.forget.smudge", "cat"},
		files:  map[string]string{"f.t": "a\nsecret\n", "x.t": "x nothing\n"}, raw: []string{"f.t"}},
	"a filter that comes back": {attributes: "*.t filter=case",
		config: []string{"filter.case.clean", "tr a-z A-Z", "filter.case.smudge", "tr A-Z a-z"},
		files:  map[string]string{"f.t": "lower\n", "x.t": "x Mixed\n"}, raw: []string{"x.t"}},
	"a filter whose way back fails": {attributes: "*.t filter=lost",
		config: []string{"filter.lost.clean", "cat", "filter.lost.smudge", "exit 1", "filter.lost.required", "true"},
		files:  map[string]string{"f.t": "a\n"}, raw: []string{"f.t"}},
	"a filter that nobody has": {attributes: "*.t filter=nobody", files: map[string]string{"f.t": "a\r\n"}},
	"odd names": {attributes: "*.t text",
		files: map[string]string{"a b\n\"ü.t": "a\r\n", "-x.t": "b\r\n", "[a]*.t": "c\r\n"},
		raw:   []string{"-x.t", "[a]*.t", "a b\n\"ü.t"}},
}

// TestMoveKeepsRawBytes: a move keeps the bytes that git would not write again, a rescue has them at a ref, and the
// move back writes them.
func TestMoveKeepsRawBytes(t *testing.T) {
	t.Parallel()
	for name, c := range rawCases {
		if c.linux && runtime.GOOS != "linux" {
			continue
		}
		for _, gone := range []bool{false, true} { // deleted by the move, or overwritten
			t.Run(fmt.Sprintf("%s/%v", name, gone), func(t *testing.T) {
				t.Parallel()
				testRaw(t, c, gone)
			})
		}
	}
}

func testRaw(t *testing.T, c rawCase, gone bool) {
	ctx := context.Background()
	r := newRepo(t)
	for kv := range slices.Chunk(c.config, 2) {
		r.run("config", kv[0], kv[1])
	}
	if c.attributes != "" {
		r.write(".gitattributes", c.attributes+"\n")
	}
	there := map[string]string{"a.txt": "a\n", "other": "other\n"}
	for name, content := range c.files {
		r.write(name, content)
		if strings.HasPrefix(content, "x ") {
			if err := os.Chmod(r.path(name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if !gone && c.config == nil {
			there[name] = "another content\n"
		}
	}
	before := r.disk()
	snap := r.snapshot()
	m, err := r.PlanMove(ctx, snap, r.treeOf(there), "")
	if err != nil {
		t.Fatal(err)
	}
	if m.Raw, err = r.RawBytes.Raw(ctx, m); err != nil {
		t.Fatal(err)
	}
	var raw []string
	if m.Raw != "" {
		files, err := r.Objects.TreeFiles(ctx, m.Raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			raw = append(raw, f.Path)
		}
	}
	if !slices.Equal(raw, c.raw) {
		t.Fatalf("raw bytes are kept of %q, want %q", raw, c.raw)
	}
	snap.Raw = m.Raw
	ref, err := r.Rescue(ctx, testID, "a test", snap, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range c.raw {
		if got := r.run("cat-file", "blob", ref+":"+backup.DirRaw+"/"+name) + "\n"; name != ".gitattributes" &&
			got != c.files[name] && got != c.files[name]+"\n" {
			t.Errorf("the rescue has %q of %q", got, name)
		}
	}
	if err := r.MoveTree(ctx, m); err != nil {
		t.Fatal(err)
	}
	r.run("prune", "--expire=now")
	if strings.Contains(fmt.Sprint(c.config), "exit 1") {
		return // git cannot write a file back through such a filter
	}
	back := func() {
		t.Helper()
		now := r.snapshot()
		m, err := r.PlanMove(ctx, now, snap.Tree, snap.Raw)
		if err == nil {
			m.Raw, err = r.RawBytes.Raw(ctx, m)
		}
		if err == nil {
			err = r.MoveTree(ctx, m)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := r.disk(); !maps.Equal(got, before) {
			t.Fatalf("back: %q, want %q", got, before)
		}
	}
	back()
	back() // nothing to do
	if len(c.raw) > 0 {
		// After a kill between the checkout and the end of the move, a file is as git writes it, or is missing.
		if err := os.Remove(r.path(c.raw[0])); err != nil {
			t.Fatal(err)
		}
		back()
	}
	if now := r.snapshot(); now.Tree != snap.Tree {
		t.Errorf("a snapshot is %s now, not %s", now.Tree, snap.Tree)
	}
	if _, err := os.Stat(filepath.Join(r.Git.PrivateDir(), "raw")); !gitcmd.Absent(err) {
		t.Errorf("left behind: %v", err)
	}
	r.fsck()
}

// TestMoveSeesRawEdits: bytes that changed after the plan are not lost, even if git regards them as the same.
func TestMoveSeesRawEdits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	r.write(".gitattributes", "*.t text\n")
	r.write("f.t", "a\n")
	m, err := r.PlanMove(ctx, r.snapshot(), r.treeOf(map[string]string{"a.txt": "a\n"}), "")
	if err == nil {
		m.Raw, err = r.RawBytes.Raw(ctx, m)
	}
	if err != nil || m.Raw != "" {
		t.Fatal(m.Raw, err)
	}
	r.write("f.t", "a\r\n")
	if err := r.MoveTree(ctx, m); !errors.Is(err, session.ErrTouched) || r.read("f.t") != "a\r\n" {
		t.Errorf("moved over it: %v", err)
	}
}

// TestRawBytesStayInside: whatever a tree of raw bytes has, only files of the target are written, and symbolic links
// are not followed.
func TestRawBytesStayInside(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	outside := filepath.Join(r.home, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, r.path("out")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(outside, "f"), r.path("link")); err != nil {
		t.Fatal(err)
	}
	blob := r.Objects.NewObject("blob", []byte("evil\n"))
	hooks, err := r.Objects.NewTree([]object.Entry{{Mode: object.ModeFile, Name: "post-checkout", ID: blob.ID}})
	if err != nil {
		t.Fatal(err)
	}
	git, _ := r.Objects.NewTree([]object.Entry{{Mode: object.ModeTree, Name: "hooks", ID: hooks.ID}})
	dir, _ := r.Objects.NewTree([]object.Entry{{Mode: object.ModeFile, Name: "f", ID: blob.ID}})
	raw, err := r.Objects.NewTree([]object.Entry{{Mode: object.ModeTree, Name: ".git", ID: git.ID},
		{Mode: object.ModeTree, Name: "..", ID: dir.ID}, {Mode: object.ModeTree, Name: "out", ID: dir.ID},
		{Mode: object.ModeFile, Name: "link", ID: blob.ID}, {Mode: object.ModeFile, Name: "nowhere", ID: blob.ID},
		{Mode: object.ModeFile, Name: "a.txt", ID: blob.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Objects.WriteObjects(ctx, blob, hooks, git, dir, raw); err != nil {
		t.Fatal(err)
	}
	s := r.snapshot()
	m, err := r.PlanMove(ctx, s, s.Tree, session.Tree(raw.ID))
	if err == nil {
		err = r.MoveTree(ctx, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := r.disk(); got["a.txt"] != "false evil\n" || len(got) != 3 {
		t.Errorf("got %q", got)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("written outside: %v", left)
	}
	if _, err := os.Stat(filepath.Join(r.Git.GitDir, "hooks", "post-checkout")); err == nil {
		t.Error("a hook was written")
	}
}

// TestMoveSeesWhatIsSavedWhileGitWrites: git does not check files whose bytes wfs writes, and may take minutes for the
// others: edits that are saved meanwhile stay.
func TestMoveSeesWhatIsSavedWhileGitWrites(t *testing.T) {
	for name, back := range map[string]bool{"there": false, "back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRepo(t)
			r.run("config", "filter.slow.clean", "cat")
			r.run("config", "filter.slow.smudge",
				"cat; if test -e ../saves && case $GIT_DIR in */move) ;; *) false;; esac; then rm ../saves; printf 'saved\\n' > .new; mv .new f.crlf; fi")
			r.write(".gitattributes", "*.crlf text eol=crlf\n*.slow filter=slow\n")
			r.write("f.crlf", "a\r\nb\n") // no checkout writes this
			r.write("g.slow", "old\n")
			first := r.snapshot()
			m, err := r.PlanMove(ctx, first, r.treeOf(map[string]string{"a.txt": "a\n"}), "")
			if err == nil {
				m.Raw, err = r.RawBytes.Raw(ctx, m)
			}
			if err != nil || m.Raw == "" {
				t.Fatal(m.Raw, err)
			}
			raw := m.Raw
			r.write("f.crlf", "a\r\nb\r\n") // the same to git
			r.write("g.slow", "new\n")
			if m, err = r.PlanMove(ctx, r.snapshot(), first.Tree, raw); err == nil {
				m.Raw, err = r.RawBytes.Raw(ctx, m)
			}
			if err != nil {
				t.Fatal(err)
			}
			r.write("../saves", "")
			if back {
				err = r.MoveBack(ctx, m, m.From)
			} else {
				err = r.MoveTree(ctx, m)
			}
			if !errors.Is(err, session.ErrTouched) || r.read("f.crlf") != "saved\n" {
				t.Errorf("what was saved is %q now: %v", r.read("f.crlf"), err)
			}
			if m, err = r.PlanMove(ctx, r.snapshot(), first.Tree, raw); err == nil {
				m.Raw, err = r.RawBytes.Raw(ctx, m)
			}
			if err == nil {
				err = r.MoveTree(ctx, m)
			}
			if err != nil || r.read("f.crlf") != "a\r\nb\n" {
				t.Errorf("%q is there: %v", r.read("f.crlf"), err)
			}
		})
	}
}
