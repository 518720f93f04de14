package phases

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestRedWaitsForTypes judges tests for another interface of existing code.
func TestRedWaitsForTypes(t *testing.T) {
	t.Parallel()
	with := func(now string) string { return strings.Replace(calcTest, "Double(2) != 4", now, 1) }
	const tail = "\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 1) != 2 {\n\t\tt.Fatal()\n\t}\n"
	for _, tc := range []struct {
		name     string
		edit     map[string]string
		class    session.Class
		expected string
		says     string
	}{
		{name: "more arguments", edit: map[string]string{"calc_test.go": with("Double(2, 2) != 8")}, class: session.ClassMissingSymbol,
			expected: "example.org/calc", says: "too many arguments in call to Double have (number, number) want (int)"},
		{name: "another type of argument", edit: map[string]string{"calc_test.go": with(`Double("2") != 4`)}, class: session.ClassMissingSymbol,
			expected: "example.org/calc", says: "as int value in argument to Double"},
		{name: "another result", edit: map[string]string{"calc_test.go": with(`Double(2) != "4"`)}, class: session.ClassMissingSymbol,
			expected: "example.org/calc", says: "mismatched types int and untyped string"},
		{name: "another shape and a missing name", edit: map[string]string{"calc_test.go": with("Double(2, 2) != 8") + tail + "}\n"}, class: session.ClassMissingSymbol,
			expected: "example.org/calc", says: ": Sub is not defined yet; types do not match yet: too many"},
		{name: "in a package of its own beside one with a failing test", edit: map[string]string{"calc_test.go": strings.Replace(calcTest, "Double(2) != 4", "Double(2) != 5", 1),
			"util/more_test.go": "package util\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif One(1) != 1 {\n\t\tt.Fatal()\n\t}\n}\n"},
			class: session.ClassTargetFailed, expected: "example.org/calc/util", says: "TestDouble"},

		{name: "something not used beside it", edit: map[string]string{"calc_test.go": with("Double(2, 2) != 8") + "\nfunc TestX(t *testing.T) { x := 1 }\n"},
			class: session.ClassBuildBroken, says: "cannot be built or loaded"},
		{name: "a test that was not changed", edit: map[string]string{"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Double(a, b int) int { return a * b }\n",
			"sub_test.go": "package calc\n\nimport \"testing\"\n" + subTest}, class: session.ClassBuildBroken, says: "calc_test.go cannot be built: not enough arguments in call to Double"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l, s := calcLab(t)
			l.write(tc.edit)
			j := l.judged(s, goGate(), workflows.ExpectRed, nil, nil)
			g := j.Gates[0]
			if got := strings.Join(g.Expected, " "); j.Class != tc.class || got != tc.expected || !strings.Contains(j.Reason, tc.says) {
				t.Errorf("%s, expected %q: %s", j.Class, got, j.Reason)
			}
		})
	}
}
