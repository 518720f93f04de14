package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

const testID session.ID = "s"

// newSession returns a repository whose HEAD is on the branch of session s, and the draft of its first checkpoint.
func newSession(t *testing.T, initArgs ...string) (*testRepo, session.Draft) {
	t.Helper()
	r := newRepo(t, initArgs...)
	r.run("switch", "-q", "-c", "wfs/s")
	return r, r.draft("")
}

// draft describes a checkpoint of the present work tree.
func (r *testRepo) draft(ledger session.Commit) session.Draft {
	return session.Draft{
		Session: testID, Branch: refs.BranchRef(testID), Parents: []session.Commit{r.head()}, Stage: true,
		Message: "wfs(red): a test fails\n\nBody.\n\nWfs-Session: s\nWfs-Checkpoint: 1\n", At: at,
		Ledger: ledger, LedgerMessage: "checkpoint 1\n\nWfs-Session: s\n",
	}
}

func documents(session.Made) (session.Files, error) {
	return session.Files{session.FileSession: []byte("{}\n"), session.FileEvents: []byte("")}, nil
}

func (r *testRepo) prepare(d session.Draft) session.Prepared {
	r.t.Helper()
	p, err := r.Prepare(context.Background(), d, documents)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *testRepo) publish(p session.Prepared) {
	r.t.Helper()
	settled, err := r.Publish(context.Background(), p)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(settled.Foreign) > 0 || settled.HeadForeign != "" {
		r.t.Fatalf("settled: %+v", settled)
	}
}

func (r *testRepo) resolve(rev string) session.Commit {
	r.t.Helper()
	out, err := r.try("rev-parse", "-q", "--verify", rev)
	if err != nil {
		return ""
	}
	return session.Commit(out)
}

func (r *testRepo) wantClean() {
	r.t.Helper()
	if out := r.run("--no-optional-locks", "status", "--porcelain"); out != "" {
		r.t.Errorf("git status is not clean:\n%s", out)
	}
}

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r, d := newSession(t, "--object-format="+format)
			hooked := filepath.Join(r.home, "hooked")
			for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "reference-transaction",
				"post-index-change"} {
				writeHook(t, r, hook, "#!/bin/sh\necho $0 >>'"+hooked+"'\n")
			}
			base := r.head()
			r.write("a.txt", "A\n")
			r.write("dir/b.txt", "b\n")
			p := r.prepare(d)
			if r.head() != base || r.resolve(refs.LedgerRef(testID)) != "" {
				t.Error("Prepare published something")
			}
			if got := r.run("diff", "--name-only", "--cached"); got != "a.txt\ndir/b.txt" {
				t.Errorf("staged: %q", got)
			}
			r.publish(p)
			if r.head() != p.Code || r.resolve(refs.LedgerRef(testID)) != p.Ledger {
				t.Error("branch or ledger did not move")
			}
			r.wantClean()
			if got, want := r.run("log", "-1",
				"--format=%an <%ae>|%cn <%ce>|%aI|%cI|%P|%B"), "Ann <ann@example.org>|Ann <ann@example.org>|"+
				"2023-11-14T22:13:20+00:00|2023-11-14T22:13:20+00:00|"+string(base)+"|"+
				strings.TrimSuffix(d.Message, "\n"); strings.TrimSpace(got) != want {
				t.Errorf("code commit\n%s\nwant\n%s", got, want)
			}
			if got, want := r.run("log", "-1", "--format=%P|%B", string(p.Ledger)), string(p.Code)+
				"|checkpoint 1\n\nWfs-Session: s\nWfs-Ledger-Code: "+string(p.Code); strings.TrimSpace(got) != want {
				t.Errorf("ledger commit\n%s\nwant\n%s", got, want)
			}
			if got := r.files(string(p.Ledger)); got != "100644 events.jsonl\n100644 session.json" {
				t.Errorf("ledger holds\n%s", got)
			}
			if want := (session.RefMove{Ref: refs.BranchRef(testID), Old: base, New: p.Code}); len(p.Turn.Refs) != 1 ||
				p.Turn.Refs[0] != want {
				t.Errorf("moves: %+v", p.Turn.Refs)
			}

			r.write("a.txt", "again\n")
			if err := os.Remove(r.path("dir/b.txt")); err != nil {
				t.Fatal(err)
			}
			second := r.draft(p.Ledger)
			p2, err := r.Prepare(context.Background(), second, func(m session.Made) (session.Files, error) {
				return session.Files{session.FileSession: []byte("2"), session.FileEvents: nil, session.FilePlan: nil}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			r.publish(p2)
			r.wantClean()
			if got := r.run("log", "-1", "--format=%P", string(p2.Ledger)); got != string(p.Ledger)+" "+string(p2.Code) {
				t.Errorf("second ledger commit's parents: %s", got)
			}
			if got := r.files(string(p2.Ledger)); got != "100644 events.jsonl\n100644 session.json" {
				t.Errorf("second ledger commit holds\n%s", got)
			}
			if out, err := os.ReadFile(hooked); err == nil {
				t.Errorf("hooks ran: %s", out)
			}
			r.fsck()
		})
	}
}

func writeHook(t *testing.T, r *testRepo, name, script string) {
	t.Helper()
	path := filepath.Join(r.Git.GitDir, "hooks", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestCheckpointIsDeterministic(t *testing.T) {
	t.Parallel()
	var first session.Prepared
	for i := range 2 {
		r, d := newSession(t)
		r.write("b.txt", "b\n")
		if p := r.prepare(d); i == 0 {
			first = p
		} else if p.Code != first.Code || p.Ledger != first.Ledger {
			t.Errorf("the same checkpoint twice: %s %s, %s %s", first.Code, first.Ledger, p.Code, p.Ledger)
		}
	}
	if first.Code != "5449e5fb068280dc37d098847b309a9f75d129c3" {
		t.Errorf("the code commit of this test has always been another: %s", first.Code)
	}
}

func TestCheckpointKeepsWhatOnlyTheIndexHad(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.write("a.txt", "staged only\n")
	r.run("add", "a.txt")
	blob := r.run("rev-parse", ":a.txt")
	r.write("a.txt", "later\n")
	r.run("config", "core.logAllRefUpdates", "false")
	p := r.prepare(d)
	if p.IndexAnchor == "" {
		t.Fatal("no anchor")
	}
	if !strings.Contains(r.run("rev-list", "--objects", "--all"), blob) {
		t.Error("between Prepare and Publish nothing keeps it")
	}
	// After a kill here, the next attempt no longer finds it in the index.
	p = r.prepare(d)
	r.publish(p)
	if r.resolve(refs.AnchorRef(testID)) != "" {
		t.Error("the anchor's own ref is still there")
	}
	if !strings.Contains(r.run("rev-list", "--objects", refs.LedgerRef(testID)), blob) {
		t.Error("the ledger does not keep it")
	}
	if msg := r.run("log", "-1", "--format=%B", string(p.Ledger)); !strings.Contains(msg,
		"Wfs-Ledger-Index: "+string(p.IndexAnchor)) {
		t.Errorf("no trailer names it:\n%s", msg)
	}
	r.write("a.txt", "and on\n")
	r.run("add", "a.txt")
	if p := r.prepare(r.draft(p.Ledger)); p.IndexAnchor != "" {
		t.Error("an index that the checkpoint holds is anchored")
	}
}

func TestCheckpointCarriesUserDir(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.write(".wfs/config.yaml", "staged\n")
	r.run("add", ".wfs")
	r.write("b.txt", "b\n")
	p := r.prepare(d)
	r.publish(p)
	if got := r.files("HEAD"); got != "100644 a.txt\n100644 b.txt" {
		t.Errorf("commit holds\n%s", got)
	}
	if got := r.run("status", "--porcelain"); got != "A  .wfs/config.yaml" {
		t.Errorf("what the user staged in .wfs: %q", got)
	}
	r.run("commit", "-q", "-m", "config")
	r.write(".wfs/config.yaml", "edited\n")
	r.write("b.txt", "B\n")
	p = r.prepare(r.draft(p.Ledger))
	r.publish(p)
	if got := r.run("cat-file", "-p", "HEAD:.wfs/config.yaml"); got != "staged" {
		t.Errorf(".wfs: %q", got)
	}
	if got := r.run("status", "--porcelain"); got != " M .wfs/config.yaml" {
		t.Errorf("status: %q", got)
	}
	r.fsck()
}

// TestCheckpointKeepsRacyEdits checks that git still sees an edit of a file below .wfs that has the size and times which
// the index knows. Git reads such files again as long as the index is not newer; a checkpoint makes the index newer.
func TestCheckpointKeepsRacyEdits(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.run("config", "core.trustctime", "false")
	r.run("config", "core.checkStat", "minimal")
	long := time.Now().Add(-time.Minute).Truncate(time.Second)
	write := func(content string) {
		r.write(".wfs/config.yaml", content)
		if err := os.Chtimes(r.path(".wfs/config.yaml"), long, long); err != nil {
			t.Fatal(err)
		}
	}
	write("staged\n")
	r.run("add", ".wfs")
	write("edited\n")
	r.write("b.txt", "b\n")
	if err := os.Chtimes(r.Git.IndexPath(), long, long); err != nil {
		t.Fatal(err)
	}
	r.publish(r.prepare(d))
	if got := r.run("status", "--porcelain"); got != "AM .wfs/config.yaml" {
		t.Errorf("status: %q", got)
	}
}

func TestPrepareWithoutStage(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("carried.txt", "c\n")
	before, _ := os.ReadFile(r.Git.IndexPath())
	d := session.Draft{
		Session: testID, Branch: refs.BranchRef(testID), Parents: []session.Commit{r.head()}, Tree: r.snapshot().Tree,
		Message: "wfs: birth", At: at, LedgerMessage: "birth",
	}
	p := r.prepare(d)
	if p.Turn.Refs[0] != (session.RefMove{Ref: refs.BranchRef(testID), New: p.Code}) {
		t.Errorf("moves: %+v", p.Turn.Refs)
	}
	r.publish(p)
	if got := r.files(string(r.resolve(refs.BranchRef(testID)))); got != "100644 a.txt\n100644 carried.txt" {
		t.Errorf("branch holds\n%s", got)
	}
	if after, _ := os.ReadFile(r.Git.IndexPath()); string(after) != string(before) ||
		r.run("symbolic-ref", "HEAD") != "refs/heads/main" {
		t.Error("index or HEAD changed")
	}

	record := session.Draft{Session: testID, NoCode: true, At: at, Ledger: p.Ledger, LedgerMessage: "moved",
		Anchors: []session.Commit{p.Code, r.head()}}
	p2 := r.prepare(record)
	r.publish(p2)
	if got := r.run("log", "-1", "--format=%P", string(p2.Ledger)); got != string(p.Ledger)+" "+string(p.Code)+" "+
		string(r.head()) {
		t.Errorf("parents: %s", got)
	}
	if p2.Code != "" || len(p2.Turn.Refs) != 0 {
		t.Errorf("%+v", p2.Made)
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, d := newSession(t)
	elsewhere := d
	elsewhere.Branch = "refs/heads/main"
	if _, err := r.Prepare(ctx, elsewhere, documents); !errors.Is(err, refs.ErrMoved) {
		t.Errorf("HEAD on another branch: %v", err)
	}
	r.run("commit", "-q", "--allow-empty", "-m", "foreign")
	if _, err := r.Prepare(ctx, d, documents); !errors.Is(err, refs.ErrMoved) {
		t.Errorf("branch moved: %v", err)
	}
	d = r.draft("")
	if _, err := r.Prepare(ctx, d,
		func(session.Made) (session.Files, error) { return nil, errors.New("no") }); err == nil || err.Error() != "no" {
		t.Errorf("seal's error: %v", err)
	}
	if _, err := r.Prepare(ctx, d,
		func(session.Made) (session.Files, error) { return session.Files{"a/b": {}}, nil }); err == nil {
		t.Error("a document with a slash")
	}
	d.Anchors = []session.Commit{session.Commit(strings.Repeat("1", 40))}
	if _, err := r.Prepare(ctx, d, documents); err == nil {
		t.Error("an anchor that does not exist")
	}
	if r.resolve(refs.LedgerRef(testID)) != "" {
		t.Error("something was published")
	}
}

// TestPrepareFindsMissingObjects: `update-ref` accepts a commit whose blobs are missing; Prepare must not.
func TestPrepareFindsMissingObjects(t *testing.T) {
	t.Parallel()
	for name, many := range map[string]int{"few trees": 1, "a pack of trees": 20,
		"trees made by git": object.MaxNewTrees + 10} {
		for _, committed := range []bool{false, true} { // otherwise only staged
			t.Run(fmt.Sprintf("%s/committed=%v", name, committed), func(t *testing.T) {
				t.Parallel()
				r, _ := newSession(t)
				long := time.Unix(at, 0) // otherwise git add reads the files again, and stores the missing objects
				for i := range many {
					r.write(fmt.Sprintf("d%d/f", i), fmt.Sprint(i))
					if err := os.Chtimes(r.path(fmt.Sprintf("d%d/f", i)), long, long); err != nil {
						t.Fatal(err)
					}
				}
				r.run("add", "-A")
				blob := r.run("rev-parse", ":d0/f")
				if committed {
					r.run("commit", "-q", "-m", "whole")
					for i := range many {
						r.write(fmt.Sprintf("d%d/g", i), "beside it")
					}
				}
				if err := os.Remove(filepath.Join(r.Git.CommonDir, "objects", blob[:2], blob[2:])); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Prepare(context.Background(), r.draft(""), documents); err == nil {
					t.Error("a checkpoint with a missing blob was made")
				}
			})
		}
	}
}

// TestCheckpointOfAStrangeGitmodules: git refuses a finished tree with a strange .gitmodules, but makes it from an
// index.
func TestCheckpointOfAStrangeGitmodules(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.write(".gitmodules", "[submodule \"../x\"]\n\tpath = x\n\turl = -u./payload\n")
	r.publish(r.prepare(d))
	r.wantClean()
	if got := r.files("HEAD"); got != "100644 .gitmodules\n100644 a.txt" {
		t.Errorf("commit holds\n%s", got)
	}
}

// TestTreesAreGits: the trees that wfs makes are those that git would make.
func TestTreesAreGits(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	ctx := context.Background()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 8).Draw(rt, "files") {
			part := rapid.SampledFrom([]string{"a", "a-b", "a.b", "a0", "é", "x y"})
			name := part.Draw(rt, "dir")
			if rapid.Bool().Draw(rt, "deep") {
				name += "/" + part.Draw(rt, "dir")
			}
			if st, err := os.Lstat(r.path(name)); err == nil && !st.IsDir() {
				os.Remove(r.path(name))
			}
			if st, err := os.Lstat(r.path(filepath.Dir(name))); err == nil && !st.IsDir() {
				os.Remove(r.path(filepath.Dir(name)))
			}
			n++
			r.write(name+"/file", fmt.Sprint(n))
		}
		if rapid.Bool().Draw(rt, "remove") {
			os.RemoveAll(r.path("a"))
		}
		r.run("add", "-A")
		data, err := os.ReadFile(r.Git.IndexPath())
		if err != nil {
			rt.Fatal(err)
		}
		x, ok := object.ParseIndex(data, 20)
		if !ok {
			rt.Fatal("index not parsed")
		}
		_, made, ok := r.Objects.TreesOf(x, nil)
		if !ok {
			rt.Fatal("trees not made")
		}
		if err := r.Objects.WriteObjects(ctx, made...); err != nil {
			rt.Fatal(err)
		}
		if want := r.run("write-tree"); x.Info().Tree != want {
			rt.Errorf("tree %s, git makes %s", x.Info().Tree, want)
		}
	})
}

func TestWriteObjectsFindsMissingOnes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	objects := []object.Object{r.Objects.NewObject("blob", []byte("x")), r.Objects.NewObject("blob", []byte("y"))}
	tree, err := r.Objects.NewTree([]object.Entry{{Mode: object.ModeFile, Name: "gone", ID: strings.Repeat("1", 40)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Objects.WriteObjects(context.Background(), append(objects, tree)...); err == nil {
		t.Error("a tree of a missing blob was stored")
	}
	if err := r.Objects.WriteObjects(context.Background(), append(objects, objects...)...); err != nil {
		t.Errorf("objects twice: %v", err)
	}
	if packs, err := r.Objects.PackFiles(); err != nil || len(packs) != 1 {
		t.Errorf("there are %d packs, %v", len(packs), err)
	}
	if kind := r.run("cat-file", "-t", objects[1].ID); kind != "blob" {
		t.Errorf("stored as %s", kind)
	}
}
