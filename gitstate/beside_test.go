package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A result in place is believed again only if all is as it was beside the tree: whatever is ignored or not tracked.
func TestBeside(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write(".gitignore", "build/\n.cache/\nlib/\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "rules")
	r.write("build/x", "one")
	beside := func() string {
		t.Helper()
		r.snapshot()
		digest, err := r.Beside(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	r.snapshot()
	r.open(r.root)
	if got, err := r.Beside(t.Context(), nil); got != "" || err != nil {
		t.Errorf("what another process has looked at says %q, %v", got, err)
	}
	first := beside()
	if _, ok := changeOf(mustStat(t, r.path("build/x"))); !ok {
		if first != "" {
			t.Errorf("%q, and this system does not tell when a file last changed", first)
		}
		return
	}
	if first == "" || first != beside() {
		t.Fatalf("%q, then %q", first, beside())
	}
	r.write(".cache/tool", "what a tool remembers")
	r.write("a.txt", "b\n") // what is in the tree is in another part of the key
	if got := beside(); got != first {
		t.Errorf("a cache and a tracked file changed it to %q", got)
	}
	r.write("build/x", "two")
	second := beside()
	r.write("build/y", "new")
	if third := beside(); first == second || second == third || second == "" || third == "" {
		t.Errorf("%q, edited %q, one more file %q", first, second, third)
	}
	r.write("lib/.git/HEAD", "ref: refs/heads/main\n")
	r.run("init", "-q", "lib")
	r.write("lib/code", "of somebody else")
	if got := beside(); got != "" {
		t.Errorf("with a repository in it: %q", got)
	}
}

// What a gate can see beside the tree is more than files: directories without any, and what links lead to.
func TestBesideDirectoriesAndLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lay, change func(r *testRepo)
		want        string // of the second look: another, same, unknown
	}{
		"an empty directory comes":            {nil, func(r *testRepo) { r.dir("spool") }, "another"},
		"an empty directory goes":             {func(r *testRepo) { r.dir("spool/deep") }, func(r *testRepo) { r.must(os.Remove(r.path("spool/deep"))) }, "another"},
		"an ignored one goes":                 {func(r *testRepo) { r.dir("out/x") }, func(r *testRepo) { r.must(os.Remove(r.path("out/x"))) }, "another"},
		"one beside tracked files comes":      {nil, func(r *testRepo) { r.dir("d/tmp") }, "another"},
		"one that lost its files goes":        {func(r *testRepo) { r.must(os.Remove(r.path("d/e/f"))) }, func(r *testRepo) { r.must(os.Remove(r.path("d/e"))) }, "another"},
		"a cache comes":                       {nil, func(r *testRepo) { r.dir("d/__pycache__/x") }, "same"},
		"below an ignored link":               {func(r *testRepo) { r.link("../common", "out") }, func(r *testRepo) { r.write("../common/sub/x", "edited") }, "another"},
		"below an untracked absolute link":    {func(r *testRepo) { r.link(r.path("../common"), "data") }, func(r *testRepo) { r.write("../common/sub/new", "new") }, "another"},
		"an empty directory below a link":     {func(r *testRepo) { r.link("../common", "data") }, func(r *testRepo) { r.dir("../common/sub/empty") }, "another"},
		"below a tracked link":                {func(r *testRepo) { r.link("../../common", "d/tracked"); r.commit() }, func(r *testRepo) { r.write("../common/sub/x", "edited") }, "another"},
		"what a tracked link leads to":        {func(r *testRepo) { r.link("../common/sub/x", "file"); r.commit() }, func(r *testRepo) { r.write("../common/sub/x", "edited") }, "another"},
		"below a link below a link":           {func(r *testRepo) { r.link("../other", "../common/on"); r.link("../common", "data") }, func(r *testRepo) { r.write("../other/x", "edited") }, "another"},
		"by way of another link":              {func(r *testRepo) { r.link("../common", "data"); r.link("data/sub", "way"); r.commit() }, func(r *testRepo) { r.write("../common/sub/x", "edited") }, "another"},
		"down and up again":                   {func(r *testRepo) { r.link("../common/sub", "data"); r.link("data/../../other", "way"); r.commit() }, func(r *testRepo) { r.write("../other/x", "edited") }, "another"},
		"below a link into a cache":           {func(r *testRepo) { r.write("out/.cache/x", "x"); r.link("out/.cache", "data") }, func(r *testRepo) { r.write("out/.cache/x", "edited") }, "another"},
		"below a link in .wfs":                {func(r *testRepo) { r.link("../../common", ".wfs/data") }, func(r *testRepo) { r.write("../common/sub/x", "edited") }, "another"},
		"beside what a link leads to":         {func(r *testRepo) { r.link("../common/sub", "data") }, func(r *testRepo) { r.write("../common/x", "new") }, "same"},
		"a tracked file that a link leads to": {func(r *testRepo) { r.link("../d", "out/d"); r.link("d", "way") }, func(r *testRepo) { r.write("d/g", "h") }, "same"},
		"a link to what is above":             {nil, func(r *testRepo) { r.link("..", "data") }, "unknown"},
		"a link to a repository":              {nil, func(r *testRepo) { r.run("init", "-q", "../common"); r.link("../common", "data") }, "unknown"},
		"a link that leads nowhere":           {func(r *testRepo) { r.link("../nowhere", "data") }, func(r *testRepo) { r.write("../nowhere/x", "x") }, "another"},
		"links in a circle": {func(r *testRepo) {
			r.link("b", "a")
			r.link("a", "b")
			r.link(".", "self")
			r.link("../common", "../common/self")
			r.link("../common", "data")
		}, func(*testRepo) {}, "same"},
		"below a submodule":     {func(r *testRepo) { r.submodule("sub") }, func(r *testRepo) { r.write("sub/new", "new") }, "another"},
		"a submodule as it was": {func(r *testRepo) { r.submodule("sub") }, func(r *testRepo) { r.run("-C", "sub", "gc", "-q") }, "same"},
	} {
		for _, asked := range []bool{false, true} {
			if asked && testing.Short() && !strings.HasPrefix(name, "an empty directory") {
				continue
			}
			t.Run(name+map[bool]string{true: ", by git"}[asked], func(t *testing.T) {
				t.Parallel()
				r, _ := newSession(t)
				r.write("../common/sub/x", "one")
				r.write("../other/x", "one")
				r.write(".gitignore", "out\n")
				r.write("d/e/f", "f")
				r.write("d/g", "g")
				r.commit()
				if asked { // the index does not say enough then
					r.run("update-index", "--assume-unchanged", "a.txt")
				}
				if c.lay != nil {
					c.lay(r)
				}
				if _, ok := changeOf(mustStat(t, r.path("a.txt"))); !ok {
					t.Skip("this system does not tell when a file last changed")
				}
				first := r.beside()
				if again := r.beside(); first == "" || again != first {
					t.Fatalf("%q, then %q", first, again)
				}
				c.change(r)
				switch second := r.beside(); {
				case c.want == "another" && second != "" && second != first, c.want == "same" && second == first, c.want == "unknown" && second == "":
				default:
					t.Errorf("%q, changed %q, want %s", first, second, c.want)
				}
			})
		}
	}
}

func (r *testRepo) dir(name string) {
	r.t.Helper()
	r.must(os.MkdirAll(r.path(name), 0o755))
}

func (r *testRepo) link(to, name string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	r.must(os.Symlink(filepath.FromSlash(to), r.path(name)))
}

func (r *testRepo) commit() {
	r.t.Helper()
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "all")
}

func (r *testRepo) submodule(name string) {
	r.t.Helper()
	lib := newRepo(r.t)
	r.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.root, name)
	r.run("commit", "-q", "-m", name)
}

// beside looks at the work tree and returns the digest of what lies beside the tree.
func (r *testRepo) beside() string {
	r.t.Helper()
	r.snapshot()
	digest, err := r.Beside(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return digest
}
