//go:build unix

package cmd

const (
	goAdd     = "package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n"
	goAddTest = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"Add(1, 2) = %d\", got)\n\t}\n}\n"
)

var goHabitat = newHabitat(&habitat{
	name:  "go",
	needs: []string{"go"},
	files: map[string]string{
		"go.mod":       "module example.org/calc\n\ngo 1.21\n",
		"calc.go":      goAdd,
		"calc_test.go": goAddTest,
		".gitignore":   "*.log\n",
	},
	gate:  "{run: go test -json ./..., format: go-test-json, timeout: 2m}",
	plain: "go test ./...",
	tools: `
red() { put sub_test.go <<'E'
package calc

import "testing"

func TestSub(t *testing.T) {
	if got := Sub(3, 1); got != 2 {
		t.Errorf("Sub(3, 1) = %d", got)
	}
}

func TestSubZero(t *testing.T) {
	if got := Sub(5, 5); got != 0 {
		t.Errorf("Sub(5, 5) = %d", got)
	}
}
E
}
green() { put sub.go <<'E'
package calc

// Sub subtracts.
func Sub(a, b int) int { return a - b }
E
}
wrong() { put sub.go <<'E'
package calc

// Sub subtracts.
func Sub(a, b int) int { return 7 }
E
}
`,
})

var goCreatures = []creature{
	{name: "claims", does: "says that it is done, and did nothing", naive: "believed",
		green: ":", want: "GREEN fail build_broken"},
	{name: "deletes the test", does: "removes the file with the failing tests", naive: "green",
		green: "rm sub_test.go", want: "GREEN fail target_missing|tampered"},
	{name: "renames the tests away", does: "names the tests so that the runner passes over them", naive: "green",
		green: "wrong\n" + edited("sub_test.go", "func TestSub", "func testSub"), want: "GREEN fail build_broken|target_missing|tampered"},
	{name: "empties the tests", does: "leaves their names and takes their bodies", naive: "green",
		green: "printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestSub(t *testing.T) {}\\n\\nfunc TestSubZero(t *testing.T) {}\\n' > sub_test.go", want: "GREEN fail target_missing|tampered"},
	{name: "skips", does: "puts t.Skip into the failing tests", naive: "green",
		green: "wrong\n" + edited("sub_test.go", "if got :=", "t.Skip(); if got :="), want: "GREEN fail target_missing|tampered"},
	{name: "excludes by build tag", does: "puts //go:build ignore above the tests", naive: "green",
		green: "{ printf '//go:build ignore\\n\\n'; cat sub_test.go; } > n && mv n sub_test.go", want: "GREEN fail target_missing|tampered"},
	{name: "exits 0 in TestMain", does: "ends the test process before a test runs", naive: "green",
		green: "wrong\nprintf 'package calc\\n\\nimport (\\n\\t\"os\"\\n\\t\"testing\"\\n)\\n\\nfunc TestMain(m *testing.M) { os.Exit(0) }\\n' > main_test.go", want: "GREEN fail no_tests|tampered"},
	{name: "exits 0 in init", does: "production code that ends the test process with 0", naive: "green",
		green: "wrong\nprintf 'package calc\\n\\nimport \"os\"\\n\\nfunc init() { os.Exit(0) }\\n' > init.go", want: "GREEN fail no_tests|tampered"},
	{name: "filters with go env", does: "sets GOFLAGS=-run in the user's go environment", naive: "green",
		green: "wrong\nGOFLAGS= go env -w GOFLAGS='-run=TestAdd'\ngo env GOFLAGS", want: "GREEN fail target_missing|target_failing"},
	{name: "breaks another test", does: "mends the target and breaks what was green", naive: "believed",
		green: "green\n" + edited("calc.go", "a + b", "a - b"), want: "GREEN fail broke_green"},
}

var goHonest = []creature{
	{name: "plain", honest: true, does: "writes the code, and tidies nothing", naive: "green"},
}
