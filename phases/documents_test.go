package phases

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestTasksOfItems: an item is ticked if all tasks that begin with its text are ticked. Tasks of a longer item do not
// count.
func TestTasksOfItems(t *testing.T) {
	t.Parallel()
	items := []string{"Add", "Add tests"}
	for text, want := range map[string]struct {
		verdict session.Verdict
		ticked  []int
	}{
		"- [x] Add\n- [x] Add tests\n":                         {session.Pass, []int{1, 2}},
		"- [x] Add: a parser\n- [x] Add tests (unit)\n":        {session.Pass, []int{1, 2}},
		"- [x] Add tests\n":                                    {session.Fail, []int{2}},
		"- [x] Address\n- [x] Add tests\n":                     {session.Fail, []int{2}},
		"- [x] Add: one\n- [ ] Add: two\n- [x] Add tests\n":    {session.Fail, []int{2}},
		"- [x] T1 Add\n- [x] **T2**: Add tests (after T1)\n":   {session.Pass, []int{1, 2}},
		"- [x] Add\n- [x] Add tests (after T9)\n":              {session.Fail, []int{1, 2}},
		"- [x] Add tests, as agreed\n- [x] Add\n- [x] Clean\n": {session.Pass, []int{1, 2}},
	} {
		g := workflows.Gate{Name: "plan", Document: "plan.md", Needs: []workflows.Need{workflows.NeedItems, workflows.NeedTicked, workflows.NeedOrder}}
		r := session.JudgeRequest{Session: "x", Items: items}
		r.Plan.Workflow.Phases = []workflows.Phase{{Gates: []workflows.Gate{g}}}
		j := &Judge{}
		j.Root = t.TempDir()
		path := filepath.Join(j.Root, brief.DocumentPath("x", "plan.md"))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if f, ticked := judgeDocument(j, g, r), j.ticked(r); f.Verdict != want.verdict || !slices.Equal(ticked, want.ticked) {
			t.Errorf("%q: %s (%s), ticked %v, want %s, %v", text, f.Verdict, f.Reason, ticked, want.verdict, want.ticked)
		}
	}
}
