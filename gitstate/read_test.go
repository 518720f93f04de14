package gitstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// TestReads: depending on how a repository is stored, wfs and go-git read it, or git does. Both must give the same
// result.
func TestReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, kind := range []string{"loose", "packed", "sha256", "alternates", "sparse", "stranger"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var args []string
			if kind == "sha256" {
				args = []string{"--object-format=sha256"}
			}
			r := newRepo(t, args...)
			r.write("session.json", "{}")
			r.write("empty", "")
			r.run("add", ".")
			r.run("commit", "-q", "-m", "Two\nlines\n\nbody\n\nWfs-X: 1\n")
			tip := r.head()
			r.run("update-ref", "refs/wfs/auth/ledger", string(tip))
			r.run("update-ref", "refs/wfs/csv-2/ledger", "HEAD^")
			r.run("update-ref", "refs/wfs/csv-2/rescue/1", "HEAD")
			r.run("update-ref", "refs/wfs/Not-A-Slug/ledger", "HEAD")
			r.run("branch", "feature/one")
			direct := true
			switch kind {
			case "packed":
				r.run("gc", "-q")
				r.run("update-ref", "refs/wfs/auth/ledger", "HEAD^") // a loose ref overrides a packed one
				r.run("update-ref", "refs/wfs/auth/ledger", "HEAD")
			case "alternates":
				old := r.Git.Root
				r.run("clone", "-q", "--shared", "--mirror", ".", filepath.Join(r.home, "shared", ".git"))
				r.Git.Root = filepath.Join(r.home, "shared")
				r.run("config", "core.bare", "false")
				r.run("config", "user.name", old)
				r.run("reset", "-q", "--hard")
				direct = false
			case "sparse":
				r.run("sparse-checkout", "set", "in")
			case "stranger":
				// A repository that neither wfs nor go-git may assume to understand, but this git happens to.
				r.run("config", "core.repositoryFormatVersion", "0")
				r.run("config", "extensions.somethingNew", "true")
				direct = false
			case "sha256":
				direct = false
			}
			r.open(r.Git.Root)
			if got := r.Git.ReadsDirectly(); got != direct {
				t.Errorf("reads directly: %v", got)
			}
			head, err := r.Refs.Head(ctx)
			if err != nil || head != (session.Head{Ref: "refs/heads/main", Commit: tip}) {
				t.Errorf("head: %+v, %v", head, err)
			}
			first := session.Commit(r.run("rev-parse", "HEAD^"))
			sessions, err := r.Refs.Sessions(ctx)
			if err != nil || !maps.Equal(sessions, map[session.ID]session.Commit{"auth": tip, "csv-2": first}) {
				t.Errorf("sessions: %v, %v", sessions, err)
			}
			branches, err := r.Refs.Branches(ctx)
			if err != nil || !maps.Equal(branches,
				map[string]session.Commit{"refs/heads/main": tip, "refs/heads/feature/one": tip}) {
				t.Errorf("branches: %v, %v", branches, err)
			}
			for ref, want := range map[string]session.Commit{"refs/heads/main": tip, "refs/heads/feature": "",
				"refs/heads/none":       "",
				"refs/heads/main/below": "", "refs/wfs/csv-2/ledger": first, "refs/wfs/csv-2": ""} {
				if got, err := r.Refs.Ref(ctx, ref); err != nil || got != want {
					t.Errorf("%s: %q, %v", ref, got, err)
				}
			}
			for name, want := range map[string][]byte{"session.json": []byte("{}"), "empty": {}, "none": nil} {
				got, err := r.Objects.File(ctx, tip, name)
				if err != nil || string(got) != string(want) || (got == nil) != (want == nil) {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			tree, err := r.Objects.TreeOf(ctx, tip)
			if err != nil || string(tree) != r.run("rev-parse", "HEAD^{tree}") {
				t.Errorf("tree: %s, %v", tree, err)
			}
			info, err := r.Objects.CommitInfo(ctx, tip)
			if err != nil || info.Subject != "Two lines" || info.Body != "body\n\nWfs-X: 1\n" || info.At != at ||
				!slices.Equal(info.Parents, []session.Commit{first}) {
				t.Errorf("info: %+v, %v", info, err)
			}
			for _, rev := range []string{"main", "HEAD", tip.Short(), string(tip)} {
				if got, err := r.Objects.Resolve(ctx, rev); err != nil || got != tip {
					t.Errorf("%s is %s, %v", rev, got, err)
				}
			}
			if _, err := r.Objects.Resolve(ctx, "-rf"); !errors.Is(err, object.ErrNoRevision) {
				t.Errorf("a name that is none: %v", err)
			}
			for _, tt := range []struct {
				a, b session.Commit
				want bool
			}{{first, tip, true}, {tip, first, false}, {tip, tip, true}} {
				if got, err := r.Objects.IsAncestor(ctx, tt.a, tt.b); err != nil || got != tt.want {
					t.Errorf("ancestor: %v, %v", got, err)
				}
			}
			changes, err := r.Objects.Changes(ctx, "", tree)
			if err != nil || fmt.Sprint(changes) != "[{a.txt A} {empty A} {session.json A}]" {
				t.Errorf("changes: %v, %v", changes, err)
			}
			missing := session.Commit(strings.Repeat("1", r.Objects.IDLength()))
			if _, err := r.Objects.File(ctx, missing, "session.json"); !errors.Is(err, object.ErrNoObject) {
				t.Errorf("a file of a missing commit: %v", err)
			}
			for c, want := range map[session.Commit]bool{tip: true, missing: false} {
				if got, err := r.Objects.Exists(ctx, c); err != nil || got != want {
					t.Errorf("%s exists: %v, %v", c, got, err)
				}
			}
		})
	}
}

func TestLedgers(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	if list, err := r.Refs.Ledgers(ctx, "auth"); err != nil || len(list) != 0 {
		t.Errorf("of no session: %v, %v", list, err)
	}
	code := string(r.head())
	var want []session.LedgerCommit
	tip := ""
	for n, message := range []string{"born\n\nWfs-Ledger-Code: " + code + "\n", "moved\n",
		"second\n\nWfs-Ledger-Code: " + code + "\n"} {
		args := []string{"commit-tree", "-m", message}
		if n > 0 {
			args = append(args, "-p", tip)
		}
		if n != 1 {
			args = append(args, "-p", code)
		}
		tip = r.run(append(args, "HEAD^{tree}")...)
		subject, _, _ := strings.Cut(message, "\n")
		want = append([]session.LedgerCommit{{Commit: session.Commit(tip), At: at, Subject: subject}}, want...)
	}
	r.run("update-ref", "refs/wfs/auth/ledger", tip)
	if got, err := r.Refs.Ledgers(ctx, "auth"); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestDocuments: a document that a commit does not have is nil; one whose object is missing is an error.
func TestDocuments(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	commits := []session.Commit{r.head()}
	for _, text := range []string{"one", ""} {
		r.write("doc", text)
		r.run("add", ".")
		r.run("commit", "-q", "-m", "next")
		commits = append(commits, r.head())
	}
	got, err := r.Refs.Documents(ctx, commits, "doc")
	if err != nil || len(got) != 3 || got[0] != nil || string(got[1]) != "one" || got[2] == nil || len(got[2]) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	id := r.run("rev-parse", "HEAD^:doc")
	if err := os.Remove(filepath.Join(r.Git.CommonDir, "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Refs.Documents(ctx, commits, "doc"); err == nil {
		t.Errorf("a missing object is read as %q", got)
	}
}

// TestReadsSurviveGC: an open object store does not notice changes by gc.
func TestReadsSurviveGC(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	n := 0
	read := func() {
		t.Helper()
		n++
		r.write("doc", fmt.Sprint(n))
		r.run("add", ".")
		r.run("commit", "-q", "-m", "next")
		if got, err := r.Objects.File(ctx, r.head(), "doc"); err != nil || string(got) != r.read("doc") {
			t.Errorf("%q, %v", got, err)
		}
	}
	read()
	for range 3 {
		r.run("repack", "-qad")
		r.run("pack-refs", "--all", "--prune")
		if got, err := r.Objects.File(ctx, r.head(), "doc"); err != nil || string(got) != r.read("doc") {
			t.Errorf("after a repack: %q, %v", got, err)
		}
		read()
		r.run("gc", "-q", "--prune=now")
		if got, err := r.Objects.File(ctx, r.head(), "doc"); err != nil || string(got) != r.read("doc") {
			t.Errorf("after gc: %q, %v", got, err)
		}
	}
}

func TestDamageIsNotAbsence(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, content := range map[string]string{"empty": "", "zeros": "\x00\x00", "short": "1234\n",
		"text": "hello\n", "circle": "ref: refs/wfs/bad/ledger\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.run("update-ref", "refs/wfs/good/ledger", "HEAD")
			r.write(".git/refs/wfs/bad/ledger", content)
			if c, err := r.Refs.Ref(ctx, "refs/wfs/bad/ledger"); !errors.Is(err, refs.ErrBrokenRef) {
				t.Errorf("%q, %v", c, err)
			}
			sessions, err := r.Refs.Sessions(ctx)
			if !errors.Is(err, refs.ErrBrokenRef) || len(sessions) != 1 || sessions["good"] == "" {
				t.Errorf("sessions: %v, %v", sessions, err)
			}
			r.write(".git/HEAD", "ref: refs/wfs/bad/ledger\n")
			if head, err := r.Refs.Head(ctx); !errors.Is(err, refs.ErrBrokenRef) {
				t.Errorf("head: %v, %v", head, err)
			}
		})
	}
	t.Run("objects", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		blob := r.run("rev-parse", "HEAD:a.txt")
		file := r.path(".git/objects/" + blob[:2] + "/" + blob[2:])
		other := newRepo(t)
		other.write("b", "b\n")
		id := other.run("hash-object", "-w", "b")
		data := other.read(".git/objects/" + id[:2] + "/" + id[2:])
		if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
		// go-git would return the wrong content.
		if got, err := r.Objects.File(ctx, r.head(), "a.txt"); err == nil {
			t.Errorf("read %q out of a damaged object", got)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Objects.Exists(ctx, r.head()); err != nil || got {
			t.Errorf("a commit without its file exists: %v, %v", got, err)
		}
		if got, err := r.Objects.File(ctx, r.head(), "a.txt"); !errors.Is(err, object.ErrNoObject) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestHeadStates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	tip := r.head()
	r.run("checkout", "-q", "--detach")
	if head, err := r.Refs.Head(ctx); err != nil || head != (session.Head{Commit: tip}) {
		t.Errorf("detached: %+v, %v", head, err)
	}
	r.run("checkout", "-q", "--orphan", "fresh")
	if head, err := r.Refs.Head(ctx); err != nil || head != (session.Head{Ref: "refs/heads/fresh"}) {
		t.Errorf("unborn: %+v, %v", head, err)
	}
	r.run("checkout", "-q", "-f", "main")
	linked, top := filepath.Join(r.home, "linked"), r.Root()
	r.run("worktree", "add", "-q", "-b", "other", linked)
	if path, err := r.ElsewhereOn(ctx, "refs/heads/other"); err != nil || filepath.Base(path) != "linked" {
		t.Errorf("checked out in %q, %v", path, err)
	}
	r.open(linked)
	if head, err := r.Refs.Head(ctx); err != nil || head != (session.Head{Ref: "refs/heads/other", Commit: tip}) {
		t.Errorf("linked: %+v, %v", head, err)
	}
	if path, err := r.ElsewhereOn(ctx, "refs/heads/other"); err != nil || path != "" {
		t.Errorf("checked out elsewhere: %q, %v", path, err)
	}
	if path, err := r.ElsewhereOn(ctx, "refs/heads/main"); err != nil || path != top {
		t.Errorf("main is checked out in %q, %v", path, err)
	}
}

func TestInProgress(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	r.run("checkout", "-q", "-b", "side")
	r.write("a.txt", "side\n")
	r.run("commit", "-q", "-am", "side")
	r.run("checkout", "-q", "main")
	r.write("a.txt", "main\n")
	r.run("commit", "-q", "-am", "main")
	check := func(want string) {
		t.Helper()
		if got, err := r.InProgress(ctx); err != nil || got != want {
			t.Errorf("in progress: %q, %v, want %q", got, err, want)
		}
	}
	check("")
	for _, op := range []struct{ name, start, abort string }{
		{"merge", "merge side", "merge --abort"},
		{"rebase", "rebase side", "rebase --abort"},
		{"rebase", "rebase --apply side", "rebase --abort"},
		{"cherry-pick", "cherry-pick side", "cherry-pick --abort"},
		{"revert", "revert --no-edit side", "revert --abort"},
		{"bisect", "bisect start", "bisect reset"},
	} {
		if out, err := r.try(strings.Fields(op.start)...); err == nil && op.name != "bisect" {
			t.Fatalf("%s went through: %s", op.start, out)
		}
		check(op.name)
		branch, err := r.Refs.BranchOf(ctx)
		if err != nil || branch != "refs/heads/main" {
			t.Errorf("%s: on branch %q, %v", op.start, branch, err)
		}
		r.run(strings.Fields(op.abort)...)
		check("")
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "*.log\nout/\n")
	r.write("x.log", "")
	r.write("out/a/b", "")
	r.write("new", "")
	got, err := r.Settings.Ignored(context.Background())
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"out/", "x.log"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDiffTo(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	from := r.head()
	r.write("a.txt", "b\n")
	r.run("commit", "-q", "-am", "b")
	r.run("config", "diff.external", "false")
	r.run("config", "color.ui", "always")
	for want, o := range map[string]object.DiffOptions{"+b\n": {}, "1 file changed": {Stat: true},
		"a.txt\n": {NameOnly: true}, "\x1b[": {Color: true}} {
		var out strings.Builder
		if err := r.Objects.DiffTo(ctx, string(from), "HEAD", o, &out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%+v: %q, %v", o, out.String(), err)
		}
		if !o.Color && strings.Contains(out.String(), "\x1b") {
			t.Errorf("%+v: colours that nobody asked for", o)
		}
	}
	if err := r.Objects.DiffTo(ctx, "no-such", "HEAD", object.DiffOptions{}, &strings.Builder{}); err == nil {
		t.Error("a diff of nothing")
	}
}

// TestIgnoredNamesWhatRulesMatch: an ignored path stays ignored for the session, so a directory must not be listed just
// because all files in it are ignored now.
func TestIgnoredNamesWhatRulesMatch(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "*.log\nout/\n/deep/**\n")
	r.write("only/x.log", "1")
	r.write("only/deeper/still/y.log", "2")
	r.write("mixed/x.log", "3")
	r.write("mixed/new.txt", "4")
	r.write("out/a/b", "5")
	r.write("deep/er/f", "6")
	r.write("odd \n/x.log", "7")
	got, err := r.Settings.Ignored(context.Background())
	slices.Sort(got)
	want := []string{"deep/er/", "mixed/x.log", "odd \n/x.log", "only/deeper/still/y.log", "only/x.log", "out/"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ignored: %q, %v", got, err)
	}
}

// TestRefWhereADirectoryGoes: a directory in the place of a ref may disappear at any moment, because git removes it as
// soon as it is empty. The ref does not exist then.
func TestRefWhereADirectoryGoes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	dir := r.path(".git/refs/heads/wfs")
	done := make(chan struct{})
	var gone sync.WaitGroup
	gone.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = os.Mkdir(dir, 0o755)
				_ = os.Remove(dir)
			}
		}
	})
	for range 3000 {
		if _, c, err := r.Refs.ReadRef("refs/heads/wfs"); err != nil || c != "" {
			t.Errorf("%q, %v", c, err)
			break
		}
	}
	close(done)
	gone.Wait()
}
