package phases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Whatever is added, and wherever it stands, a test that was there is read, to its end.
func TestTamperedIsReadWhole(t *testing.T) {
	t.Parallel()
	const test = "def test_mul():\n    assert mul(2, 3) == 6\n"
	weak := strings.Replace(test, "mul(2, 3) == 6", "True", 1)
	many := map[string]string{"tests/test_mul.py": weak}
	for i := range 2400 {
		many[fmt.Sprintf("tests/a/%d.txt", i)] = ""
	}
	pad := strings.Repeat("# "+strings.Repeat("x", 1022)+"\n", 1030)
	for name, tc := range map[string]struct {
		frozen, now map[string]string
		kind        string
	}{
		"many new files beside it": {map[string]string{"tests/test_mul.py": test}, many, "test_emptied"},
		"behind a megabyte":        {map[string]string{"test_mul.py": pad + test}, map[string]string{"test_mul.py": pad + weak}, "test_emptied"},
		"as it was":                {map[string]string{"test_mul.py": pad + test}, map[string]string{"test_mul.py": test}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lab{t: t, snaps: map[session.Tree]map[string]string{"frozen": tc.frozen, "now": tc.now}}
			j := &Judge{Changes: l.changes, Show: func(_ context.Context, tree session.Tree, path string) ([]byte, error) {
				return []byte(l.snaps[tree][path]), nil
			}}
			rep, err := j.tampered(t.Context(), session.JudgeRequest{Frozen: "frozen", Tree: "now", Plan: workflows.Plan{}})
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]bool{}
			for _, f := range rep.Findings {
				kinds[string(f.Kind)] = f.Grave
			}
			if got := strings.Join(slices.Sorted(maps.Keys(kinds)), " "); got != tc.kind {
				t.Errorf("found %q, want %q", got, tc.kind)
			}
		})
	}
}

// A test that is a link is what it leads to, in both trees.
func TestTamperedFollowsLinks(t *testing.T) {
	t.Parallel()
	const test = "def test_mul():\n    assert mul(2, 3) == 6\n"
	weak := strings.Replace(test, "mul(2, 3) == 6", "True", 1)
	type files = map[string]string
	for name, tc := range map[string]struct {
		base, frozen, now, links files
		want                     string
	}{
		"what it leads to":           {frozen: files{"test_mul.py": "lib/mul.txt", "lib/mul.txt": test}, now: files{"test_mul.py": "lib/mul.txt", "lib/mul.txt": weak}, links: files{"test_mul.py": "lib/mul.txt"}, want: "test_emptied lib/mul.txt"},
		"over two links":             {frozen: files{"t/test_mul.py": "../l/mul.txt", "l": "lib", "lib/mul.txt": test}, now: files{"t/test_mul.py": "../l/mul.txt", "l": "lib", "lib/mul.txt": weak}, links: files{"t/test_mul.py": "../l/mul.txt", "l": "lib"}, want: "test_emptied lib/mul.txt"},
		"in a circle":                {frozen: files{"test_mul.py": "a", "a": "test_mul.py", "x": "1"}, now: files{"test_mul.py": "a", "a": "test_mul.py", "x": "2"}, links: files{"test_mul.py": "a", "a": "test_mul.py"}},
		"out of the tree":            {frozen: files{"test_mul.py": "../x", "x": "1"}, now: files{"test_mul.py": "../x", "x": "2"}, links: files{"test_mul.py": "../x"}},
		"it leads elsewhere":         {frozen: files{"test_mul.py": "a.txt", "a.txt": test, "b.txt": weak}, now: files{"test_mul.py": "b.txt", "a.txt": test, "b.txt": weak}, links: files{"test_mul.py": "a.txt"}, want: "test_emptied test_mul.py"},
		"the same elsewhere":         {frozen: files{"test_mul.py": "a.txt", "a.txt": test}, now: files{"test_mul.py": "b.txt", "b.txt": test}, links: files{"test_mul.py": "a.txt"}},
		"a file in its place":        {frozen: files{"test_mul.py": "a.txt", "a.txt": test}, now: files{"test_mul.py": test}, links: files{"test_mul.py": "a.txt"}},
		"data of the session's own":  {frozen: files{"tests/six": "../lib/six", "lib/six": "6"}, now: files{"tests/six": "../lib/six", "lib/six": "7"}, links: files{"tests/six": "../lib/six"}, want: "fixture_edited lib/six"},
		"data that was there before": {base: files{"lib/six": "6"}, frozen: files{"tests/six": "../lib/six", "lib/six": "6"}, now: files{"tests/six": "../lib/six", "lib/six": "7"}, links: files{"tests/six": "../lib/six"}},
		"a link of the project":      {base: files{"tests/src": "../src"}, frozen: files{"tests/src": "../src", "src/a.json": "6"}, now: files{"tests/src": "../src", "src/a.json": "7"}, links: files{"tests/src": "../src"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lab{t: t, snaps: map[session.Tree]map[string]string{"base": tc.base, "frozen": tc.frozen, "now": tc.now}}
			j := &Judge{Changes: l.changes, Links: func(context.Context, session.Tree) (map[string]string, error) { return tc.links, nil },
				Show: func(_ context.Context, tree session.Tree, path string) ([]byte, error) {
					if text, ok := l.snaps[tree][path]; ok {
						return []byte(text), nil
					}
					return nil, nil
				}}
			rep, err := j.tampered(t.Context(), session.JudgeRequest{Frozen: "frozen", Tree: "now", Baseline: session.Evidence{Tree: "base"}})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, f := range rep.Findings {
				if f.Grave {
					got[string(f.Kind)+" "+f.Path] = true
				}
			}
			if got := strings.Join(slices.Sorted(maps.Keys(got)), ", "); got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}
