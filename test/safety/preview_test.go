package safety

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// state returns everything that a command could change: refs and their logs, HEAD, index, configuration, journals,
// claims, and the work tree. It leaves out objects, private indexes and locks.
func (f *fixture) state() string {
	f.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.dir, path)
		if rel = filepath.ToSlash(rel); rel == ".git/objects" || strings.HasPrefix(rel, ".git/wfs/worktrees/") || strings.HasSuffix(rel, ".lock") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(rel + "\n" + string(data) + "\n")
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return b.String()
}

// A dry run prints the changes of files, and makes none.
func TestDryRunsWriteNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(f *fixture)
		args   string
		exit   int
		want   []string // lines
	}{
		"resume": {func(f *fixture) { f.dirty() }, "resume @1", exitOK, []string{"+ create  a.txt", "~ change  edited.txt", "~ change  staged.txt",
			"- delete  second.txt", "- delete  untracked.txt", "resume one at checkpoint 1: 5 files would change; nothing was moved"}},
		"resume where it is": {func(f *fixture) { f.dirty() }, "resume", exitOK, []string{"there is nothing to do; nothing was moved"}},
		"resume of another":  {nil, "resume two@0", exitOK, []string{"- delete  first.txt", "resume two at checkpoint 0: 2 files would change, and HEAD would go to wfs/two; nothing was moved"}},
		"in the way": {func(f *fixture) {
			f.write("log.ignored", "forced\n")
			f.ok("git", "add", "-f", "log.ignored")
			f.ok("wfs", "checkpoint")
			f.ok("wfs", "resume", "@1")
			f.write("log.ignored", "mine\n")
		}, "resume @3", exitOK, []string{"! in the way  log.ignored (git ignores it, so it is in no snapshot)",
			"resume one at checkpoint 3: 2 files would change, but it would be refused because of 1 file in the way; nothing was moved"}},
		"switch": {func(f *fixture) { f.dirty() }, "switch two", exitOK, []string{"+ create  of-two.txt", "- delete  untracked.txt",
			"switch from wfs/one to two: 7 files would change, and HEAD would go to wfs/two; nothing was moved"}},
		"switch to a branch": {nil, "switch main", exitOK, []string{"- delete  first.txt", "- delete  second.txt",
			"switch from one to main: 2 files would change, and HEAD would go to main; nothing was moved"}},
		"switch to nowhere":  {nil, "switch nowhere", exitUsage, []string{`error: no session or branch "nowhere"`}},
		"switch where it is": {nil, "switch one", exitOK, []string{"there is nothing to do; nothing was moved"}},
		"undo":               {func(f *fixture) { f.ok("wfs", "resume", "@1"); f.dirty() }, "undo", exitOK, []string{"+ create  second.txt", "- delete  untracked.txt", "undo: resume one at checkpoint 1: 5 files would change; nothing was moved"}},
		"undo of a switch": {func(f *fixture) { f.dirty(); f.ok("wfs", "switch", "two") }, "undo", exitOK, []string{"- delete  of-two.txt", "+ create  untracked.txt",
			"undo: switch from wfs/one to two; undo: checkpoint 3 of one: edits of one, kept when it was left: 7 files would change, and HEAD would go to wfs/one; nothing was moved"}},
		// The second operation is checked in the state after the first one, and every operation is checked.
		"undo of a checkpoint that is refused": {func(f *fixture) {
			f.dirty()
			f.ok("wfs", "checkpoint")
			f.ok("git", "commit", "-q", "--allow-empty", "-m", "mine")
		}, "undo", exitError, []string{"hint: wfs resume one@2"}},
		"undo of a record that is refused": {func(f *fixture) {
			f.ok("wfs", "run")
			f.ok("wfs", "phase", "back", "WORK")
			f.ok("wfs", "run")
		}, "undo", exitError, []string{"hint: wfs status one"}},
		"redo":                {func(f *fixture) { f.ok("wfs", "resume", "@1"); f.ok("wfs", "undo") }, "redo", exitOK, []string{"- delete  second.txt", "redo: resume one at checkpoint 1: 1 file would change; nothing was moved"}},
		"undo of a record":    {func(f *fixture) { f.ok("wfs", "abandon", "two") }, "undo", exitOK, []string{"undo: abandon two: 0 files would change; nothing was moved"}},
		"undo of a deletion":  {func(f *fixture) { f.ok("wfs", "delete", "two", "--force") }, "undo", exitOK, []string{"undo: delete two: 0 files would change; nothing was moved"}},
		"finish":              {func(f *fixture) { f.write(".workflow/one/plan.md", "plan\n"); f.ok("wfs", "run") }, "finish --branch handed", exitOK, []string{"- delete  .workflow/one/plan.md", "finish one on handed: 1 file would change, and HEAD would go to handed; nothing was moved"}},
		"finish that is not":  {nil, "finish", exitBlocked, []string{"hint: wfs run one"}},
		"finish on a branch":  {func(f *fixture) { f.ok("wfs", "run") }, "finish --branch side", exitError, []string{"error: branch side already exists"}},
		"after a killed move": {halfMoved, "resume @2", exitError, []string{"hint: wfs resume one, which completes it first"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			if c.before != nil {
				c.before(f)
			}
			f.ok("git", "status") // may refresh the index
			before := f.state()
			out, exit := f.try(nil, append(append([]string{"wfs"}, strings.Fields(c.args)...), "--dry-run")...)
			if exit != c.exit {
				t.Errorf("exit %d, want %d", exit, c.exit)
			}
			for _, line := range c.want {
				if !strings.Contains("\n"+out+"\n", "\n"+line+"\n") {
					t.Errorf("no line %q in\n%s", line, out)
				}
			}
			jsonOut, exit := f.try(nil, append(append([]string{"wfs"}, strings.Fields(c.args)...), "--dry-run", "--json")...)
			var j struct {
				Version int
				Changes []any
			}
			if err := json.Unmarshal([]byte(jsonOut), &j); exit == exitOK && (err != nil || j.Version != 1 || j.Changes == nil || !strings.Contains(jsonOut, `"in_the_way":[`)) {
				t.Errorf("%v in %s", err, jsonOut)
			}
			if after := f.state(); after != before {
				t.Errorf("something was written:\n%s", firstDifference(before, after))
			}
		})
	}
}

// halfMoved leaves a move as a killed process does: begun, with no file moved.
func halfMoved(f *fixture) {
	f.switchDies(moveBegun)
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return "one is longer"
}
