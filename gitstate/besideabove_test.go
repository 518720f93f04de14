package gitstate

import (
	"os"
	"testing"
)

// What tools find above the work tree, what builders are told to read there, and tags count for a gate as well.
func TestBesideAbove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lay, change func(r *testRepo)
		same        bool
	}{
		"a workspace comes":      {nil, func(r *testRepo) { r.write("../go.work", "go 1.24\n") }, false},
		"settings are edited":    {func(r *testRepo) { r.write("../../pytest.ini", "one") }, func(r *testRepo) { r.write("../../pytest.ini", "two") }, false},
		"something else comes":   {nil, func(r *testRepo) { r.write("../letter", "x") }, true},
		"what is included":       {func(r *testRepo) { r.write("Makefile", "include ../conf.mk\n"); r.commit() }, func(r *testRepo) { r.write("../conf.mk", "V=2\n") }, false},
		"what is included below": {func(r *testRepo) { r.write("d/rules.mk", "include ../../conf.mk\n"); r.commit() }, func(r *testRepo) { r.write("../conf.mk", "V=2\n") }, false},
		"what make goes to": {func(r *testRepo) {
			r.write("Makefile", "all:\n\tmake -C ../lib\n")
			r.write("../lib/a", "1")
			r.commit()
		}, func(r *testRepo) { r.write("../lib/b", "1") }, false},
		"what leads on": {func(r *testRepo) {
			r.write("Makefile", "all:\n\tmake -C ../lib\n")
			r.link("../more", "../lib/on")
			r.commit()
		}, func(r *testRepo) { r.write("../more/b", "1") }, false},
		"a tag comes":          {nil, func(r *testRepo) { r.run("tag", "v1") }, false},
		"a tag goes elsewhere": {func(r *testRepo) { r.run("tag", "v1"); r.run("pack-refs", "--all") }, func(r *testRepo) { r.run("tag", "-f", "v1", "HEAD^{tree}") }, false},
		"a tag goes":           {func(r *testRepo) { r.run("tag", "v1") }, func(r *testRepo) { r.run("tag", "-d", "v1") }, false},
		"tags are packed":      {func(r *testRepo) { r.run("tag", "-m", "x", "v1") }, func(r *testRepo) { r.run("pack-refs", "--all") }, true},
		"a branch comes":       {nil, func(r *testRepo) { r.run("branch", "x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newSession(t)
			if _, ok := changeOf(mustStat(t, r.path("a.txt"))); !ok {
				t.Skip("this system does not tell when a file last changed")
			}
			digests := func() (in, clean string) {
				t.Helper()
				s := r.snapshot()
				in, err := r.Beside(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				c, err := r.CleanTree(t.Context(), r.home+"/state/clean/repo", s.Tree, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				return in, c.Digest
			}
			if c.lay != nil {
				c.lay(r)
			}
			in, clean := digests()
			if again, cleanAgain := digests(); in == "" || clean == "" || again != in || cleanAgain != clean {
				t.Fatalf("in place %q, then %q; clean %q, then %q", in, again, clean, cleanAgain)
			}
			c.change(r)
			now, cleanNow := digests()
			if now == "" || (now == in) != c.same {
				t.Errorf("in place %q, changed %q", in, now)
			}
			_, inner := os.Stat(r.path("Makefile"))
			if _, rules := os.Stat(r.path("d/rules.mk")); inner == nil || rules == nil { // the clean tree has nothing of that beside it
				return
			}
			if cleanNow == "" || (cleanNow == clean) != c.same {
				t.Errorf("clean %q, changed %q", clean, cleanNow)
			}
		})
	}
}
