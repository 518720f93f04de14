package registry

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLayoutIsDocumented compares docs/formats.md with the layout.
func TestLayoutIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "### In the clone")
	section, _, ok := strings.Cut(rest, "### In the user's configuration directory")
	if !ok {
		t.Fatal("the section is called otherwise now")
	}
	for _, k := range Layout() {
		name, _, _ := strings.Cut(path.Base(k.Pattern), "*")
		if name == "" { // named after a session or work tree: its directory is listed
			name = path.Base(path.Dir(k.Pattern))
		}
		if !strings.Contains(section, "`"+name) && !strings.Contains(section, "/"+name) {
			t.Errorf("%s is not in docs/formats.md", k.Pattern)
		}
	}
}

// TestLayoutIsWhole searches the source for names below a clone's directory: each must be in the layout, or damage to
// that file would go unnoticed.
func TestLayoutIsWhole(t *testing.T) {
	kinds := Layout()
	joined := regexp.MustCompile(`filepath\.Join\(([^,()]+(?:\([^()]*\))?(?:\([^()]*\)\))?), ("[^"]+"(?:, "[^"]+")*|[a-z]+Name|tipFile|detached)\)`)
	constants := map[string]string{"excludeName": excludeName, "runsName": runsName, "inboxName": inboxName,
		"endedName": endedName, "tipFile": tipFile, "detached": detached}
	places := map[string]string{ // the first argument of a join, and its path below the clone's directory
		"c.dir": "", "r.StateDir()": "", "a.repo.StateDir()": "", "dir": "sessions/x", "j.dir": "sessions/x",
		"r.worktreeDir()": "worktrees/x",
		"w.dir()":         "worktrees/x", "e.a.clone.Dir()": "",
	}
	found := 0
	for _, room := range []string{".", "../gitstate", "../gitstate/*", "../cmd"} {
		files, err := filepath.Glob(room + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range joined.FindAllStringSubmatch(string(text), -1) {
				below, known := places[m[1]]
				if !known || room != "." && m[1] == "dir" {
					continue
				}
				name := constants[m[2]]
				if name == "" {
					name = strings.ReplaceAll(strings.Trim(m[2], `"`), `", "`, "/")
				}
				rel := path.Join(below, name)
				found++
				if first, _, _ := strings.Cut(rel, "/"); KindOf(kinds, rel) == nil && (below != "" || KindOf(kinds, first) == nil) {
					t.Errorf("%s: %s is not in the layout", file, rel)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d names were found in the source: the search has gone blind", found)
	}
	t.Logf("%d names in the source, %d kinds in the layout", found, len(kinds))
}
