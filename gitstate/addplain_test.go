package gitstate

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/snapshot"
)

// TestConvertedFilesAreGits checks that git adds the files that it converts: a snapshot and a checkpoint have the same
// file as after `git add -A`, and all other files are added without git.
func TestConvertedFilesAreGits(t *testing.T) {
	t.Parallel()
	filter := [2]string{"filter.up.clean", "tr a-z A-Z"}
	for name, c := range map[string]struct {
		attributes, content string
		config              [2]string
		elsewhere           string // attributes file below .git
		plain               bool
	}{
		"none":                   {"", "x\n", [2]string{}, "", true},
		"of other files":         {"*.bin filter=up\nother text eol=crlf\n", "x\r\n", filter, "", true},
		"text without returns":   {"* text=auto eol=crlf\n", "x\n", [2]string{}, "", true},
		"text":                   {"*.txt text\n", "x\r\n", [2]string{}, "", false},
		"autocrlf":               {"", "x\r\n", [2]string{"core.autocrlf", "input"}, "", false},
		"ident":                  {"*.txt ident\n", "$Id: it$\n", [2]string{}, "", false},
		"ident, and none in it":  {"*.txt ident\n", "x\n", [2]string{}, "", true},
		"filter":                 {"f* filter=up\n", "x\n", filter, "", false},
		"filter, in a directory": {"\td/**\tfilter=up\n", "x\n", filter, "", false},
		"filter, one of":         {"[a-g].txt filter=up\n", "x\n", filter, "", false},
		"filter, quoted":         {"\"f.txt\" filter=up\n", "x\n", filter, "", false},
		"filter, by a macro":     {"[attr]mine filter=up\n*.txt mine\n", "x\n", filter, "", false},
		"filter, after a mark":   {"\ufeff*.txt filter=up\n", "x\n", filter, "", false},
		"filter, of this clone":  {"*.txt filter=up\n", "x\n", filter, "info/attributes", false},
		"encoding":               {"f.txt working-tree-encoding=UTF-16\n", "\xfe\xff\x00x\x00\n", [2]string{}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newSession(t)
			if c.config[0] != "" {
				r.run("config", c.config[0], c.config[1])
			}
			switch c.elsewhere {
			case "":
				r.write(".gitattributes", c.attributes)
			default:
				r.put(r.path(".git/"+c.elsewhere), c.attributes)
			}
			r.run("add", "-A")
			r.run("commit", "-q", "--allow-empty", "-m", "attributes")
			r.write("d/f.txt", c.content)
			r.write("f.txt", c.content)
			r.open(r.Git.Root)
			log := r.home + "/added"
			r.beforeGit(`for a; do if [ "$a" = add ]; then echo >> '` + log + "'; fi; done")
			want := r.byGit()
			_ = os.Remove(log)
			for what, got := range map[string]string{"a snapshot": string(r.snapshot().Tree),
				"a checkpoint": string(r.prepare(r.draft("")).Tree)} {
				if got != want {
					t.Errorf("%s holds\n%s\ngit adds\n%s", what, r.files(got), r.files(want))
				}
			}
			if _, err := os.Lstat(log); (err != nil) != c.plain {
				t.Errorf("git was asked to add: %v", err == nil)
			}
		})
	}
}

// TestMayMatchIsSure checks that git never matches a path if MayMatch returns false.
func TestMayMatchIsSure(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	paths := []string{"a", "a.o", "b/a", "b/a.o", "b/c/a", "build/x", "x/build/y", "a b", "a b/c", "abc", "x/abc/d",
		"#a", "!a", "f1", "f2/g"}
	sure := 0
	for _, pattern := range []string{"a", "/a", "*.o", "build/", "build/*", "build/**", "**/build", "/build/**/y",
		"b/a", "b/**/a", "a\\ b", "a b ", "a\\", "[ab].o", "[!b]", "[]a]",
		"a[/]b", "[[:alpha:]]", "?", "*", "**", "f?", "f[0-9]", "\\#a", "\\!a", "ab*", "a*c/d", "x/*/d", "*/a", "b/",
		"/b/c/", "f1/", "g/**"} {
		r.write(".gitignore", pattern+"\n")
		for _, p := range paths {
			out, err := r.try("check-ignore", "--no-index", "-v", "-n", "--", p)
			ignored := err == nil && !strings.HasPrefix(out, "::")
			if may := snapshot.MayMatch(pattern, p); ignored && !may {
				t.Errorf("%q ignores %s", pattern, p)
			} else if !may {
				sure++
			}
		}
	}
	t.Log(fmt.Sprint(sure, " were sure"))
	if sure == 0 {
		t.Error("it is never sure")
	}
}
