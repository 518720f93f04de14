//go:build linux && amd64

package safety

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// badBuilds are builds of wfs with a deliberate fault, see testdata/bad, and the tests that must catch it: a check
// that cannot fail proves nothing.
var badBuilds = []struct {
	bad  string // the file in testdata/bad
	pkg  string
	test string
	env  []string
	says string // a text in the test's output, so that it did not fail for another reason
}{
	{"index", "./test/safety", "TestBar01Bar03Bar04Bar09Sweep",
		[]string{"WFS_SWEEP=all", "WFS_SWEEP_DEED=checkpoint of what is in the index alone", "WFS_SWEEP_WAY=tear", "WFS_SWEEP_OF=repo/.git/index"}, "index file"},
	{"refs", "./test/safety", "TestBar01Bar03Bar04Bar09Sweep",
		[]string{"WFS_SWEEP=all", "WFS_SWEEP_DEED=checkpoint", "WFS_SWEEP_WAY=tear", "WFS_SWEEP_OF=refs/wfs/one/index"}, "bad object refs/wfs/one"},
	{"sync", "./test/safety", "TestBar13PowerCut",
		[]string{"WFS_SWEEP=end", "WFS_SWEEP_DEED=doctor --repair of a damaged journal"}, "did not happen"},
	{"add", "./gitstate", "TestSnapshotNamesWhatItCannotHold", nil, "adding files failed"},
	{"lock", "./internal/durable", "TestLockExcludesAnotherProcess", nil, "ErrLocked"},
	{"kin", "./internal/proc", "TestRunFindsEscapedByMarker|TestMarked", nil, "FAIL: TestMarked"},
}

// TestBar26HarnessBites builds wfs with one fault at a time, and expects that a test catches it.
func TestBar26HarnessBites(t *testing.T) {
	if testing.Short() {
		t.Skip("builds wfs six times")
	}
	if flag.Lookup("test.run").Value.String() == "" {
		t.Skip("minutes: go test -run Bar26 ./test/safety, as .ci/run does")
	}
	caught := 0
	for _, b := range badBuilds {
		t.Run(b.bad, func(t *testing.T) {
			overlay, _ := badOverlay(t, b.bad)
			args := []string{"test", "-vet=off", "-count=1", "-failfast", "-run", "^(" + b.test + ")$"}
			environ := append(os.Environ(), b.env...)
			if b.pkg == "./test/safety" { // these tests build the binary themselves
				environ = append(environ, "WFS_OVERLAY="+overlay)
			} else {
				args = append(args, "-overlay="+overlay)
			}
			cmd := exec.Command("go", append(args, b.pkg)...)
			cmd.Dir, cmd.Env = filepath.Join("..", ".."), environ
			out, err := cmd.CombinedOutput()
			text := string(out)
			if err == nil || strings.Contains(text, "[build failed]") || !strings.Contains(text, "--- FAIL: ") || !strings.Contains(text, b.says) {
				t.Fatalf("not caught: %v\n%s", err, text)
			}
			caught++
		})
	}
	t.Logf("%d of %d bad builds were caught", caught, len(badBuilds))
}

// TestBadBuildsCompile checks that every fault still fits the sources and compiles, and that a test is named for it.
func TestBadBuildsCompile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(files) != len(badBuilds) {
		t.Fatalf("%d files for %d tests, %v", len(files), len(badBuilds), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overlay, pkg := badOverlay(t, name)
			cmd := exec.Command("go", "build", "-overlay="+overlay, pkg)
			cmd.Dir = filepath.Join("..", "..")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// badOverlay makes a file for `go build -overlay` from a file in testdata/bad: it replaces a text in a file of wfs by
// a faulty one, and adds a file to the package. pkg is that package.
func badOverlay(t *testing.T, name string) (overlay, pkg string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "bad", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) string {
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
		if i < 0 {
			return ""
		}
		return strings.TrimSuffix(string(archive.Files[i].Data), "\n")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, part("file"))
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), part("good")); n != 1 {
		t.Fatalf("%s: the good text is there %d times in %s: change testdata/bad with the product", name, n, file)
	}
	dir := t.TempDir()
	testkit.Write(t, dir, "bad.go", strings.Replace(string(source), part("good"), part("bad"), 1))
	replace := map[string]string{file: filepath.Join(dir, "bad.go")}
	if more := part("more.go"); more != "" {
		testkit.Write(t, dir, "more.go", more+"\n")
		replace[filepath.Join(filepath.Dir(file), "bad_more.go")] = filepath.Join(dir, "more.go")
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Write(t, dir, "overlay.json", string(data))
	return filepath.Join(dir, "overlay.json"), "./" + filepath.Dir(part("file"))
}
