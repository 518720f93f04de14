package gitstate

import (
	"slices"
	"testing"
)

// TestPlanRefusesWhatGitOverlooks: if git is set to ignore changes of a file, no snapshot has its edits. A move that
// would overwrite or delete it is refused; one that does not touch it is not.
func TestPlanRefusesWhatGitOverlooks(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		for name, to := range map[string]map[string]string{
			"overwritten": {"a.txt": "theirs\n", "dir/f": "f\n"}, "deleted": {"dir/f": "f\n"}, "left alone": {"a.txt": "a\n",
				"dir/f": "F\n"},
			"a directory": {"a.txt/x": "x\n", "dir/f": "f\n"},
		} {
			for _, edited := range []bool{true, false} {
				t.Run(flag+" "+name, func(t *testing.T) {
					t.Parallel()
					r := newRepo(t)
					r.write("dir/f", "f\n")
					r.run("add", ".")
					r.run("commit", "-q", "-m", "base")
					r.run("update-index", flag, "a.txt")
					if edited {
						r.write("a.txt", "mine, and for nobody else\n")
					}
					var want []string
					if edited && name != "left alone" {
						want = []string{"a.txt"}
					}
					if got := r.inTheWay(r.treeOf(to)); !slices.Equal(got, want) {
						t.Errorf("in the way: %q, want %q", got, want)
					}
					if got := r.read("dir/f"); want == nil && (got == "F\n") != (name == "left alone") {
						t.Errorf("dir/f is %q", got)
					}
					if want == nil { // the index is settled later; after a kill before that, the move is repeated
						r.move(r.treeOf(to))
						for p, content := range to {
							if got := r.disk()[p]; got != "false "+content && !(edited && p == "a.txt") {
								t.Errorf("%s holds %q", p, got)
							}
						}
						if r.disk()["a.txt"] != "" && to["a.txt"] == "" {
							t.Error("a.txt is still there")
						}
					}
					if edited && r.read("a.txt") != "mine, and for nobody else\n" {
						t.Error("the edit is gone")
					}
				})
			}
		}
	}
}
