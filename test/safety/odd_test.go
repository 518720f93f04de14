package safety

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// Bar 19: odd repositories, odd configuration, odd files, and agents that run git. Each oddity either works as usual,
// or is refused with one clear line, a hint and the documented exit code, and nothing changes. The rows are in the
// files odd_*_test.go.

// oddity is one row: what is odd, and the outcome.
type oddity struct {
	name  string
	make  string   // shell, in the repository
	in    string   // the directory in which wfs runs, relative to the repository
	env   []string // for every wfs command
	needs string   // shell, in the repository: the row is skipped unless it succeeds

	// If the row is refused:
	says   string // a text in the error line; "" when the row works
	hint   string // a text in the hint
	exit   int    // exit code; 0 means 1
	closed bool   // reading commands are refused as well

	// If the row works:
	brief   bool   // in the short form, most rows run only a few commands
	finish  string // a text in the refusal of finish (exit code 4), "" if it works
	filters bool   // files need not come back byte by byte: git converts them
	skips   string // a text that checkpoints name as not held
	stays   bool   // wfs cannot switch to older sessions: they have something else at this path
	apart   string // paths (a regular expression) that are not compared; a comment at the row gives the reason
	status  string // the output of git status at the end, if it differs from the first
}

// oddTemplate has a repository with the kinds of files that a session changes, and an older session.
var oddTemplate = template{Template: testkit.Template{Fast: true}, make: func(f *fixture) {
	f.writeAll(map[string]string{
		"../gitconfig":              testkit.GitConfig,
		"a.txt":                     "a\n",
		"gone.txt":                  "deleted by the first edits\n",
		"dir/deep/b.txt":            "b\n",
		".gitignore":                "*.ignored\n",
		"keep.ignored":              "never touched\n",
		".wfs/workflows/plain.yaml": "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n",
		"../edit.sh":                "echo edited >> a.txt; rm gone.txt; mkdir new; echo new > new/file.txt; chmod +x dir/deep/b.txt",
	})
	f.begin("true")
	f.ok("wfs", "new", "older", "--workflow", "plain", "--agent", "echo work > work.txt; echo more >> a.txt")
	f.write("older.txt", "older\n")
	f.ok("wfs", "checkpoint")
	f.ok("wfs", "switch", "main")
}}

func oddFixture(t *testing.T) *fixture {
	t.Helper()
	f := oddTemplate.copied(t)
	f.ok("git", "update-index", "-q", "--refresh") // the files are copies
	f.trust("older")
	return f
}

// testOddities runs every row, and logs how many worked, were refused, or were skipped.
func testOddities(t *testing.T, rows []oddity) {
	var mu sync.Mutex
	var worked, refused, skipped int
	var slowest time.Duration
	t.Run("rows", func(t *testing.T) {
		for i, o := range rows {
			o.brief = o.finish == "" && i%3 != 0 && os.Getenv("WFS_SWEEP") != "all"
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				testkit.Sample(t)
				f := oddFixture(t)
				defer func() {
					if t.Skipped() {
						mu.Lock()
						defer mu.Unlock()
						skipped++
					}
				}()
				f.needs(o.needs)
				f.ok("sh", "-e", "-c", o.make)
				if o.says == "" {
					f.lives(o)
					mu.Lock()
					defer mu.Unlock()
					worked++
					return
				}
				took := f.isRefused(o)
				mu.Lock()
				defer mu.Unlock()
				refused++
				slowest = max(slowest, took)
			})
		}
	})
	t.Logf("%d rows work, %d are refused, the slowest within %v, %d cannot be tried here", worked, refused, slowest.Round(time.Millisecond), skipped)
}

// wfs runs a command in the row's directory.
func (f *fixture) wfs(o oddity, args ...string) (stdout, stderr string, exit int) {
	f.t.Helper()
	cmd := exec.Command("wfs", args...)
	cmd.Dir, cmd.Env = filepath.Join(f.dir, o.in), append(slices.Clone(f.env), o.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			f.t.Fatalf("wfs %s: %v", strings.Join(args, " "), err)
		}
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// must is wfs for commands that must succeed.
func (f *fixture) must(o oddity, args ...string) string {
	f.t.Helper()
	out, errs, exit := f.wfs(o, args...)
	if exit != 0 {
		f.t.Fatalf("wfs %s: exit %d\n%s%s", strings.Join(args, " "), exit, out, errs)
	}
	return out
}

// isRefused runs commands that would change something, and compares every byte before and after. It returns the
// longest time that a refusal took.
func (f *fixture) isRefused(o oddity) (slowest time.Duration) {
	f.t.Helper()
	for _, command := range [][]string{{"new", "refused", "--workflow", "plain", "--agent", "true", "--leave"}, {"switch", "older"}} {
		before := f.allBytes()
		began := time.Now()
		_, said, exit := f.wfs(o, command...)
		slowest = max(slowest, time.Since(began))
		lines := strings.Split(strings.TrimSpace(said), "\n")
		want := max(o.exit, 1)
		if exit != want {
			f.t.Errorf("wfs %s: exit %d, want %d: %s", command[0], exit, want, said)
		}
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "error: ") || !strings.HasPrefix(lines[1], "hint: ") {
			f.t.Errorf("wfs %s: not one line and a hint:\n%s", command[0], said)
		} else if !strings.Contains(lines[0], o.says) || !strings.Contains(lines[1], o.hint) {
			f.t.Errorf("wfs %s does not say %q, hint %q:\n%s", command[0], o.says, o.hint, said)
		}
		f.unchanged(before, "a refused wfs "+command[0])
	}
	before := f.allBytes()
	readings := [][]string{{"list"}}
	if f.hasOlder() {
		readings = append(readings, []string{"status", "older"}, nil)
	}
	for _, reading := range readings {
		out, errs, exit := f.wfs(o, reading...)
		if o.closed != (exit != 0) || strings.Contains(errs, "\nerror:") {
			f.t.Errorf("wfs %v: exit %d\n%s%s", reading, exit, out, errs)
		}
	}
	f.unchanged(before, "reading")
	return slowest
}

// lives runs the life of a session, from new to finish, or in the short form only to the way back.
func (f *fixture) lives(o oddity) {
	f.t.Helper()
	things := f.oddThings()
	tree, status := f.workTree(), f.status("-unormal")
	f.must(o, "trust", "--yes") // some rows are repositories that are new to wfs
	f.must(o, "new", "life", "--workflow", "plain", "--agent", "echo work > work.txt; rm -f a.txt", "--leave")
	if o.status != "" {
		status = o.status
	}
	apart := regexp.MustCompile(`(?m)^"(` + o.apart + `)".*\n`)
	same := func(what, want string) {
		f.t.Helper()
		want = apart.ReplaceAllString(want, "")
		if d := differing(want, apart.ReplaceAllString(f.workTree(), "")); d != "" && !o.filters {
			f.t.Errorf("%s: the files are not as they were:\n%s", what, d)
		}
	}
	f.ok("sh", "-e", filepath.Join(filepath.Dir(f.dir), "edit.sh"))
	first := f.workTree()
	out, errs, exit := f.wfs(o, "checkpoint", "-m", "first")
	if exit != 0 {
		f.t.Fatalf("checkpoint: exit %d: %s%s", exit, out, errs)
	}
	if named := strings.Contains(errs, "not in the checkpoint"); (o.skips != "") != named || !strings.Contains(out+errs, o.skips) {
		f.t.Errorf("checkpoint: want %q to be named: %s%s", o.skips, out, errs)
	}
	number := regexp.MustCompile(`checkpoint (\d+)`).FindStringSubmatch(out)
	if left := f.status("-uno"); left != "" && o.skips == "" && !o.filters {
		f.t.Errorf("after a checkpoint: %s", left)
	}
	same("checkpoint", first)
	if o.brief {
		f.must(o, "resume", "@0")
		f.must(o, "undo")
		same("undo", first)
		f.must(o, "switch", "main")
		same("switch main", tree)
		if now := f.status("-unormal"); now != status {
			f.t.Errorf("status was\n%s\nand is\n%s", status, now)
		}
		return
	}
	f.must(o, "run")
	second := f.workTree()
	f.must(o, "resume", "@"+number[1])
	same("resume --at", first)
	f.must(o, "undo")
	same("undo", second)
	f.must(o, "switch", "main")
	same("switch main", tree)
	if now := f.status("-unormal"); now != status {
		f.t.Errorf("status was\n%s\nand is\n%s", status, now)
	}
	f.must(o, "switch", "life")
	same("switch life", second)
	if now := f.oddThings(); now != things {
		f.t.Errorf("the user's things are not as they were:\n%s", differing(things, now))
	}
	_, errs, exit = f.wfs(o, "finish")
	switch {
	case o.finish == "" && exit != 0, o.finish != "" && (exit != exitBlocked || !strings.Contains(errs, o.finish)):
		f.t.Errorf("finish: exit %d, want to read %q: %s", exit, o.finish, errs)
	}
	if f.hasOlder() && !o.stays {
		f.must(o, "switch", "older")
		if !f.exists("older.txt") || f.exists("new/file.txt") {
			f.t.Error("switch older did not bring its files")
		}
	}
	f.must(o)
}

func (f *fixture) status(untracked string) string {
	f.t.Helper()
	cmd := exec.Command("git", "--no-optional-locks", "status", "--porcelain", "--no-branch", untracked)
	cmd.Dir, cmd.Env = f.dir, f.env
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("git status: %v", err)
	}
	return string(out)
}

// hasOlder reports whether the repository still has its first session.
func (f *fixture) hasOlder() bool {
	_, exit := f.try(nil, "git", "rev-parse", "-q", "--verify", "refs/wfs/older/ledger")
	return exit == 0
}

// allBytes lists the repository and the files next to it, byte by byte, without wfs's own state.
func (f *fixture) allBytes() string {
	return listing(filepath.Dir(f.dir), func(p string) bool { return p == "state" || strings.HasSuffix(p, ".git/wfs") })
}

func (f *fixture) unchanged(before, what string) {
	f.t.Helper()
	if now := f.allBytes(); now != before {
		f.t.Errorf("%s changed something:\n%s", what, differing(before, now))
	}
}

// workTree lists every file of the work tree, nested repositories included.
func (f *fixture) workTree() string {
	return listing(f.dir, func(p string) bool { return p == ".git" })
}

// oddThings lists the user's own settings: refs, stash, configuration, hooks, attributes and excludes.
func (f *fixture) oddThings() string {
	f.t.Helper()
	common := f.ok("git", "rev-parse", "--path-format=absolute", "--git-common-dir")
	refs, _ := f.try(nil, "sh", "-c", "git for-each-ref --format='%(refname) %(objectname)' | grep -v -e refs/heads/wfs/ -e refs/wfs; git stash list; git config --list --local")
	return refs + listing(filepath.Join(common, "hooks"), never) + listing(filepath.Join(common, "info"), never)
}

func never(string) bool { return false }

// listing has a line for every file and directory below dir: path, mode, and a digest of the content. Directories of
// the work tree count, because a nested repository may have empty ones.
func listing(dir string, leaveOut func(path string) bool) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil {
			fmt.Fprintf(&b, "%q %v\n", rel, err)
			return nil
		}
		if leaveOut(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return nil
		}
		text := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			text, _ = os.Readlink(path)
		case info.Size() > 64<<20: // too large to read: it is all zeros
			text = info.ModTime().String()
		case d.Type().IsRegular():
			if data, err := os.ReadFile(path); err == nil {
				sum := sha256.Sum256(data)
				text = hex.EncodeToString(sum[:8])
			} else {
				text = "unreadable"
			}
		}
		fmt.Fprintf(&b, "%q %v %s\n", rel, info.Mode(), text)
		return nil
	})
	return b.String()
}

// differing returns the lines that only one of two texts has.
func differing(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	var b strings.Builder
	for _, l := range old {
		if !slices.Contains(now, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range now {
		if !slices.Contains(old, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}
