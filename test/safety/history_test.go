package safety

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBar12HistoryGuard damages the session's branch, the index and the files as agents and accidents do, and then
// makes a checkpoint. The checkpoint builds on the existing commits, or is refused with a command to type and
// succeeds after that: there is never a root commit, the branch only goes forward, and the old tip is always below
// refs/wfs/. A checkpoint that deletes most of the files is flagged.
func TestBar12HistoryGuard(t *testing.T) {
	t.Parallel()
	const branch = ".git/refs/heads/wfs/one"
	many := func(f *fixture) {
		for _, n := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16") {
			f.write("src/"+n, n+"\n")
		}
		f.ok("wfs", "checkpoint", "-m", "many files")
	}
	rows := []struct {
		name    string
		do      func(f *fixture)
		refuses string // a text in the refusal; then the hint is typed
		hint    string
		flagged bool
		adopts  string // a commit that must be in the branch afterwards
	}{
		{name: "an emptied branch", do: func(f *fixture) { f.write(branch, "") }, refuses: "damaged", hint: "wfs doctor"},
		{name: "a truncated branch", do: func(f *fixture) { f.write(branch, f.ok("git", "rev-parse", "wfs/one")[:20]) }, refuses: "damaged", hint: "wfs doctor"},
		{name: "a branch of zeros", do: func(f *fixture) { f.write(branch, strings.Repeat("0", 40)+"\n") }, refuses: "damaged", hint: "wfs doctor"},
		{name: "a deleted branch", do: func(f *fixture) { f.ok("git", "update-ref", "-d", "refs/heads/wfs/one") }, refuses: "is gone", hint: "git branch"},
		{name: "a branch whose file is gone", do: func(f *fixture) { f.remove(branch) }, refuses: "is gone", hint: "git branch"},
		{name: "an emptied index", do: func(f *fixture) { f.ok("git", "read-tree", "--empty") }},
		{name: "an index that is gone", do: func(f *fixture) { f.remove(".git/index") }},
		{name: "an index of no bytes", do: func(f *fixture) { f.write(".git/index", "") }, refuses: "the index is damaged", hint: "mv .git/index"},
		{name: "reset --hard HEAD~5", do: func(f *fixture) {
			for _, n := range strings.Fields("a b c d e") {
				f.write("step", n)
				f.ok("wfs", "checkpoint")
			}
			f.ok("git", "reset", "-q", "--hard", "HEAD~5")
		}},
		{name: "reset --hard to the base", do: func(f *fixture) { f.ok("git", "reset", "-q", "--hard", "main") }},
		{name: "amended", do: func(f *fixture) { f.ok("git", "commit", "-q", "--amend", "-m", "mine now") }, adopts: "mine now"},
		{name: "an orphan in its place", do: func(f *fixture) {
			f.ok("git", "update-ref", "refs/heads/wfs/one", f.ok("git", "commit-tree", "-m", "orphan", "HEAD^{tree}"))
		}, adopts: "orphan"},
		{name: "rm -rf of most files", do: func(f *fixture) { many(f); f.remove("src") }, flagged: true},
		{name: "git rm of most files", do: func(f *fixture) { many(f); f.ok("git", "rm", "-r", "-q", "src") }, flagged: true},
		{name: "rm -rf and an emptied index", do: func(f *fixture) { many(f); f.remove("src"); f.ok("git", "read-tree", "--empty") }, flagged: true},
	}
	roots := 0
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := plainTemplate.fixture(t)
			f.write("edited.txt", "edited, and nowhere else\n")
			old := f.ok("git", "rev-parse", "wfs/one")
			main := f.ok("git", "rev-list", "--max-parents=0", "main")
			row.do(f)
			if now, exit := f.try(nil, "git", "rev-parse", "-q", "--verify", "wfs/one~0"); exit == 0 && f.isBefore(old, strings.TrimSpace(now)) {
				old = strings.TrimSpace(now)
			}
			before := f.onDiskBlobs()
			out, exit := f.try(nil, "wfs", "checkpoint", "-m", "after it")
			if row.refuses != "" {
				if exit == exitOK || !strings.Contains(out, row.refuses) || !strings.Contains(out, "hint: "+row.hint) {
					t.Fatalf("exit %d: %s", exit, out)
				}
				_, hint, _ := strings.Cut(out, "hint: ")
				hint, _, _ = strings.Cut(hint, "\n")
				hint, _, _ = strings.Cut(hint, " (")
				if hint == "wfs doctor" { // doctor prints the ledger's commit; a person has to restore the branch
					if out, exit := f.try(nil, "wfs", "doctor"); exit == exitOK || !strings.Contains(out, "wfs/one") {
						t.Errorf("exit %d: %s", exit, out)
					}
					f.write(branch, old+"\n")
				} else {
					f.ok("sh", "-c", hint)
				}
				out, exit = f.try(nil, "wfs", "checkpoint", "-m", "after it")
			}
			if exit != exitOK {
				t.Fatalf("exit %d: %s", exit, out)
			}
			if row.flagged != strings.Contains(out, "deletes") {
				t.Errorf("flagged: %v, want %v: %s", !row.flagged, row.flagged, out)
			}
			if log := strings.Fields(f.ok("git", "for-each-ref", "--format=%(refname)", "--contains", old, "refs/wfs")); len(log) == 0 {
				t.Errorf("the old tip %s is below no ref of refs/wfs", old)
			}
			if !f.isBefore(old, "wfs/one") && row.adopts == "" {
				t.Errorf("%s is not in the branch:\n%s", old, f.ok("git", "log", "--oneline", "--graph", "wfs/one"))
			}
			for _, root := range strings.Fields(f.ok("git", "rev-list", "--max-parents=0", "--grep=Wfs-Session", "wfs/one")) {
				if root != main {
					roots++
					t.Errorf("a root commit of ours: %s", root)
				}
			}
			if row.adopts != "" && f.ok("git", "log", "--format=%h", "--grep="+row.adopts, "wfs/one") == "" {
				t.Errorf("%q is not in the branch", row.adopts)
			}
			reachable := f.reachable()
			for id, name := range before {
				if !reachable[id] {
					t.Errorf("%s is in no ref", name)
				}
			}
			f.sound()
		})
	}
	t.Logf("%d cases, %d root commits", len(rows), roots)
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) isBefore(a, b string) bool {
	_, exit := f.try(nil, "git", "merge-base", "--is-ancestor", a, b)
	return exit == 0
}

// onDiskBlobs returns the files in the work tree that git does not ignore, by blob id.
func (f *fixture) onDiskBlobs() map[string]string {
	ids := map[string]string{}
	for name, what := range onDisk(f.t, f.dir) {
		if what[0] == '-' && !strings.HasPrefix(what, "-> ") && !strings.HasSuffix(name, ".ignored") {
			ids[f.ok("git", "hash-object", "--", name)] = name
		}
	}
	return ids
}
