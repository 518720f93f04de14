package phases

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestRetitled: an older test may get a longer title when tests are added, but not when test settings change.
func TestRetitled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit   map[string]string
		prints string
		class  session.Class
	}{
		"a new file":           {map[string]string{"test/b.test.js": "b"}, "ok 1 - a › adds; ok 2 - b › subs", session.ClassGreen},
		"another title":        {map[string]string{"test/b.test.js": "b"}, "ok 1 - adds more; ok 2 - b › subs", session.ClassBrokeGreen},
		"it fails":             {map[string]string{"test/b.test.js": "b"}, "not ok 1 - a › adds; ok 2 - b › subs", session.ClassBrokeGreen},
		"settings that came":   {map[string]string{"test/b.test.js": "b", "jest.config.js": "c"}, "ok 1 - a › adds", session.ClassBrokeGreen},
		"an edited older test": {map[string]string{"test/a.test.js": "other"}, "ok 1 - a › adds", session.ClassBrokeGreen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"src/a.js": "a", "test/a.test.js": "a"})
			tree, _ := l.snapshot(t.Context())
			ev := session.Evidence{Tree: tree, Gates: map[string]session.Tests{"tests": {"adds": session.TestPass}}}
			l.write(tc.edit)
			now, _ := l.snapshot(t.Context())
			changed, _ := l.changes(t.Context(), tree, now)
			g := tapGate("printf '%s\\n' '" + tc.prints + "' | sed 's/; /\\n/g'; echo 1..1")
			j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: now, RunDir: t.TempDir(), Changed: changed,
				Visit: changed, Phase: workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}, Baseline: ev, LapStart: ev,
				LapTree: tree})
			if err != nil {
				t.Fatal(err)
			}
			if j.Class != tc.class {
				t.Errorf("judged %s (%s): %s; want %s", j.Verdict, j.Class, j.Reason, tc.class)
			}
		})
	}
}
