package gitstate

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A gate sees more of tracked files than their tree says, and the same files are the same to it whenever they were written.
func TestBesideTracked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxFiltered)
	mark := func(how string) func(r *testRepo) {
		return func(r *testRepo) { r.run("update-index", "--"+how, "d/f") }
	}
	attribute := func(line, content string) func(r *testRepo) {
		return func(r *testRepo) {
			r.run("config", "filter.one.clean", "sed s/.*/one/")
			r.run("config", "filter.one.smudge", "cat")
			r.write(".gitattributes", line+"\n")
			r.write("d/f", content)
			r.commit()
		}
	}
	write := func(content string) func(r *testRepo) {
		return func(r *testRepo) { r.write("d/f", content) }
	}
	mode := func(m os.FileMode) func(r *testRepo) {
		return func(r *testRepo) { r.must(os.Chmod(r.path("d/f"), m)) }
	}
	for name, c := range map[string]struct {
		lay, change func(r *testRepo)
		same        bool
	}{
		"assumed unchanged":     {mark("assume-unchanged"), write("2"), false},
		"assumed, and deleted":  {mark("assume-unchanged"), func(r *testRepo) { r.remove(r.path("d/f")) }, false},
		"skipped":               {mark("skip-worktree"), write("2"), false},
		"line ends":             {attribute("f text=auto", "one\r\ntwo\r\n"), write("one\ntwo\n"), false},
		"a filter":              {attribute("f filter=one", "ONE\n"), write("TWO\n"), false},
		"a filter of one's own": {func(r *testRepo) { attribute("", "ONE\n")(r); r.write(".git/info/attributes", "f filter=one\n") }, write("TWO\n"), false},
		"a filter for all": {func(r *testRepo) {
			attribute("", "ONE\n")(r)
			r.write("../.config/git/attributes", "f filter=one\n")
		}, write("TWO\n"), false},
		"a filter somewhere": {func(r *testRepo) {
			attribute("", "ONE\n")(r)
			r.run("config", "core.attributesFile", "at")
			r.write("at", "f filter=one\n")
		}, write("TWO\n"), false},
		"a filter, long":         {attribute("f filter=one", long+"1\n"), write(long + "2\n"), false},
		"an id":                  {attribute("f ident", "$Id: 1 $\n"), write("$Id: 2 $\n"), false},
		"no longer executable":   {func(r *testRepo) { r.run("config", "core.fileMode", "false"); mode(0o755)(r) }, mode(0o644), false},
		"nobody else's":          {nil, mode(0o600), false},
		"written again":          {nil, write("1"), true},
		"made again, filtered":   {attribute("f filter=one", "ONE\n"), write("ONE\n"), true},
		"made again, line ends":  {attribute("f text=auto", "one\r\n"), write("one\r\n"), true},
		"made again, executable": {mode(0o755), func(r *testRepo) { r.remove(r.path("d/f")); write("1")(r); mode(0o755)(r) }, true},
	} {
		for _, asked := range []bool{false, true} {
			if asked && testing.Short() && c.same {
				continue
			}
			t.Run(name+map[bool]string{true: ", by git"}[asked], func(t *testing.T) {
				t.Parallel()
				r, _ := newSession(t)
				if _, ok := changeOf(mustStat(t, r.path("a.txt"))); !ok {
					t.Skip("this system does not tell when a file last changed")
				}
				r.write("d/f", "1")
				r.write("e/g", "1")
				r.commit()
				if asked { // the index does not say enough then
					r.run("update-index", "--assume-unchanged", "a.txt")
				}
				if c.lay != nil {
					c.lay(r)
				}
				first := r.beside()
				if again := r.beside(); first == "" || again != first {
					t.Fatalf("%q, then %q", first, again)
				}
				if c.same {
					past := time.Now().Add(-time.Hour)
					r.must(os.Chtimes(r.path("d/f"), past, past))
				}
				c.change(r)
				second := r.beside()
				if second == "" || (second == first) != c.same {
					t.Errorf("%q, changed %q", first, second)
				}
				if again := r.beside(); again != second {
					t.Errorf("changed it is %q, then %q", second, again)
				}
			})
		}
	}
}
