// Package stories runs whole stories with the binary, written as testscripts, and types every command that wfs prints
// there for a person to type.
package stories

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	programs := map[string]func(){
		"wfs": func() { os.Exit(printingMain()) },
		"go":  func() { os.Exit(goMain()) },
	}
	if _, err := exec.LookPath("python3"); err == nil { // scripts skip without it
		programs["python3"] = func() { os.Exit(pythonMain()) }
	}
	testscript.Main(tidy{m}, programs)
}

// tidy removes the repositories that tests share after all tests.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	testkit.PastShims()
	return testkit.Main(m.M)
}

// TestScripts runs whole stories with real git and real test runners. A script has an empty home, a pinned clock and
// its own identity, so that commit ids in it are the same everywhere.
func TestScripts(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatalf("go env GOCACHE: %v", err)
	}
	wfs := filepath.Dir(testkit.Wfs(t))
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			testkit.SampleStory(e.T(), filepath.Base(e.WorkDir))
			for k, v := range map[string]string{
				"HOME": filepath.Join(e.WorkDir, ".home"), "XDG_CONFIG_HOME": filepath.Join(e.WorkDir, ".home", "config"),
				"XDG_STATE_HOME": filepath.Join(e.WorkDir, ".home", "state"), "GIT_CONFIG_NOSYSTEM": "1",
				"GIT_CONFIG_GLOBAL": filepath.Join(e.WorkDir, ".home", "gitconfig"),
				"GOCACHE":           strings.TrimSpace(string(cache)), "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off",
				"WFS_NOW": "2030-01-02T03:04:05Z", "LC_ALL": "C", "TZ": "UTC",
				"GIT_AUTHOR_DATE": "2030-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2030-01-01T00:00:00Z",
			} {
				e.Setenv(k, v)
			}
			wrappers, rest, _ := strings.Cut(e.Getenv("PATH"), string(filepath.ListSeparator)) // testscript's own is first
			e.Setenv("PATH", strings.Join([]string{wrappers, wfs, rest}, string(filepath.ListSeparator)))
			kept, err := os.MkdirTemp("", "printed-")
			if err != nil {
				return err
			}
			kept = filepath.Join(kept, filepath.Base(e.WorkDir)) // the sample depends on this name
			if err := os.Mkdir(kept, 0o777); err != nil {
				return err
			}
			e.Setenv("WFS_PRINTED_DIR", kept)
			e.Setenv("WFS_PRINTED", os.Getenv("WFS_PRINTED"))
			e.Setenv("WFS_ROWS", os.Getenv("WFS_ROWS"))
			views, err := filepath.Abs(filepath.Join("..", "..", "docs", "views.py"))
			if err != nil {
				return err
			}
			e.Setenv("VIEWS", views)
			e.Defer(func() {
				typePrinted(e.T().(testing.TB), kept, e.WorkDir)
				removeTree(filepath.Dir(kept))
			})
			sessions, err := filepath.Abs("testdata/sessions")
			if err != nil {
				return err
			}
			e.Setenv("SESSIONS", sessions)
			home := filepath.Join(e.WorkDir, ".home")
			if err := os.MkdirAll(home, 0o777); err != nil {
				return err
			}
			config := "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tautocrlf = false\n"
			return os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o666)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
	})
}

// exits runs a command and checks its exit code: `exits 4 wfs run`. The script's stdout and stderr commands see its
// output.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = strings.TrimPrefix(exit.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit %s, want %s", got, args[0])
	}
}
