// Package safety tests the first promise of wfs with the built binary: it does not lose the user's work. Commands die
// at every step, calls fail, the power is cut, files are damaged, people and git interfere, and repositories are odd;
// afterwards all the work is still there, and the next command continues.
package safety

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		"wfs-tracer":        func() { os.Exit(testkit.TracerMain()) },
		"wfs-without-locks": func() { os.Exit(noLocksMain()) }, // runs a command without file locks
	})
}

// tidy removes the repositories that tests share after all tests.
type tidy struct{ *testing.M }

func (m tidy) Run() int { return testkit.Main(m.M) }

const (
	exitOK       = testkit.ExitOK
	exitError    = testkit.ExitError
	exitUsage    = testkit.ExitUsage
	exitDecision = testkit.ExitDecision
	exitBlocked  = testkit.ExitBlocked
	exitHeld     = testkit.ExitHeld
)

// fixture is a repository with two sessions, the first of them current, and with things of the user's that wfs must
// not touch: a branch, a stash, an ignored file.
type fixture struct {
	t   *testing.T
	dir string
	env []string
	run string // id of the run of attempt, "" for one-0001-dead

	prepared prepared // the turn that died, see died

	kept map[string]string // blobs that existed before a process died, see blobs
	counts
}

// counts has the results of checks, for tables.
type counts struct {
	lost       int // contents
	complaints int // of git, about the repository

	// Of commands that were stopped at some step; only tests with the tag failpoints count them.
	Dark      bool   // the power was cut: caches and logs of other programs may be lost
	Cut       bool   // the power was cut before the command ended: data that no program synced may be lost
	Unsynced  bool   // the power was cut, and unsynced changes of file names are lost
	Changed   int    // how often something of the user's was different
	Stays     string // the end of a path whose removal was made to fail, while the command continued
	Retries   int    // of the same command
	Succeeded int    // of those, without repairs by hand
}

// template makes a repository once; each test copies it.
type template struct {
	testkit.Template
	make func(f *fixture)
}

func (p *template) fixture(t *testing.T) *fixture {
	t.Helper()
	f := p.copied(t)
	f.trust("one", "two")
	return f
}

func (p *template) copied(t *testing.T) *fixture {
	t.Helper()
	return p.at(t, filepath.Join(testkit.Temp(t, p.Parent()), "all"))
}

// at makes a copy in a directory that does not exist yet.
func (p *template) at(t *testing.T, top string) *fixture {
	t.Helper()
	testkit.UseFailpoints(t)
	below := func(top string) *fixture {
		return &fixture{t: t, dir: filepath.Join(top, "repo"), env: testkit.Env(top)}
	}
	p.CopyTo(t, top, func(top string) { p.make(below(top)) })
	f := below(top)
	testkit.OwnClone(t, f.dir)
	return f
}

// trust allows these sessions and the configuration to run here: trust is bound to the path.
func (f *fixture) trust(ids ...string) {
	f.t.Helper()
	f.repo().Trust(ids...)
}

// plainTemplate has sessions one (current, with two checkpoints) and two, in a workflow of one phase whose gate
// always passes.
var plainTemplate = template{make: func(f *fixture) { f.repo().Plain() }}

func (f *fixture) repo() *testkit.Repo {
	f.t.Helper()
	return &testkit.Repo{T: f.t, Dir: f.dir, Env: f.env, Wfs: testkit.Failpoints(f.t)}
}

func (f *fixture) begin(gate string) { f.t.Helper(); f.repo().Begin(gate) }

func (f *fixture) writeAll(files map[string]string) {
	f.t.Helper()
	testkit.WriteAll(f.t, f.dir, files)
}

func (f *fixture) write(name, text string) { f.t.Helper(); testkit.Write(f.t, f.dir, name, text) }

// dirty makes edits of every kind: changed, staged and changed again, staged only, untracked, deleted.
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

func dirty(f *fixture)       { f.dirty() }
func dirtyOnMain(f *fixture) { f.ok("wfs", "switch", "main"); f.dirty() }

// try runs a command and returns its output and exit code, -1 if a signal ended it.
func (f *fixture) try(env []string, args ...string) (string, int) {
	f.t.Helper()
	return testkit.Run(f.t, f.dir, append(append([]string{}, f.env...), env...), args...)
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

// blobs returns the contents that must never get lost: of the work tree, of the index, and of all refs.
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
	var names []string
	for _, name := range strings.Split(f.ok("git", "ls-files", "-c", "-o", "--exclude-standard"), "\n") {
		if f.exists(name) {
			names = append(names, name)
		}
	}
	for _, id := range strings.Fields(f.ok(append([]string{"git", "hash-object", "--"}, names...)...)) {
		ids[id] = true
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

// onDisk returns the blob ids of all files and links outside of .git.
func (f *fixture) onDisk() map[string]bool {
	f.t.Helper()
	ids := map[string]bool{}
	err := filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		var data []byte
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.Type() == fs.ModeSymlink:
			var target string
			target, err = os.Readlink(path)
			data = []byte(target)
		case e.Type().IsRegular():
			data, err = os.ReadFile(path)
		default:
			return nil
		}
		sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
		ids[hex.EncodeToString(sum[:])] = true
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return ids
}

func (f *fixture) nothingLost(before map[string]string) {
	f.t.Helper()
	tree, refs := f.onDisk(), f.reachable()
	index := sync.OnceValue(func() string { return f.ok("git", "ls-files", "-s") })
	for id, where := range before {
		if !tree[id] && !refs[id] && !(where == "index" && strings.Contains(index(), id)) {
			f.lost++
			f.t.Errorf("lost: %s, which was in the %s", id, where)
		}
	}
	if data, err := os.ReadFile(filepath.Join(f.dir, "keep.ignored")); err != nil || string(data) != "never touched\n" {
		f.lost++
		f.t.Errorf("the ignored file was touched: %q, %v", data, err)
	}
}

// sound checks the repository with git, and returns its refs and its status.
func (f *fixture) sound() (refs, status string) {
	f.t.Helper()
	fsck := []string{"git", "fsck", "--full", "--strict", "--no-dangling"}
	if !f.exists(".git/objects/pack/multi-pack-index") && !f.exists(".git/objects/info/commit-graph") &&
		!f.exists(".git/objects/info/commit-graphs") {
		fsck = slices.Insert(fsck, 1, "-c", "core.multiPackIndex=false", "-c", "core.commitGraph=false") // a process for each
	}
	f.quiet(fsck...)
	return f.quiet("git", "for-each-ref", "--format=%(refname) %(objectname)"), f.quiet("git", "status", "--porcelain")
}

// quiet runs a git command that must not complain, and returns its output.
func (f *fixture) quiet(args ...string) string {
	f.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = f.dir, f.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		f.complaints++
		f.t.Errorf("%s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// userThings returns the user's own things: branches and tags that are not of wfs with their reflogs, stash, hooks,
// configuration and exclude rules.
func (f *fixture) userThings() string {
	f.t.Helper()
	return f.theirs(f.ok("git", "for-each-ref", "--format=%(refname) %(objectname)"))
}

// theirs is userThings for a given list of all refs.
func (f *fixture) theirs(refs string) string {
	f.t.Helper()
	var b strings.Builder
	for _, name := range []string{"refs/heads/main", "refs/heads/side", "refs/stash", "refs/tags/"} {
		for line := range strings.Lines(refs) {
			if ref, id, _ := strings.Cut(line, " "); ref == name || strings.HasSuffix(name, "/") && strings.HasPrefix(ref, name) {
				fmt.Fprintln(&b, ref, strings.TrimSpace(id))
			}
		}
	}
	for _, name := range []string{"config", "info/exclude", "hooks", "logs/refs/heads/main", "logs/refs/heads/side", "logs/refs/stash"} {
		path := filepath.Join(f.dir, ".git", name)
		err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if e.Type()&fs.ModeType == 0 && filepath.Base(filepath.Dir(path)) == "hooks" {
				data = fmt.Appendf(nil, "%x", sha1.Sum(data))
			}
			if name == "info/exclude" { // `hook install` adds this line
				data = bytes.ReplaceAll(data, []byte("/"+localSettings+"\n"), nil)
			}
			fmt.Fprintf(&b, "%s: %s\n", path, data)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			f.t.Fatal(err)
		}
	}
	return b.String()
}

// heldOut checks that files are as holdOut left them, and that no object has their content.
func (f *fixture) heldOut(names ...string) {
	f.t.Helper()
	for _, name := range names {
		if !f.exists(name) {
			f.t.Errorf("%s is gone", name)
			continue
		}
		id := f.ok("git", "hash-object", name)
		if all := f.ok("git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"); strings.Contains(all, strings.TrimSpace(id)) {
			f.t.Errorf("there is an object of %s", name)
		}
	}
}
