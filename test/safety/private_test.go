package safety

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBar23Modes checks that under any umask everything below .git/wfs and the marks of trust are only for the user,
// and that no file is left in TMPDIR.
func TestBar23Modes(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, umask := range []string{"000", "022", "777"} {
		t.Run(umask, func(t *testing.T) {
			f := plainTemplate.fixture(t)
			temp := t.TempDir()
			var asRoot []string
			if umask == "777" && os.Geteuid() != 0 { // git cannot read its own new files under this umask
				if asRoot = []string{"unshare", "-r"}; exec.Command("unshare", "-r", "true").Run() != nil {
					t.Skip("git cannot work under this umask but for root, and nobody may be root in a name space of his own here")
				}
			}
			under := func(args ...string) {
				t.Helper()
				out, exit := f.try([]string{"TMPDIR=" + temp}, append(append(asRoot, "sh", "-c", `umask `+umask+`; exec "$0" "$@"`), args...)...)
				if exit != exitOK {
					t.Fatalf("%v: exit %d: %s", args, exit, out)
				}
			}
			for _, dir := range []string{".git/wfs", "../state"} {
				if err := os.RemoveAll(filepath.Join(f.dir, dir)); err != nil {
					t.Fatal(err)
				}
			}
			f.dirty()
			under("wfs", "trust", "--yes")
			under("wfs", "trust", "one", "--yes")
			under("wfs", "checkpoint", "-m", "mine")
			under("wfs", "run")
			under("wfs", "note", "hello", "two")
			under("wfs", "resume", "one@1")
			under("wfs", "export", "one", "-o", "../one.tar.gz")
			under("wfs", "new", "three", "--workflow", "plain", "--agent", `echo '{"done":true}' >"$WFS_RESULT"`)
			under("wfs", "run")
			under("wfs", "doctor", "--repair")
			for _, dir := range []string{".git/wfs", "../state/wfs"} {
				looked += private(t, filepath.Join(f.dir, dir))
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left in TMPDIR: %v, %v", left, err)
			}
		})
	}
	t.Logf("%d files and directories", looked)
}

// private checks the modes of everything below a directory.
func private(t *testing.T, dir string) (looked int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		looked++
		rel := strings.TrimPrefix(path, dir)
		if inGit := strings.Contains(rel, "/move/") || strings.Contains(rel, "/auto/") || strings.HasPrefix(rel, "/rooms/") && strings.Contains(rel, "/git/"); inGit {
			return nil // a file of git, or a copy that may become git's again, in a directory that is closed to others
		}
		if strings.HasPrefix(rel, "/clean/") && strings.Count(rel, "/") > 3 {
			return nil // in a clean tree: the project's own modes
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o", rel, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return looked
}

// TestBar23NotPrivate checks that reading and writing commands refuse a state directory that is a link, has another
// owner, or is writable for others, and that following the hint works.
func TestBar23NotPrivate(t *testing.T) {
	t.Parallel()
	cases := map[string]func(f *fixture, dir string) error{
		"a link": func(f *fixture, dir string) error {
			if err := os.Rename(dir, dir+".real"); err != nil {
				return err
			}
			return os.Symlink(dir+".real", dir)
		},
		"group may write":  func(_ *fixture, dir string) error { return os.Chmod(dir, 0o770) },
		"others may write": func(_ *fixture, dir string) error { return os.Chmod(dir, 0o707) },
		"somebody else's": func(_ *fixture, dir string) error {
			if os.Geteuid() != 0 {
				return os.Chmod(dir, 0o702)
			}
			return os.Chown(dir, 12345, 12345)
		},
		"a file": func(_ *fixture, dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o600)
		},
	}
	for name, make := range cases {
		for _, where := range []string{".git/wfs", "../state/wfs/trust"} {
			t.Run(name+" "+filepath.Base(where), func(t *testing.T) {
				f := plainTemplate.fixture(t)
				dir := filepath.Join(f.dir, where)
				if err := make(f, dir); err != nil {
					t.Fatal(err)
				}
				f.dirty()
				refs := f.ok("git", "for-each-ref")
				commands := [][]string{{"status", "one"}, {"checkpoint"}, {"run"}, {"note", "hello", "one"}}
				if where != ".git/wfs" {
					commands = [][]string{{"run"}}
				}
				for _, args := range commands {
					if out, exit := f.try(nil, append([]string{"wfs"}, args...)...); exit != exitError || !strings.Contains(out, "not a private directory") || !strings.Contains(out, "hint: wfs doctor") {
						t.Errorf("wfs %v: exit %d: %s", args, exit, out)
					}
				}
				if now := f.ok("git", "for-each-ref"); now != refs {
					t.Errorf("refs were %s, and are %s", refs, now)
				}
				out, exit := f.try(nil, "wfs", "doctor")
				if exit != exitBlocked || !strings.Contains(out, dir) {
					t.Errorf("doctor: exit %d: %s", exit, out)
				}
				if strings.Contains(out, "Type: "+"wfs doctor --repair") {
					f.ok("wfs", "doctor", "--repair")
					f.ok("wfs", "trust", "one", "--yes")
				} else {
					_, next, _ := strings.Cut(strings.Split(out, "\n")[0], "Type: ")
					f.ok("sh", "-c", next)
				}
				f.ok("wfs", "doctor")
				f.ok("wfs", "checkpoint", "-m", "again")
			})
		}
	}
}
