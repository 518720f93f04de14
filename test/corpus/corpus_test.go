// Package corpus opens repositories that an older wfs has made: after each command, in each phase, killed at each
// step, and damaged. Today's wfs must read, recover, continue, undo and finish their sessions as the older one did,
// and lose nothing.
package corpus

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// TestCorpus types, in each repository, the commands that the older binary ran there, and compares the results.
func TestCorpus(t *testing.T) {
	binary := os.Getenv("WFS_CORPUS_BINARY")
	if binary == "" {
		binary = testkit.Wfs(t)
	}
	all, content := unpack(t)
	for i, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			sample(t, i)
			t.Parallel()
			h := &home{t: t, dir: filepath.Join(testkit.Temp(t, testkit.Memory()), "home"), binary: binary}
			r.thaw(t, h.dir, content)
			h.settleIn()
			if !r.Damage { // in a damaged repository some objects are not reachable
				h.nothingLost("unpacking it", r.Before)
			}
			before := h.contents()
			for i, command := range road(r) {
				was, is := r.Road[i+1], h.take(command, i >= looks)
				if is.Command != was.Command {
					t.Fatalf("the road is another: %q, it was %q", is.Command, was.Command)
				}
				if is.Exit != was.Exit {
					t.Errorf("wfs %s: exit %d, it was %d: %s", command, is.Exit, was.Exit, h.said)
				}
				for _, d := range is.Where.differs(was.Where) {
					t.Errorf("after wfs %s: %s", command, d)
				}
				if i == looks || i == len(r.Road)-2 { // recovered, and at the end
					h.nothingLost("wfs "+command, before)
				}
				if t.Failed() {
					return
				}
			}
			if !r.Damage {
				h.sound()
			}
		})
	}
}

// sample skips all but one of 48 repositories, or of 16 if WFS_ROWS has the number of a part, or none with
// WFS_ROWS=all. One repository takes a second or two.
func sample(t *testing.T, i int) {
	t.Helper()
	run := flag.Lookup("test.run").Value.String()
	part, err := strconv.Atoi(os.Getenv("WFS_ROWS"))
	if testkit.AllRows() || strings.Contains(run, "/") || err == nil && i%16 == part || err != nil && i%48 == 0 {
		return
	}
	t.Skip("a part of the repositories is opened; WFS_ROWS=all opens all of them, as .ci/full does")
}

// looks is the number of commands at the beginning of a road that only read.
const looks = 2

// road returns the commands that are typed in a repository, from the first look to the end: its last command again, and
// every verb that continues from there.
func road(r *frozen) []string {
	list := []string{"status", "log"}[:looks]
	if again := r.Road[0].Command; again != "" {
		list = append(list, again)
	}
	return append(list, "resume one", "run --max-attempts 1 --no-wait", "checkpoint -m later", "undo", "redo", "undo", "resume one@0", "undo", "switch two",
		"resume one", "run --no-wait", "finish --branch corpus-end", "gc", "undo", "delete two --force", "undo")
}

// home is a directory with a repository in it that is also its user's home.
type home struct {
	t      *testing.T
	dir    string
	binary string
	said   string // output of the last command
}

// now is the time for every command of the corpus.
const now = "2030-01-02T03:04:05Z"

func (h *home) env(more ...string) []string {
	var clean []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WFS_") && !strings.HasPrefix(v, "GIT_") {
			clean = append(clean, v)
		}
	}
	return append(append(clean, "HOME="+h.dir, "TOP="+h.dir, "XDG_CONFIG_HOME="+h.dir+"/config", "XDG_STATE_HOME="+h.dir+"/state", "XDG_CACHE_HOME="+h.dir+"/cache",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+h.dir+"/gitconfig", "GIT_TEMPLATE_DIR=", "LC_ALL=C", "TZ=UTC", "WFS_NOW="+now,
		"GIT_AUTHOR_DATE="+now, "GIT_COMMITTER_DATE="+now,
		"PATH="+filepath.Dir(h.binary)+string(filepath.ListSeparator)+os.Getenv("PATH")), more...)
}

func (h *home) run(env []string, args ...string) (string, int) {
	h.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(h.dir, "repo"), h.env(env...)
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		h.t.Fatalf("%v: %v", args, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (h *home) wfs(command string) int {
	h.t.Helper()
	var exit int
	h.said, exit = h.run(nil, append([]string{h.binary}, strings.Fields(command)...)...)
	return exit
}

// settleIn trusts the commands of a repository here: trust is bound to the path.
func (h *home) settleIn() {
	h.wfs("trust --yes")
	refs, _ := h.run(nil, "git", "for-each-ref", "--format=%(refname)", "refs/wfs/")
	for ref := range strings.Lines(refs) {
		if id, ok := strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(ref), "refs/wfs/"), "/ledger"); ok {
			h.wfs("trust " + id + " --yes")
		}
	}
}

// take types a command. It records the resulting state only if the command writes.
func (h *home) take(command string, writes bool) (t taken) {
	h.t.Helper()
	t.Command, t.Exit = command, h.wfs(command)
	if said := h.said; writes {
		t.Where = h.look()
		h.said = said
	}
	return t
}

// picture is the state of a repository.
type picture struct {
	Head     string            // the branch that is checked out
	Branches map[string]string // and the trees of their commits
	Files    map[string]string // of the work tree, ignored ones too, and hashes of their contents
	Status   string            // the output of git status
	Sessions []one             // as wfs lists them
}

// one has the fields of a session in `wfs list --json` that must be the same.
type one struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	Phase      string `json:"phase"`
	Lap        int    `json:"lap"`
	Attempt    int    `json:"attempt"`
	Checkpoint int    `json:"checkpoint"`
	Current    bool   `json:"current"`
	Error      string `json:"error"`
}

func (h *home) look() (p picture) {
	h.t.Helper()
	repo := filepath.Join(h.dir, "repo")
	head, _ := os.ReadFile(filepath.Join(repo, ".git/HEAD"))
	p.Head = strings.TrimSpace(string(head))
	p.Branches, p.Files = map[string]string{}, map[string]string{}
	refs, _ := h.run(nil, "git", "for-each-ref", "--format=%(refname) %(tree)", "refs/heads", "refs/tags", "refs/stash")
	for line := range strings.Lines(refs) {
		ref, tree, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.Branches[ref] = short(tree)
	}
	for _, top := range []string{"repo", "repo-three"} {
		for path, sum := range h.onDisk(top) {
			p.Files[path] = sum
		}
	}
	p.Status, _ = h.run(nil, "git", "status", "--porcelain")
	h.wfs("list --json")
	var list struct {
		Sessions []one `json:"sessions"`
	}
	if start := strings.Index(h.said, "{"); start >= 0 {
		_ = json.NewDecoder(strings.NewReader(h.said[start:])).Decode(&list)
	}
	p.Sessions = list.Sessions
	for i := range p.Sessions {
		if p.Sessions[i].Error != "" {
			p.Sessions[i].Error = "cannot be read" // the wording may differ
		}
	}
	return p
}

// differs returns the differences between two pictures.
func (p picture) differs(was picture) (all []string) {
	if p.Head != was.Head {
		all = append(all, fmt.Sprintf("HEAD is %s, it was %s", p.Head, was.Head))
	}
	if p.Status != was.Status {
		all = append(all, fmt.Sprintf("git status says\n%sit said\n%s", p.Status, was.Status))
	}
	if !reflect.DeepEqual(p.Sessions, was.Sessions) {
		all = append(all, fmt.Sprintf("the sessions are\n%+v\nthey were\n%+v", p.Sessions, was.Sessions))
	}
	for _, m := range []struct {
		name    string
		is, was map[string]string
	}{{"branch", p.Branches, was.Branches}, {"file", p.Files, was.Files}} {
		keys := slices.Sorted(maps.Keys(m.is))
		keys = append(keys, slices.Sorted(maps.Keys(m.was))...)
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			if m.is[k] != m.was[k] {
				all = append(all, fmt.Sprintf("%s %s is %q, it was %q", m.name, k, m.is[k], m.was[k]))
			}
		}
	}
	return all
}

// onDisk returns the blob ids of the files of a work tree.
func (h *home) onDisk(top string) map[string]string {
	h.t.Helper()
	sums := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(h.dir, top), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		var data []byte
		switch {
		case d.Type() == fs.ModeSymlink:
			target, _ := os.Readlink(path)
			data = []byte(strings.ReplaceAll(target, h.dir, homePlaceholder))
		case d.Type().IsRegular():
			data, _ = os.ReadFile(path)
		default:
			return nil
		}
		sums[path[len(h.dir)+1:]] = gitSum(data)
		return nil
	})
	return sums
}

func gitSum(data []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	return short(hex.EncodeToString(sum[:]))
}

// short returns the beginning of an object id, as the archive has it.
func short(name string) string { return name[:10] }

// contents returns the contents that must never get lost: those of files that git does not ignore, of the index and
// of everything that a ref reaches. They are identified by git's SHA-1 ids, even if the repository uses another hash.
func (h *home) contents() []string {
	h.t.Helper()
	seen := map[string]bool{}
	out, _ := h.run(nil, "git", "ls-files", "-z", "-c", "-o", "--exclude-standard")
	disk := h.onDisk("repo")
	for _, name := range strings.Split(out, "\x00") {
		if sum := disk["repo/"+name]; sum != "" {
			seen[sum] = true
		}
	}
	for sum := range h.inGit() {
		seen[sum] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// inGit returns the contents in the index and in refs.
func (h *home) inGit() map[string]bool {
	h.t.Helper()
	out, _ := h.run(nil, "sh", "-c", `{ git rev-list --objects --all --indexed-objects 2>/dev/null || git rev-list --objects --all 2>/dev/null; } | cut -d' ' -f1 |
		git cat-file --batch-check='%(objecttype) %(objectname)' 2>/dev/null | sed -n 's/^blob //p' | sort -u`)
	seen := map[string]bool{}
	names := strings.Fields(out)
	if len(names) == 0 || len(names[0]) == 40 {
		for _, n := range names {
			seen[short(n)] = true
		}
		return seen
	}
	for _, n := range names { // SHA-256
		cmd := exec.Command("git", "cat-file", "blob", n)
		cmd.Dir, cmd.Env = filepath.Join(h.dir, "repo"), h.env()
		data, err := cmd.Output()
		if err != nil {
			h.t.Fatal(err)
		}
		seen[gitSum(data)] = true
	}
	return seen
}

func (h *home) nothingLost(after string, before []string) {
	h.t.Helper()
	have := h.inGit()
	for _, top := range []string{"repo", "repo-three"} {
		for _, sum := range h.onDisk(top) {
			have[sum] = true
		}
	}
	for _, sum := range before {
		if !have[sum] {
			h.t.Errorf("lost after %s: %s", after, sum)
		}
	}
}

// sound checks the repository with git.
func (h *home) sound() {
	h.t.Helper()
	if out, exit := h.run(nil, "git", "fsck", "--full", "--strict", "--no-dangling"); exit != 0 || bufio.NewScanner(strings.NewReader(out)).Scan() {
		h.t.Errorf("git fsck: exit %d: %s", exit, out)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
