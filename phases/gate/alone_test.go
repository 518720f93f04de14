package gate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func TestAlone(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, name := range []string{"tests/test_calc.py", "tests/unit/test_more.py"} {
		file := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	gates := Runner{Root: top}
	for _, tc := range []struct {
		format  workflows.Format
		command string
		ids     string // separated by commas
		want    string // the words; "" if the command is not understood
	}{
		{workflows.FormatGoTest, "go test -json ./...", "m/a.TestB,m/a.TestA/sub,m.TestC", `go test -json -count=1 -run=^(TestA|TestB|TestC)$ m m/a`},
		{workflows.FormatGoTest, "go test -race -json ./a ./b", "m/a.TestB", `go test -race -json -count=1 -run=^(TestB)$ m/a`},
		{workflows.FormatGoTest, "go test -json -run Test ./...", "m.TestA", ""},
		{workflows.FormatGoTest, "go test -json -tags integration ./...", "m.TestA", ""},
		{workflows.FormatGoTest, "go test -json ./... | tee log", "m.TestA", ""},
		{workflows.FormatGoTest, "make test", "m.TestA", ""},
		{workflows.FormatGoTest, "go test -json ./...", "m/a", ""}, // a package that could not be built
		{workflows.FormatUnittest, "python3 -B -m unittest discover -v", "tests.test_calc.CalcTest::test_add", `python3 -B -m unittest -v tests.test_calc.CalcTest.test_add`},
		{workflows.FormatUnittest, "python3 -m unittest discover -s src -v", "test_calc.CalcTest::test_add", ""},
		{workflows.FormatUnittest, "python3 -m unittest discover -v", "unittest.loader._FailedTest::tests.test_calc (x)", ""},
		{workflows.FormatJUnit, `python3 -B -m pytest --junitxml="$WFS_REPORT"`, "tests.test_calc::test_add[1-2],tests.unit.test_more.TestX::test_it",
			`python3 -B -m pytest --junitxml=$WFS_REPORT tests/test_calc.py::test_add[1-2] tests/unit/test_more.py::TestX::test_it`},
		{workflows.FormatJUnit, `PYTHONPATH=a=b python3 -m pytest --junitxml="$WFS_REPORT"`, "tests.test_calc::test_add",
			`env PYTHONPATH=a=b python3 -m pytest --junitxml=$WFS_REPORT tests/test_calc.py::test_add`},
		{workflows.FormatJUnit, `pytest -k add --junitxml="$WFS_REPORT"`, "tests.test_calc::test_add", ""},
		{workflows.FormatJUnit, `pytest --junitxml="$WFS_REPORT"`, "tests.test_other::test_add", ""}, // no such file
		{workflows.FormatJUnit, "node --test --test-reporter=junit", "test::it's (a) test", `node --test --test-name-pattern=^it's \(a\) test$ --test-reporter=junit`},
		{workflows.FormatJUnit, "npx jest --ci", "calc::adds", ""},
		{workflows.FormatTAP, "node --test --test-reporter=tap", "adds", ""},
	} {
		var ids []session.TestID
		for _, id := range strings.Split(tc.ids, ",") {
			ids = append(ids, session.TestID(id))
		}
		g, ok := gates.Alone(workflows.Gate{Name: "tests", Run: workflows.Command{Shell: tc.command}, Format: tc.format}, ids)
		if got := strings.Join(g.Run.Argv, " "); ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s, %s:\n %v %s, want\n %s", tc.command, tc.ids, ok, got, tc.want)
		}
	}
	g, ok := gates.Alone(workflows.Gate{Name: "tests", Run: workflows.Command{Argv: []string{"go", "test", "-json", "./..."}}, Format: workflows.FormatGoTest}, []session.TestID{"m.TestA"})
	if want := []string{"go", "test", "-json", "-count=1", "-run=^(TestA)$", "m"}; !ok || !slices.Equal(g.Run.Argv, want) {
		t.Errorf("%v %q", ok, g.Run.Argv)
	}
	many := make([]session.TestID, mostAlone+1)
	for i := range many {
		many[i] = "m.TestA"
	}
	if _, ok := gates.Alone(workflows.Gate{Run: workflows.Command{Shell: "go test -json ./..."}, Format: workflows.FormatGoTest}, many); ok {
		t.Error("too many tests for a command line")
	}
}
