//go:build failpoints

package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/internal/durable"
)

// deed is a command that is killed at every step that it passes, and what the repository must be like once the same
// command, typed again, has succeeded.
type deed struct {
	name string
	args []string
	// before brings the fixture to where the command makes sense.
	before func(f *fixture)
	// done checks the end. It must hold whether the first, killed try had come through or not.
	done func(f *fixture)
}

var deeds = []deed{
	{
		name: "checkpoint", args: []string{"checkpoint", "-m", "x"},
		before: func(f *fixture) { f.dirty() },
		done:   func(f *fixture) { f.branchHolds("wfs/one", "edited.txt", "untracked.txt") },
	},
	{
		name: "new", args: []string{"new", "three", "--workflow", "plain", "--agent", "true", "--leave"},
		before: func(f *fixture) { f.ok("wfs", "switch", "main"); f.dirty() },
		done: func(f *fixture) {
			if h := f.head(); !strings.HasPrefix(h, "refs/heads/wfs/three") {
				f.t.Errorf("HEAD is on %s", h)
			}
		},
	},
	{
		name: "switch", args: []string{"switch", "two"},
		before: func(f *fixture) { f.dirty() },
		done: func(f *fixture) {
			f.on("wfs/two")
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
		},
	},
	{
		name: "leave", args: []string{"switch", "main"},
		before: func(f *fixture) { f.dirty() },
		done:   func(f *fixture) { f.on("main") },
	},
	{
		name: "resume", args: []string{"resume", "--at", "1"},
		before: func(f *fixture) { f.dirty() },
		done: func(f *fixture) {
			f.on("wfs/one")
			if f.exists("second.txt") || !f.exists("first.txt") {
				f.t.Error("the work tree is not checkpoint 1's")
			}
		},
	},
	{
		name: "undo", args: []string{"undo"},
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "resume", "--at", "1") },
		done:   nil, // typed again it may be a redo: only what always holds is checked
	},
	{
		name: "finish", args: []string{"finish", "--branch", "handed"},
		before: func(f *fixture) { f.ok("wfs", "run") },
		done: func(f *fixture) {
			f.on("handed")
			f.branchHolds("handed", "work.txt")
		},
	},
	{
		name: "run", args: []string{"run"},
		done: func(f *fixture) { f.branchHolds("wfs/one", "work.txt") },
	},
}

// TestKillAtEveryStep kills wfs at every named step of every deed. Whatever was in the work tree, in the index or in a
// ref before is still there afterwards; git finds nothing wrong; and the same command, typed again, succeeds.
func TestKillAtEveryStep(t *testing.T) {
	var mu sync.Mutex
	hit := map[durable.Point]bool{}
	t.Run("points", func(t *testing.T) {
		for _, d := range deeds {
			for _, p := range durable.Points {
				t.Run(d.name+"/"+string(p), func(t *testing.T) {
					t.Parallel()
					if killAt(t, d, p) {
						mu.Lock()
						hit[p] = true
						mu.Unlock()
					}
				})
			}
		}
	})
	for _, p := range durable.Points {
		if !hit[p] {
			t.Errorf("no deed passes %s: a durable step without a test", p)
		}
	}
	t.Logf("%d of %d named steps were killed at", len(hit), len(durable.Points))
}

func killAt(t *testing.T, d deed, p durable.Point) (killed bool) {
	f := newFixture(t)
	if d.before != nil {
		d.before(f)
	}
	before := f.blobs()
	theirs := f.userThings()
	out, exit := f.try([]string{"WFS_FAILPOINT=" + string(p)}, append([]string{"wfs"}, d.args...)...)
	if exit != -1 {
		if exit != 0 {
			t.Fatalf("exit %d without being killed: %s", exit, out)
		}
		return false
	}
	f.nothingLost(before)
	f.sound()
	f.ok("wfs", "status", "one")
	f.ok("wfs", "list")
	again, exit := f.try(nil, append([]string{"wfs"}, d.args...)...)
	if exit != 0 && !f.doneAlready(d, again) {
		t.Fatalf("typed again it fails with exit %d: %s", exit, again)
	}
	f.nothingLost(before)
	f.sound()
	if d.done != nil {
		d.done(f)
	}
	if now := f.userThings(); now != theirs {
		t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	if status := f.ok("git", "status", "--porcelain"); d.name != "undo" && status != "" && !strings.HasPrefix(d.name, "leave") {
		t.Errorf("git status is not clean: %s", status)
	}
	return true
}

// fixture is a repository with two sessions, one of them current, and things of the user's that must not be touched.
type fixture struct {
	t   *testing.T
	dir string
	env []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	top := t.TempDir()
	f := &fixture{t: t, dir: filepath.Join(top, "repo")}
	template := makeTemplate(t)
	if out, err := exec.Command("cp", "-a", template, top+"/all").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.dir = filepath.Join(top, "all", "repo")
	f.env = fixtureEnv(filepath.Join(top, "all"))
	f.ok("wfs", "trust", "--yes") // trust is bound to the place
	f.ok("wfs", "trust", "one", "--yes")
	f.ok("wfs", "trust", "two", "--yes")
	return f
}

func fixtureEnv(top string) []string {
	return append(os.Environ(), "HOME="+top, "XDG_CONFIG_HOME="+top+"/config", "XDG_STATE_HOME="+top+"/state", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+top+"/gitconfig", "LC_ALL=C", "TZ=UTC")
}

var (
	templateOnce sync.Once
	templateDir  string
)

// makeTemplate makes the fixture once; each test copies it.
func makeTemplate(t *testing.T) string {
	t.Helper()
	templateOnce.Do(func() {
		top, err := os.MkdirTemp("", "wfs-kill-")
		if err != nil {
			t.Fatal(err)
		}
		templateDir = top
		f := &fixture{t: t, dir: filepath.Join(top, "repo"), env: fixtureEnv(top)}
		for name, text := range map[string]string{
			"gitconfig":                      "[user]\n\tname = T\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n",
			"repo/a.txt":                     "a\n",
			"repo/edited.txt":                "as committed\n",
			"repo/staged.txt":                "as committed\n",
			"repo/.gitignore":                "*.ignored\n",
			"repo/keep.ignored":              "never touched\n",
			"repo/.wfs/workflows/plain.yaml": "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n",
		} {
			f.write("../"+name, text)
		}
		f.ok("git", "init", "-q")
		f.ok("git", "add", "-A")
		f.ok("git", "commit", "-q", "-m", "start")
		f.ok("git", "branch", "side")
		f.write("a.txt", "stashed\n")
		f.ok("git", "stash", "-q")
		f.ok("wfs", "init", "--test", "true")
		f.ok("git", "add", ".wfs")
		f.ok("git", "commit", "-q", "-m", "init")
		f.ok("wfs", "trust", "--yes")
		f.ok("wfs", "new", "two", "--workflow", "plain", "--agent", "true")
		f.write("of-two.txt", "two\n")
		f.ok("wfs", "switch", "main")
		f.ok("wfs", "new", "one", "--workflow", "plain", "--agent", "echo work > work.txt")
		f.write("first.txt", "first\n")
		f.ok("wfs", "checkpoint", "-m", "first")
		f.write("second.txt", "second\n")
		f.ok("wfs", "checkpoint", "-m", "second")
	})
	return templateDir
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// dirty makes edits of every sort: changed, staged and changed again, staged only, untracked, deleted.
func (f *fixture) dirty() {
	f.write("staged.txt", "staged, and nowhere else\n")
	f.ok("git", "add", "staged.txt")
	f.write("staged.txt", "changed after it was staged\n")
	f.write("edited.txt", "edited\n")
	f.write("untracked.txt", "untracked\n")
	if err := os.Remove(filepath.Join(f.dir, "a.txt")); err != nil {
		f.t.Fatal(err)
	}
}

// try runs a command and returns its output and exit code, -1 when a signal ended it.
func (f *fixture) try(env []string, args ...string) (string, int) {
	f.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = f.dir, append(append([]string{}, f.env...), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !asExit(err, &exit) {
		f.t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func asExit(err error, target **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*target = e
	return ok
}

func (f *fixture) ok(args ...string) string {
	f.t.Helper()
	out, exit := f.try(nil, args...)
	if exit != 0 {
		f.t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return strings.TrimSpace(out)
}

func (f *fixture) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(f.dir, name))
	return err == nil
}

func (f *fixture) head() string {
	data, err := os.ReadFile(filepath.Join(f.dir, ".git/HEAD"))
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(data)), "ref: ")
}

func (f *fixture) on(branch string) {
	f.t.Helper()
	if h := f.head(); h != "refs/heads/"+branch {
		f.t.Errorf("HEAD is on %s, not on %s", h, branch)
	}
}

func (f *fixture) branchHolds(branch string, names ...string) {
	f.t.Helper()
	have := strings.Fields(f.ok("git", "ls-tree", "-r", "--name-only", branch))
	for _, n := range names {
		if !slices.Contains(have, n) {
			f.t.Errorf("%s is not on %s: %v", n, branch, have)
		}
	}
}

// blobs are the contents that must never get lost: of the work tree, of the index, and of all refs.
func (f *fixture) blobs() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for id := range f.inTree() {
		all[id] = "work tree"
	}
	for _, line := range strings.Split(f.ok("git", "ls-files", "-s"), "\n") {
		all[strings.Fields(line)[1]] = "index"
	}
	for id := range f.reachable() {
		all[id] = "refs"
	}
	return all
}

func (f *fixture) inTree() map[string]bool {
	f.t.Helper()
	ids := map[string]bool{}
	files := f.ok("git", "ls-files", "-c", "-o", "--exclude-standard")
	for _, name := range strings.Split(files, "\n") {
		if f.exists(name) {
			ids[f.ok("git", "hash-object", name)] = true
		}
	}
	return ids
}

func (f *fixture) reachable() map[string]bool {
	f.t.Helper()
	ids := map[string]bool{}
	for _, line := range strings.Split(f.ok("git", "rev-list", "--objects", "--all"), "\n") {
		ids[strings.Fields(line)[0]] = true
	}
	return ids
}

func (f *fixture) nothingLost(before map[string]string) {
	f.t.Helper()
	tree, refs := f.inTree(), f.reachable()
	index := map[string]bool{}
	for _, line := range strings.Split(f.ok("git", "ls-files", "-s"), "\n") {
		index[strings.Fields(line)[1]] = true
	}
	for id, where := range before {
		if !tree[id] && !refs[id] && !(where == "index" && index[id]) {
			f.t.Errorf("lost: %s, which was in the %s", id, where)
		}
	}
	if data, err := os.ReadFile(filepath.Join(f.dir, "keep.ignored")); err != nil || string(data) != "never touched\n" {
		f.t.Errorf("the ignored file was touched: %q, %v", data, err)
	}
}

// sound asks git whether anything is wrong with the repository.
func (f *fixture) sound() {
	f.t.Helper()
	for _, args := range [][]string{{"git", "fsck", "--full", "--strict", "--no-dangling"}, {"git", "for-each-ref"}, {"git", "status", "--porcelain"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = f.dir, f.env
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			f.t.Errorf("%s: %v: %s", strings.Join(args, " "), err, stderr.String())
		}
	}
}

// userThings are the user's own: branches and tags that are not ours, stash, hooks and configuration.
func (f *fixture) userThings() string {
	f.t.Helper()
	refs := f.ok("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/heads/side", "refs/stash", "refs/tags")
	config, err := os.ReadFile(filepath.Join(f.dir, ".git/config"))
	if err != nil {
		f.t.Fatal(err)
	}
	return refs + "\n" + string(config) + f.ok("git", "stash", "list")
}

// doneAlready reports whether a command refuses the second time because the first, killed one had come through.
func (f *fixture) doneAlready(d deed, out string) bool {
	return d.name == "finish" && strings.Contains(out, "no session is current") && f.head() == "refs/heads/handed"
}
