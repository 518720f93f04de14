package gitstate

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesThatAreLinks: git does not read rules from a .gitignore or .gitattributes that is a link; it prints a
// warning, and still adds the link. A snapshot does not lack such a file, nor a file of rules outside of the work tree.
func TestRulesThatAreLinks(t *testing.T) {
	t.Parallel()
	for name, lay := range map[string]func(r *testRepo){
		".gitignore":     func(r *testRepo) { r.link("shared", ".gitignore") },
		".gitattributes": func(r *testRepo) { r.link("shared", ".gitattributes") },
		"in place of files": func(r *testRepo) {
			r.run("rm", "-q", "old/.gitignore", "old/.gitattributes")
			r.write("old/x", "x")
			r.link("../shared", "old/.gitignore")
			r.link("../shared", "old/.gitattributes")
		},
		"in a directory": func(r *testRepo) { r.write("dir/x", "x"); r.link("../shared", "dir/.gitignore") },
		"that dangle":    func(r *testRepo) { r.link("nowhere", ".gitignore"); r.link("nowhere", ".gitattributes") },
		"in a loop":      func(r *testRepo) { r.link(".gitignore", ".gitignore") },
		"outside": func(r *testRepo) {
			r.link("loop", "loop")
			r.run("config", "core.attributesFile", filepath.Join(r.Git.Root, "loop"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write("shared", "*.log\n")
			r.write("old/.gitignore", "*.log\n")
			r.write("old/.gitattributes", "*.log text\n")
			r.commit()
			lay(r)
			r.write("x.log", "not ignored, since links are not followed")
			for _, again := range []string{"", "y.log"} {
				if again != "" {
					r.write(again, "new")
					r.write("old/"+again, "new")
					r.write("dir/"+again, "new")
				}
				s := r.snapshot()
				if len(s.Skipped) > 0 {
					t.Errorf("it is said to lack %v", s.Skipped)
				}
				r.run("add", "-A")
				lines := strings.Split(r.run("write-tree"), "\n") // after warnings
				if got, want := string(s.Tree), lines[len(lines)-1]; got != want {
					t.Errorf("it holds\n%s\ngit adds\n%s", r.files(got), r.files(want))
				}
			}
		})
	}
	r := newRepo(t)
	r.write(".gitignore/x", "x") // a directory is not a file of rules
	if s := r.snapshot(); len(s.Skipped) > 0 || !strings.Contains(r.files(string(s.Tree)), ".gitignore/x") {
		t.Errorf("%v", s.Skipped)
	}
}
