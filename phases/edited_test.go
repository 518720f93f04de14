package phases

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestEditedTests combines correct code with edited tests, which must notice the same changes as before.
func TestEditedTests(t *testing.T) {
	t.Parallel()
	notShort(t)
	const (
		right   = "package calc\n\nfunc Sub(a, b int) int { return a - b }\n"
		subFile = "package calc\n\nimport \"testing\"\n" + subTest
		rows    = "package calc\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tfor _, tc := range []struct{ a, b, want int }{{3, 1, 2}} {\n" +
			"\t\tif got := Sub(tc.a, tc.b); got != tc.want {\n\t\t\tt.Errorf(\"Sub = %d\", got)\n\t\t}\n\t}\n}\n"
	)
	const readsData = "package calc\n\nimport (\n\t\"os\"\n\t\"strconv\"\n\t\"testing\"\n)\n\nfunc TestSub(t *testing.T) {\n" +
		"\twant, _ := os.ReadFile(\"testdata/want\")\n\tif got := strconv.Itoa(Sub(3, 1)); got != string(want) {\n\t\tt.Error(got)\n\t}\n}\n"
	double := "func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal(\"Double\")\n\t}\n}\n\n"
	weakDouble := strings.Replace(calcTest, "Double(2) != 4", "Double(2) == 99", 1)
	both := "package calc\n\nimport \"testing\"\n\nfunc TestBoth(t *testing.T) {\n\tif Sub(3, 1) != 2 {\n\t\tt.Fatal(\"Sub\")\n\t}\n" +
		"\tif Double(2) != 4 {\n\t\tt.Fatal(\"Double\")\n\t}\n}\n"
	for _, tc := range []struct {
		name    string
		red     map[string]string // in addition to the lap's test
		edit    map[string]string // in addition to the right code
		noPlace bool
		warn    bool
		kind    string // "" if it passes
		path    string
		gone    string // missing test; its verdict then depends on that
		class   session.Class
	}{
		{name: "a comment", edit: map[string]string{"sub_test.go": strings.Replace(subFile, "{\n", "{\n\t// Three less one.\n", 1)}},
		{name: "rows", edit: map[string]string{"sub_test.go": rows}},
		{name: "compares with less", edit: map[string]string{"sub_test.go": strings.Replace(subFile, "!= 2", "== 99", 1)},
			kind: session.FoundWeaker, path: "sub_test.go"},
		{name: "compares with less, and is only named", edit: map[string]string{"sub_test.go": strings.Replace(subFile, "!= 2", "== 99", 1)},
			kind: session.FoundWeaker, path: "sub_test.go", warn: true},
		{name: "an older test, in RED", red: map[string]string{"calc_test.go": weakDouble}, kind: session.FoundWeaker, path: "calc_test.go"},
		{name: "data that came with the code", red: map[string]string{"sub_test.go": readsData},
			edit: map[string]string{"testdata/want": "2"}, class: session.ClassAsked},
		{name: "no place", edit: map[string]string{"calc_test.go": weakDouble}, noPlace: true, kind: session.FoundEdited, path: "calc_test.go"},
		{name: "no place, and only more", edit: map[string]string{"calc_test.go": calcTest + "\nfunc TestMore(t *testing.T) {}\n"}, noPlace: true},
		{name: "one becomes part of another", edit: map[string]string{"sub_test.go": both, "calc_test.go": strings.Replace(calcTest, double, "", 1)},
			gone: "example.org/calc.TestDouble example.org/calc.TestSub"},
		{name: "all go", edit: map[string]string{"sub_test.go": "-", "calc_test.go": "-"}, class: session.ClassTargetMissing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			testkit.Sample(t)
			l, s := calcLab(t)
			l.judge.Overlay, l.judge.Clean, l.judge.WithTexts, l.judge.Paths = l.overlay, l.clean(), l.withTexts, l.paths
			if tc.noPlace {
				l.judge.Clean = nil
			}
			l.snaps[s.ev.Tree] = s.snap
			l.write(map[string]string{"sub_test.go": subFile})
			l.write(tc.red)
			frozen, _ := l.snapshot(t.Context())
			l.write(map[string]string{"sub.go": right})
			l.write(tc.edit)
			tree, _ := l.snapshot(t.Context())
			changed, _ := l.changes(t.Context(), s.ev.Tree, tree)
			g := goGate()
			g.Expect = workflows.ExpectPass
			ph := workflows.Phase{Name: "GREEN", Gates: []workflows.Gate{g}}
			policy := workflows.TamperStrict
			if tc.warn {
				policy = workflows.TamperWarn
			}
			j, err := l.judge.Judge(t.Context(), session.JudgeRequest{Tree: tree, RunDir: t.TempDir(), Changed: changed, Visit: changed,
				Phase: ph, Baseline: s.ev, LapStart: s.ev, Known: s.base.Red, LapTree: s.ev.Tree, Frozen: frozen,
				Plan:    workflows.Plan{Workflow: workflows.Workflow{Tamper: policy, Phases: []workflows.Phase{writesTests(g), ph}}},
				Targets: []session.TestID{"example.org/calc.TestSub"}})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.class != "":
				if j.Class != tc.class || j.Question == nil {
					t.Errorf("%s: %s (%+v)", j.Class, j.Reason, j.Question)
				}
			case tc.warn:
				if j.Verdict != session.Pass || len(j.Tampered) != 1 || j.Tampered[0].Kind != tc.kind {
					t.Errorf("%s %s: %s; found %+v", j.Verdict, j.Class, j.Reason, j.Tampered)
				}
			case tc.kind == "":
				if j.Verdict != session.Pass || joined(j.Gone) != tc.gone {
					t.Errorf("%s %s: %s; gone: %s; tried: %+v", j.Verdict, j.Class, j.Reason, joined(j.Gone), j.Experiments)
				}
			case j.Class != session.ClassTampered || len(j.Tampered) != 1 || j.Tampered[0].Kind != tc.kind ||
				j.Tampered[0].Path != tc.path || j.Question == nil:
				t.Errorf("%s %s: %s; found %+v", j.Verdict, j.Class, j.Reason, j.Tampered)
			}
		})
	}
}

// TestGoneTogether: if older tests are missing together with those of the lap, all of them are named.
func TestGoneTogether(t *testing.T) {
	t.Parallel()
	l, s := calcLab(t)
	l.write(map[string]string{"sub.go": stub, "calc_test.go": "-"})
	j := l.judged(s, goGate(), workflows.ExpectPass, []session.TestID{"example.org/calc.TestSub"}, nil)
	if got, want := joined(j.Gates[0].Failing), "example.org/calc.TestAdd example.org/calc.TestDouble example.org/calc.TestSub"; got != want {
		t.Errorf("gone are %q, want %q", got, want)
	}
}
