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
