package room

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOwnEnviron(t *testing.T) {
	r := newRepo(t)
	main, linked := r.Git.Root, filepath.Join(t.TempDir(), "linked")
	r.git("worktree", "add", "-q", linked, "-b", "linked")
	at := r.at(linked)
	outside, alias := t.TempDir(), filepath.Join(t.TempDir(), "alias")
	for _, dir := range []string{main + "/.venv", main + "/api/venv", main + "/only", main + "/shared",
		linked + "/.venv", outside + "/.venv"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/pyvenv.cfg", nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{alias: main, linked + "/shared": main + "/shared"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, active, want string
		in                 *Set
	}{
		{"own one in a linked work tree", main + "/.venv", linked + "/.venv", at},
		{"through a link to the work tree", alias + "/.venv", linked + "/.venv", at},
		{"own one in the main work tree", linked + "/.venv", main + "/.venv", r.Set},
		{"of this work tree", main + "/.venv", main + "/.venv", r.Set},
		{"none here", main + "/only", main + "/only", at},
		{"none here, further down", main + "/api/venv", main + "/api/venv", at},
		{"here only a link to it", main + "/shared", main + "/shared", at},
		{"outside of the repository", outside + "/.venv", outside + "/.venv", at},
		{"not absolute", ".venv", ".venv", at},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := func(dir string) []string {
				return []string{"HOME=" + main + "/.venv", "PATH=" + dir + "/bin:/bin:" + main + "/bin", "VIRTUAL_ENV=" + dir}
			}
			got := c.in.OwnEnviron(context.Background(), env(c.active))
			if want := env(c.want); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
