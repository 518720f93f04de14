package gitstate

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// TestSubmodulesAreCompared: whatever an agent writes to .gitmodules or the configuration, a submodule's new commit is
// a change like any other.
func TestSubmodulesAreCompared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, lay := range map[string]func(r *testRepo){
		"a .gitmodules with a conflict": func(r *testRepo) { r.write(".gitmodules", "<<<<<<< HEAD\n[submodule \"sub\"]\n") },
		"ignore in .gitmodules": func(r *testRepo) {
			r.run("config", "-f", ".gitmodules", "submodule.sub.ignore",
				"all")
		},
		"ignore in the configuration": func(r *testRepo) { r.run("config", "submodule.sub.ignore", "all") },
		"all submodules":              func(r *testRepo) { r.run("config", "diff.ignoreSubmodules", "all") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.submodule("sub")
			first := r.head()
			r.run("-C", "sub", "commit", "-q", "--allow-empty", "-m", "there")
			r.commit()
			second := r.head()
			r.run("branch", "side", string(first))
			lay(r)
			r.run("-C", "sub", "commit", "-q", "--allow-empty", "-m", "further")

			from, to := session.Tree(r.run("rev-parse", string(first)+"^{tree}")), session.Tree(r.run("rev-parse",
				string(second)+"^{tree}"))
			if changes, err := r.Objects.Changes(ctx, from, to); err != nil || len(changes) != 1 || changes[0].Path != "sub" {
				t.Errorf("changes: %v, %v", changes, err)
			}
			for _, o := range []object.DiffOptions{{}, {Stat: true}, {NameOnly: true}} {
				var out bytes.Buffer
				if err := r.Objects.DiffTo(ctx, string(first), string(second), o, &out); err != nil ||
					!strings.Contains(out.String(), "sub") {
					t.Errorf("diff %+v: %q, %v", o, &out, err)
				}
			}
			if how, err := r.HasChanges(ctx, second, "refs/heads/side"); err != nil || how != handover.FateNowhere {
				t.Errorf("its fate: %q, %v", how, err)
			}
			if n, err := r.Dirty(ctx); err != nil || n == 0 {
				t.Errorf("dirty: %d, %v", n, err)
			}
			parent, err := r.Files.IndexOfTree(ctx, from)
			now, err2 := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
			if d := r.Files.DeletedFrom(parent, now); err != nil || err2 != nil || d != nil {
				t.Errorf("deleted: %v, %v, %v", d, err, err2)
			}
		})
	}
}

// TestMovedSubmodule: a submodule whose directory was moved by hand is left out and reported; a snapshot has everything
// else.
func TestMovedSubmodule(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.submodule("sm")
	r.must(os.Rename(r.path("sm"), r.path("dir")))
	r.write("a.txt", "edited\n")
	if s := r.snapshot(); r.treeFiles(s.Tree)["a.txt"] != "edited\n" || !strings.Contains(paths(s.Skipped), "dir") {
		t.Errorf("%+v", s)
	}
	r.must(os.Rename(r.path("dir"), r.path("sm")))
	if s := r.snapshot(); len(s.Skipped) > 0 {
		t.Errorf("back in its place: %+v", s.Skipped)
	}
}
