// Package model plays random histories of people, agents, git and killed commands with the built binary. After each
// step it compares wfs's output with the repository.
package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){"wfs-tracer": func() { os.Exit(testkit.TracerMain()) }})
}

// tidy removes the repositories that tests share after all tests.
type tidy struct{ *testing.M }

func (m tidy) Run() int { return testkit.Main(m.M) }

const branchPrefix = "refs/heads/wfs/"

// The output of wfs with --json, see docs/formats.md.
type (
	checkpoint struct {
		Number     int
		Code, Tree string
	}
	listJSON struct {
		Sessions []listed
	}
	listed struct {
		ID, Status, Why, Phase    string
		Lap, Attempts, Checkpoint int
		Current                   bool
		Worktree                  string
		Gone                      bool `json:"worktree_gone"`
		Next                      []string
	}
	logJSON struct {
		Current     int
		Checkpoints []checkpoint
	}
	failure struct{ Error, Hint, Code string }
)

const unreadable = "unreadable"

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// world is a repository in which people, agents and wfs act at random, one after the other, and the knowledge of the
// test about it. Some commands are killed.
type world struct {
	t    *rapid.T
	top  string // the directory of everything: repository, other work trees, home
	main string // the main work tree
	env  []string
	n    int // makes names and contents unique

	logs map[string][]checkpoint // each session's checkpoints, as wfs listed them; checkpoints never change or go
	kept map[string]bool         // all objects that wfs has ever kept
	cut  map[string]bool         // work trees where a command was killed, and none has succeeded since
	last *done                   // the newest command, if an undo must restore the state before it
	back *done                   // the newest undo, if a redo must restore the state before it
	sum  *tally

	gone   map[string]bool // commits that git's maintenance deleted and left in its commit-graph
	steps  *[]step         // if set, commands are recorded there, and none is killed
	killed bool            // an agent was killed: its git may have left locks
}

// done is a command that succeeded in a work tree, with the states before and after it.
type done struct {
	dir           string
	before, after *picture
}

// tally counts the tries, over all worlds.
type tally struct {
	worlds, steps, crashes, again int
	verbs                         map[string][2]int // done, refused
}

// modelTemplate makes the repository with which every world begins.
func modelTemplate(t *testing.T) string {
	t.Helper()
	top := filepath.Join(testkit.MemoryDir(t), "template")
	w := &world{top: top, main: filepath.Join(top, "repo"), env: testkit.Env(top)}
	for name, text := range map[string]string{
		"../gitconfig":              testkit.GitConfig,
		"../agent.sh":               "echo work > work.txt\n",
		"a.txt":                     "a\n",
		"dir/c.txt":                 "c\n",
		".gitignore":                "*.ignored\n",
		"keep.ignored":              "never touched\n",
		".wfs/config.yaml":          "version: 1\ngates:\n  tests: {run: 'true'}\n",
		".wfs/workflows/plain.yaml": "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n",
	} {
		path := filepath.Join(w.main, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"init -q", "add -A", "commit -q -m start", "branch side", "tag v1"} {
		if out, exit, _ := w.run(w.main, nil, append([]string{"git"}, strings.Fields(line)...)...); exit != 0 {
			t.Fatalf("git %s: %s", line, out)
		}
	}
	return top
}

// TestBarModel plays random histories: sessions, edits, git without wfs, agents that use git, and commands that are
// killed at any call that changes a file. After each step it compares wfs's output with the repository: nothing that
// was in a work tree, an index or a ref before a command is gone after it; checkpoints never change; the user's own
// things stay as they were; a killed command, typed again, ends like one that was not killed. WFS_RAPID sets the
// number of histories.
func TestBarModel(t *testing.T) {
	histories := 4
	if testkit.AllRows() {
		histories = 12
	}
	defer testkit.Drawn(t, histories, 14)()
	testkit.UseWfs(t)
	template := modelTemplate(t)
	dir := testkit.MemoryDir(t)
	sum := &tally{verbs: map[string][2]int{}}
	rapid.Check(t, func(rt *rapid.T) {
		sum.worlds++
		top := filepath.Join(dir, fmt.Sprint(sum.worlds))
		if out, err := exec.Command("cp", "-a", template, top).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		w := &world{t: rt, top: top, main: filepath.Join(top, "repo"), env: testkit.Env(top),
			logs: map[string][]checkpoint{}, kept: map[string]bool{}, cut: map[string]bool{}, sum: sum}
		defer func() {
			if !rt.Failed() || os.Getenv("WFS_KEEP") == "" {
				os.RemoveAll(top)
			} else {
				rt.Logf("kept: %s", top)
			}
		}()
		testkit.OwnClone(t, w.main)
		w.must(w.main, "wfs", "trust", "--yes")
		w.begin(rt)
		rt.Repeat(w.actions())
		w.sound()
	})
	t.Logf("%d histories, %d steps, %d kills, %d commands typed again, 0 objects lost", sum.worlds, sum.steps, sum.crashes, sum.again)
	for _, verb := range slices.Sorted(maps.Keys(sum.verbs)) {
		t.Logf("%-16s done %5d, refused %5d", verb, sum.verbs[verb][0], sum.verbs[verb][1])
	}
}

// run runs a command and returns its two streams and its exit code, -1 if a signal ended it.
func (w *world) run(dir string, env []string, args ...string) (stdout string, exit int, stderr string) {
	var out, errs strings.Builder
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(slices.Clip(w.env), env...), &out, &errs
	c.WaitDelay = 10 * time.Second
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return "", 1, err.Error()
	}
	return out.String(), c.ProcessState.ExitCode(), errs.String()
}

// must runs a command that cannot fail.
func (w *world) must(dir string, args ...string) string {
	w.t.Helper()
	out, exit, errs := w.run(dir, nil, args...)
	if exit != 0 {
		w.t.Fatalf("%s: exit %d: %s%s", strings.Join(args, " "), exit, out, errs)
	}
	return out
}

// say runs a command of wfs, and decodes its JSON.
func (w *world) say(dir string, into any, args ...string) {
	w.t.Helper()
	out := w.must(dir, append(append([]string{"wfs"}, args...), "--json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		w.t.Fatalf("wfs %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// unique returns a new text.
func (w *world) unique(what string) string {
	w.n++
	return fmt.Sprintf("%s %d\n", what, w.n)
}

// place draws one of the work trees.
func (w *world) place(t *rapid.T, p *picture) string {
	dirs := slices.SortedFunc(maps.Keys(p.places), func(a, b string) int { // main first: rapid shrinks to it
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if len(dirs) == 1 || rapid.IntRange(0, 2).Draw(t, "elsewhere") < 2 {
		return w.main
	}
	return rapid.SampledFrom(dirs).Draw(t, "place")
}

// some draws one of the existing sessions, "" when there is none.
func (w *world) some(t *rapid.T) string {
	ids := slices.Sorted(maps.Keys(w.logs))
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(t, "session")
}
