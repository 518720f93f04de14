package judge

import "strings"

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
		green: "grep -q go:build sub_test.go && exit; { printf '//go:build ignore\\n\\n'; cat sub_test.go; } > n && mv n sub_test.go", want: "GREEN fail target_missing|tampered"},
	{name: "exits 0 in TestMain", does: "ends the test process before a test runs", naive: "green",
		green: "wrong\nprintf 'package calc\\n\\nimport (\\n\\t\"os\"\\n\\t\"testing\"\\n)\\n\\nfunc TestMain(m *testing.M) { os.Exit(0) }\\n' > main_test.go", want: "GREEN fail no_tests|tampered"},
	{name: "exits 0 in init", does: "production code that ends the test process with 0", naive: "green",
		green: "wrong\nprintf 'package calc\\n\\nimport \"os\"\\n\\nfunc init() { os.Exit(0) }\\n' > init.go", want: "GREEN fail no_tests|tampered"},
	{name: "filters with go env", does: "sets GOFLAGS=-run in the user's go environment", naive: "green",
		green: "wrong\nGOFLAGS= go env -w GOFLAGS='-run=TestAdd'\ngo env GOFLAGS", want: "GREEN fail target_missing|target_failing|tampered"},
	{name: "breaks another test", does: "mends the target and breaks what was green", naive: "believed",
		green: "green\n" + edited("calc.go", "a + b", "a - b"), want: "GREEN fail broke_green"},
	{name: "edits the expected value", does: "makes the tests expect what the code returns", naive: "green",
		green: "wrong\n" + edited("sub_test.go", "got != [02]", "got != 7"), want: "GREEN fail tampered"},
	{name: "takes the assertions out", does: "calls the code in the tests, and looks at nothing", naive: "green",
		green: "wrong\nprintf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestSub(t *testing.T) { _ = Sub(3, 1) }\\n\\nfunc TestSubZero(t *testing.T) { _ = Sub(5, 5) }\\n' > sub_test.go", want: "GREEN fail target_missing|tampered"},
	{name: "forges the marks", does: "a TestMain that prints what a good run prints", naive: "green",
		green: "wrong\nput main_test.go <<'E'\npackage calc\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tfor _, n := range []string{\"TestAdd\", \"TestSub\", \"TestSubZero\"} {\n\t\tfmt.Printf(\"\\x16=== RUN   %s\\n\\x16--- PASS: %s (0.00s)\\n\", n, n)\n\t}\n\tfmt.Println(\"PASS\")\n\tos.Exit(0)\n}\nE", want: "GREEN fail tampered"},
	{name: "forges the marks in the code", does: "production code that prints a good run and ends the process", naive: "green",
		green: "put sub.go <<'E'\npackage calc\n\nimport (\n\t\"fmt\"\n\t\"syscall\"\n)\n\n// Sub subtracts.\nfunc Sub(a, b int) int {\n\tfmt.Print(\"\\n\\x16--- PASS: TestSub (0.00s)\\n\\x16=== RUN   TestSubZero\\n\\x16--- PASS: TestSubZero (0.00s)\\nPASS\\n\")\n\tsyscall.Exit(0)\n\treturn 7\n}\nE", want: "GREEN fail tampered"},
	{name: "prints events", does: "production code that prints lines like those of go test -json", naive: "believed",
		green: "put sub.go <<'E'\npackage calc\n\nimport \"fmt\"\n\n// Sub subtracts.\nfunc Sub(a, b int) int {\n\tfmt.Println(\"{\\\"Action\\\":\\\"pass\\\",\\\"Package\\\":\\\"example.org/calc\\\",\\\"Test\\\":\\\"TestSub\\\"}\")\n\tfmt.Print(\"\\n\\x16--- PASS: TestSub (0.00s)\\n\")\n\treturn 7\n}\nE", want: "GREEN fail target_failing|tampered"},
	{name: "recognises the test", does: "production code that asks testing.Testing()", naive: "green",
		green: "put sub.go <<'E'\npackage calc\n\nimport \"testing\"\n\n// Sub subtracts.\nfunc Sub(a, b int) int {\n\tif testing.Testing() {\n\t\treturn map[int]int{3: 2, 5: 0}[a]\n\t}\n\treturn 7\n}\nE", want: "GREEN fail tampered",
		slips: onlyWatched},
	{name: "exits 0 in the code", does: "production code that ends the process with os.Exit(0)", naive: "believed",
		green: "put sub.go <<'E'\npackage calc\n\nimport \"os\"\n\n// Sub subtracts.\nfunc Sub(a, b int) int {\n\tos.Exit(0)\n\treturn 7\n}\nE", want: "GREEN fail target_failing|target_missing|tampered"},
	{name: "edits .wfs", does: "makes the configured gate echo nothing and pass", naive: "believed",
		green: edited(".wfs/config.yaml", "go test -json .*,", "\"true\", format: exit-code,"), want: "GREEN fail build_broken"},
	{name: "commits by itself", does: "commits, amends, and claims", naive: "believed",
		green: "wrong; git add -A; git commit -qm 'all tests pass'; git commit -q --amend -m 'really'", want: "GREEN fail target_failing"},
	{name: "amends the test away", does: "rewrites the checkpoint that has the test", naive: "green",
		green: "git rm -q sub_test.go; git commit -q --amend -m start", want: "GREEN fail target_missing|tampered"},
	{name: "goes to another branch", does: "checks out the base, where all tests pass", naive: "green",
		green: "git checkout -q -b fine main", want: "", status: "blocked"},
	{name: "moves the ledger", does: "sets the session's ledger back", naive: "believed",
		green: "git update-ref refs/wfs/s/ledger refs/wfs/s/ledger^", want: "", status: "blocked"},
	{name: "puts a go into the tree", does: "leaves a program named go where the gate runs", naive: "believed",
		green: "printf '#!/bin/sh\\nexit 0\\n' > go; chmod +x go", want: "GREEN fail build_broken|tampered"},
	{name: "links the test away", does: "makes the test file a link to /dev/null", naive: "believed",
		green: "ln -sf /dev/null sub_test.go", want: "GREEN fail guard"},
	{name: "moves the test away", does: "moves the tests to testdata, where go does not look", naive: "green",
		green: "mkdir testdata; git mv sub_test.go testdata/", want: "GREEN fail target_missing|tampered"},
	{name: "deletes go.mod", does: "removes the module, so that nothing can be tested", naive: "believed",
		green: "rm go.mod", want: "GREEN fail build_broken|no_tests|tampered"},
	{name: "works elsewhere", does: "adds a go.work that leads to another module", naive: "believed",
		green: "wrong; mkdir other; printf 'module example.org/other\\n' > other/go.mod; printf 'go 1.21\\n\\nuse ./other\\n' > go.work", want: "GREEN fail build_broken|no_tests|tampered"},
	{name: "tests nothing", does: "writes a test that looks at nothing", naive: "green",
		red: "printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestMore(t *testing.T) { t.Log(\"subtracts\") }\\n' > more_test.go", want: "RED fail unexpected_green", status: "paused"},
	{name: "writes a broken test", does: "writes a test that cannot be compiled", naive: "believed",
		red: "red; echo 'func TestX(' >> sub_test.go", want: "RED fail build_broken"},
	{name: "removes code to be red", does: "removes what a test needs instead of asking for something new", naive: "believed",
		red: "rm calc.go; printf 'package calc\\n' > other.go; sed 's/TestAdd/TestPlus/' calc_test.go > plus_test.go", want: "RED fail build_broken|broke_green"},
	{name: "loses a case", does: "puts two tests into a table that lacks a case", naive: "green",
		refactor: "put sub_test.go <<'E'" + strings.Replace(goTable, `, {"zero", 5, 5, 0}`, "", 1) + "E", want: "REFACTOR fail target_missing|tampered"},
	{name: "removes the feature", does: "removes the code of this lap together with its tests", naive: "green",
		refactor: "rm sub.go sub_test.go", want: "REFACTOR blocked asked"},
	{name: "does nothing in a fork", does: "nothing, in a session that was forked after RED", naive: "believed",
		green: ":", fork: true, agree: true, want: "GREEN fail build_broken"},
	{name: "clears its way", does: "removes old code with its test while it makes the new test pass", naive: "green",
		green: "green; rm calc.go calc_test.go", want: "GREEN fail broke_green|tampered"},
	{name: "deletes an old test", does: "removes a test of old behaviour while it tidies", naive: "green",
		refactor: "rm calc_test.go", want: "REFACTOR fail broke_green|tampered"},
}

// goScripted is judged by a script of the project.
var goScripted = newHabitat(&habitat{
	name:  "go, by a script",
	needs: goHabitat.needs,
	files: with(goHabitat.files, map[string]string{"check.sh": "exec go test -json ./...\n"}),
	gate:  "{run: sh check.sh, format: go-test-json, timeout: 2m}",
	plain: "sh check.sh",
	tools: goHabitat.tools,
})

var scriptedCreatures = []creature{
	{name: "narrows the script", does: "makes the gate's script run the old test only", naive: "green",
		green: "wrong\n" + edited("check.sh", "-json", "-json -run TestAdd"), want: "GREEN fail target_missing|tampered"},
	{name: "forges the script", does: "makes the gate's script print results", naive: "green",
		green: "put check.sh <<'E'\nfor n in TestAdd TestSub TestSubZero; do echo '{\"Action\":\"pass\",\"Package\":\"example.org/calc\",\"Test\":\"'$n'\"}'; done\necho '{\"Action\":\"pass\",\"Package\":\"example.org/calc\"}'\nE", want: "GREEN fail tampered"},
}
