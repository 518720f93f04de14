package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	runFlag  = regexp.MustCompile(`go test .*?-run[ =]('[^']+'|"[^"]+"|[^ \x60]+)`)
	inModule = regexp.MustCompile(` \./([a-z][a-z/]*)`)
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestChecksRunTests checks that every `go test -run` in .ci and in CONTRIBUTING.md names existing tests, because a
// pattern that matches nothing passes.
func TestChecksRunTests(t *testing.T) {
	files, err := filepath.Glob("../.ci/*")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range append(files, "../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a directory
		}
		for line := range strings.Lines(string(text)) {
			m := runFlag.FindStringSubmatch(line)
			packages := inModule.FindAllStringSubmatch(line, -1)
			if m == nil || len(packages) == 0 || strings.Contains(m[1], "'^$'") {
				continue
			}
			pattern, _, _ := strings.Cut(strings.ReplaceAll(strings.Trim(m[1], `'"`), `\|`, "|"), "/")
			checked++
			for _, p := range packages {
				if !hasTest(t, p[1], regexp.MustCompile(pattern)) {
					t.Errorf("%s: no test of %s matches %s", file, p[1], pattern)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d patterns were found", checked)
	}
}

// hasTest reports whether a package has a test whose name matches.
func hasTest(t *testing.T, pkg string, pattern *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			if pattern.MatchString(m[1]) {
				return true
			}
		}
	}
	return false
}
