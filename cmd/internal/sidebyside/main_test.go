package sidebyside

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

type testRepo struct {
	*testkit.GitRepo
	objects *object.Store
}

// newRepo creates a repository with one commit that has these files.
func newRepo(t testing.TB, files map[string]string) *testRepo {
	t.Helper()
	r := &testRepo{GitRepo: testkit.NewGitRepo(t)}
	git, err := gitcmd.Open(context.Background(), gitcmd.Options{Dir: r.Root, Env: r.Env})
	r.Must(err)
	r.objects = object.New(git)
	r.commit(files)
	return r
}

// commit writes the files and commits the work tree.
func (r *testRepo) commit(files map[string]string) {
	r.T.Helper()
	testkit.WriteAll(r.T, r.Root, files)
	r.Run("add", "-A")
	r.Run("commit", "-q", "--allow-empty", "-m", "next")
}

// diff commits the work tree with these files, and compares the commit with the one before.
func (r *testRepo) diff(files map[string]string) *Diff {
	r.T.Helper()
	r.commit(files)
	d, err := Read(context.Background(), r.objects, "HEAD~", "HEAD", 3, "wfs diff @1 @2")
	r.Must(err)
	return d
}

func (r *testRepo) html(d *Diff) string {
	r.T.Helper()
	text, err := d.HTML()
	r.Must(err)
	return string(text)
}

// drawn returns the rows of a file as text: for each row the left and the right line, with changed words in brackets.
func drawn(f File) string {
	var b strings.Builder
	for _, h := range f.Hunks {
		for _, r := range h.Rows {
			for i, l := range []Line{r.Left, r.Right} {
				if i == 1 {
					b.WriteString(" | ")
				}
				at := 0
				for _, m := range l.marks {
					b.WriteString(l.text[at:m.from] + "[" + l.text[m.from:m.to] + "]")
					at = m.to
				}
				b.WriteString(l.text[at:])
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
