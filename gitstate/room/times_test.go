package room

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

// TestLaidTimes lays two trees out alternately, without a pause: every file that is written gets a later time than all
// before it there, and git regards it as unchanged.
func TestLaidTimes(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	dir := filepath.Join(r.home, "clean", "repo")
	r.write("same.txt", "same")
	r.write("turn.txt", "one")
	one := r.snap()
	r.write("turn.txt", "two")
	two := r.snap()
	mtime := func(name string) time.Time {
		t.Helper()
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	var last, same time.Time
	lay := func(tree session.Tree) {
		t.Helper()
		if err := r.layIn(ctx, dir, tree, nil); err != nil {
			t.Fatal(err)
		}
		now := mtime("turn.txt")
		if now.Sub(last) < timeStep {
			t.Errorf("%s after %s", now, last)
		}
		last = now
		if out := r.git("-C", dir, "diff-files", "--name-only"); out != "" {
			t.Errorf("git takes for changed: %s", out)
		}
	}
	lay(one)
	same = mtime("same.txt")
	for i := range 6 {
		lay([]session.Tree{two, one}[i%2])
		if !mtime("same.txt").Equal(same) {
			t.Error("a file that is the same was written again")
		}
	}
	// A file that another process changed is written again, with a later time; an index that another process left is
	// not trusted.
	file := filepath.Join(dir, "turn.txt")
	if err := errors.Join(os.WriteFile(file, []byte("bad"), 0o644), os.Chtimes(file, last, last)); err != nil {
		t.Fatal(err)
	}
	lay(one)
	sameFiles(t, under(t, dir), r.treeFiles(one))
	if err := os.Remove(filepath.Join(r.memory("test"), "index")); err != nil {
		t.Fatal(err)
	}
	lay(one)
}

// turns lays two trees out alternately in a directory in which builds and caches stay, and runs a command there, which
// must fail on the mutant and pass on the other tree, each time.
func turns(t *testing.T, rounds int, files, mutant map[string]string, env []string, argv ...string) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skip(err)
	}
	r := newRepo(t)
	dir := filepath.Join(r.home, "clean", "repo")
	for name, text := range files {
		r.write(name, text)
	}
	honest := r.snap()
	for name, text := range mutant {
		if len(text) != len(files[name]) {
			t.Fatalf("%s has another size", name)
		}
		r.write(name, text)
	}
	trees := map[bool]session.Tree{true: honest, false: r.snap()}
	for i := range rounds {
		passes := i%2 == 0
		if err := r.layIn(t.Context(), dir, trees[passes], func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if (err == nil) != passes {
			t.Fatalf("round %d, honest %t: %v\n%s", i, passes, err, out)
		}
	}
}

func TestLaidTimesPython(t *testing.T) {
	t.Parallel()
	testkit.Long(t)
	test := "import calc\nassert calc.add(1, 2) == 3\n"
	turns(t, 20, map[string]string{"calc.py": "def add(a, b): return a + b\n", "test_calc.py": test},
		map[string]string{"calc.py": "def add(a, b): return a - b\n"},
		[]string{"PYTHONDONTWRITEBYTECODE="}, "python3", "test_calc.py")
}

func TestLaidTimesMake(t *testing.T) {
	t.Parallel()
	makefile := "check: out\n\tgrep -q good out\nout: in\n\tcp in out\n"
	turns(t, 20, map[string]string{"Makefile": makefile, "in": "good"}, map[string]string{"in": "evil"}, nil,
		"make", "check")
}

func TestLaidTimesCargo(t *testing.T) {
	t.Parallel()
	testkit.Long(t)
	if testing.Short() {
		t.Skip("it builds")
	}
	home, _ := os.UserHomeDir()
	var env []string
	for name, dir := range map[string]string{"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"} {
		if os.Getenv(name) == "" {
			env = append(env, name+"="+filepath.Join(home, dir))
		}
	}
	version := exec.Command("cargo", "--version") // rustup's cargo may be installed without a toolchain
	version.Env = append(os.Environ(), env...)
	if version.Run() != nil {
		t.Skip("SKIPPED: cargo does not run here")
	}
	manifest := "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
	src := "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n"
	turns(t, 8, map[string]string{"Cargo.toml": manifest, "src/lib.rs": src},
		map[string]string{"src/lib.rs": strings.Replace(src, "a + b }", "a - b }", 1)}, env,
		"cargo", "test", "-q", "--offline", "--lib")
}
