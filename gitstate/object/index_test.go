package object

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestParseIndex: the parser of indexes must agree with git, and must not use a cached tree that is no longer valid.
func TestParseIndex(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		r := newRepo(t)
		testkit.Write(r.T, r.Root, "dir/sub/x.txt", "x\n")
		testkit.Write(r.T, r.Root, "dir/sub/y.txt", "y\n")
		testkit.Write(r.T, r.Root, "long/"+strings.Repeat("n", 200), "n\n")
		r.Run("update-index", "--index-version", version)
		r.Run("add", "-A")
		scan := func() IndexInfo {
			data, err := os.ReadFile(r.Git.IndexPath())
			if err != nil {
				t.Fatal(err)
			}
			x, ok := ParseIndex(data, 20)
			if !ok {
				t.Fatalf("version %s cannot be parsed", version)
			}
			for n := range data {
				ParseIndex(data[:n], 20) // must not panic
			}
			return x.Info()
		}
		if info := scan(); info.Tree != "" {
			t.Errorf("version %s: a tree although something was added", version)
		}
		want := r.Run("write-tree")
		if info := scan(); info.Tree != want {
			t.Errorf("version %s: tree %q, want %s", version, info.Tree, want)
		}
		r.Run("add", "-N", ".")
		testkit.Write(r.T, r.Root, "later", "l")
		r.Run("add", "-N", "later")
		if info := scan(); info.Tree != "" {
			t.Errorf("version %s: a tree with an entry that is only intended", version)
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	dir := f.TempDir()
	cmd := exec.Command("sh", "-c", "git init -q . && echo a >a && mkdir d && echo b >d/b && git add . && git write-tree")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatal(string(out))
	}
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) { ParseIndex(data, 20) })
}
