package safety

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// leftover is a state that the next command may find after another command died, part by part. It is a product: some
// combinations arise only from people's changes, or from disk errors.
type leftover struct {
	published bool   // the ledger has moved
	journal   string // see journals
	files     string // "old", "half", "new", or "theirs": moved, and written to since
	index     string // "old", "new", or "theirs": the user has staged something since
	refs      string // "old", "new", "theirs": the user has committed there since; the act defines more values
	head      string // "old", "new", or "theirs": on another branch of the user's
	besides   string // "nothing"; "locks": wfs's git was killed; "unclaimed": no claim; "unrescued": no rescue
}

// journals are the states of a journal: "begun" and "turn" end in the intention or the turn, "cut" in a torn turn;
// "gone" is without .git/wfs; with "next" the process began the next journal and died right after that.
var journals = []string{"begun", "turn", "cut", "gone", "next"}

func (s leftover) String() string {
	return fmt.Sprintf("published=%t journal=%s files=%s index=%s refs=%s head=%s besides=%s", s.published, s.journal, s.files, s.index, s.refs, s.head, s.besides)
}

// parts has the values of each part of a leftover. A part without values stays as the dead process left it.
type parts struct {
	journal, files, index, refs, head, besides []string

	noTurn bool // it makes no turn, so nothing is published
}

// product returns every combination of the parts' values.
func (p parts) product() (all []leftover) {
	or := func(list []string) []string {
		if len(list) == 0 {
			return []string{"as left"}
		}
		return list
	}
	for _, published := range []bool{false, true} {
		for _, journal := range or(p.journal) {
			if journal == "next" && !published || p.noTurn && published {
				continue
			}
			for _, files := range or(p.files) {
				for _, index := range or(p.index) {
					for _, refs := range or(p.refs) {
						for _, head := range or(p.head) {
							for _, besides := range or(p.besides) {
								all = append(all, leftover{published, journal, files, index, refs, head, besides})
							}
						}
					}
				}
			}
		}
	}
	return all
}

// act is a command that dies, and is typed again.
type act struct {
	name   string
	typed  string // without wfs
	id     string // the session whose journal and ledger it changes
	parts  parts
	before func(f *fixture)                     // prepares the fixture for the command
	passed int                                  // turns that are complete before the one that dies
	at     step                                 // the step at which it dies; default: unpublished
	leave  func(f *fixture, t turn, s leftover) // sets refs and HEAD, if the usual way does not fit
	rules  []leftRule
	trusts bool                  // it needs trust, which is bound to the path
	again  bool                  // typed once more, it does something again
	skip   func(s leftover) bool // combinations that cannot arise

	made     template
	prepared prepared
}

// died makes the fixture in which the process died right before the ledger moved. It keeps the old files and index
// next to the repository.
func (a *act) died(f *fixture) {
	top := filepath.Dir(f.dir)
	if err := os.Remove(top); err != nil {
		f.t.Fatal(err)
	}
	plainTemplate.at(f.t, top)
	f.trust("one", "two")
	if a.before != nil {
		a.before(f)
	}
	f.copyTree(f.dir, f.beside("old"))
	at := a.at
	if at.point == "" {
		at = unpublished
	}
	f.diesInTurn(a.id, at, a.passed+1, strings.Fields(a.typed)...)
	f.copyFile(filepath.Join(f.dir, ".git/index"), f.beside("old-index"))
	a.prepared = f.prepared
	if a.parts.noTurn {
		a.prepared.Turn = f.lastEvent(a.id).Data.Turn
	}
}

func (f *fixture) beside(name string) string { return filepath.Join(filepath.Dir(f.dir), name) }

// copyTree replaces the contents of the directory to by those of from, except .git.
func (f *fixture) copyTree(from, to string) {
	f.t.Helper()
	args := []string{"-a"}
	for _, dir := range []string{to, from} {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			f.t.Fatal(err)
		}
		for _, e := range entries {
			switch path := filepath.Join(dir, e.Name()); {
			case e.Name() == ".git":
			case dir == from:
				args = append(args, path)
			default:
				if err := os.RemoveAll(path); err != nil {
					f.t.Fatal(err)
				}
			}
		}
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		f.t.Fatal(err)
	}
	if out, err := exec.Command("cp", append(args, to)...).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

func (f *fixture) copyFile(from, to string) {
	f.t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// halfway restores every second file that differs to its old content.
func (f *fixture) halfway() {
	f.t.Helper()
	names := map[string]bool{}
	for _, dir := range []string{f.beside("old"), f.dir} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				names[e.Name()] = true
			}
		}
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, missing := os.ReadFile(filepath.Join(f.beside("old"), name))
		now, gone := os.ReadFile(filepath.Join(f.dir, name))
		if string(old) == string(now) && (missing == nil) == (gone == nil) {
			continue
		}
		if n++; n%2 == 0 {
			continue
		}
		if missing != nil {
			if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
				f.t.Fatal(err)
			}
			continue
		}
		f.copyFile(filepath.Join(f.beside("old"), name), filepath.Join(f.dir, name))
	}
	if n < 2 {
		f.t.Fatalf("half of %d files is nothing, or everything", n)
	}
}

// leaves brings the repository in which an act died to the state s.
func (f *fixture) leaves(a *act, s leftover) {
	f.t.Helper()
	p := a.prepared
	f.leavesJournal(a, s)
	switch s.files {
	case "old":
		f.copyTree(f.beside("old"), f.dir)
	case "half":
		f.halfway()
	case "theirs":
		f.write("later.txt", "written since\n")
		f.write("edited.txt", "edited since\n")
	}
	switch s.index {
	case "new":
		f.ok("git", "read-tree", p.Turn.Index)
	case "old":
		f.copyFile(f.beside("old-index"), filepath.Join(f.dir, ".git/index"))
	case "theirs":
		f.write("staged-later.txt", "staged by hand\n")
		f.ok("git", "add", "staged-later.txt")
	}
	if a.leave != nil {
		a.leave(f, p.Turn, s)
	} else {
		f.leavesRefs(p.Turn, s)
	}
	switch s.besides {
	case "unclaimed":
		f.unclaims()
	case "unrescued":
		f.ok("git", "update-ref", "-d", p.Turn.Rescue)
	}
	if s.journal == "gone" {
		f.loseState()
	}
	if s.besides == "locks" {
		f.locksLeft(a.id)
	}
}

func (f *fixture) leavesJournal(a *act, s leftover) {
	f.t.Helper()
	p, file := a.prepared, f.journalFile(a.id)
	switch s.journal {
	case "begun":
		f.change(file, func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			return strings.Join(lines[:len(lines)-2], "") // the last one is empty
		})
	case "cut":
		f.change(file, func(text string) string { return text[:len(text)-20] })
	}
	if s.published {
		f.moveRef(ledgerOf(a.id), p.Ledger, p.LedgerOld)
	}
	if s.journal == "next" {
		f.settles(a)
	}
}

// settles completes a published turn, except that its claim stays.
func (f *fixture) settles(a *act) {
	f.t.Helper()
	if out, exit := f.try([]string{"WFS_FAILPOINT=journal/rotated"}, append([]string{"wfs"}, strings.Fields(a.typed)...)...); exit != -1 {
		f.t.Fatalf("it is not settled: exit %d: %s", exit, out)
	}
	f.claims(a.id)
}

func (f *fixture) leavesRefs(t turn, s leftover) {
	f.t.Helper()
	for _, m := range t.Refs {
		switch s.refs {
		case "old":
			if _, missing := f.try(nil, "git", "rev-parse", "-q", "--verify", m.Ref); missing == 0 {
				f.moveRef(m.Ref, m.Old, m.New)
			}
		case "new":
			f.moveRef(m.Ref, m.New, m.Old)
		case "theirs":
			f.ok("git", "update-ref", m.Ref, f.ok("git", "commit-tree", "-p", m.Old, "-m", "by hand", m.Old+"^{tree}"))
		}
	}
	switch {
	case s.head == "old" && t.HeadOld != "":
		f.ok("git", "symbolic-ref", "HEAD", t.HeadOld)
	case s.head == "new" && t.HeadNew != "":
		f.ok("git", "symbolic-ref", "HEAD", t.HeadNew)
	case s.head == "theirs":
		f.ok("git", "symbolic-ref", "HEAD", "refs/heads/side")
	}
}

func (f *fixture) unclaims() {
	f.t.Helper()
	claims, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/worktrees/*/claim"))
	for _, c := range claims {
		if err := os.Remove(c); err != nil {
			f.t.Fatal(err)
		}
	}
}

// locksLeft leaves the locks of a killed git of wfs, with wfs's notes about them.
func (f *fixture) locksLeft(id string) {
	f.t.Helper()
	const notes = ".git/wfs/worktrees/main/ref-locks"
	if err := os.MkdirAll(filepath.Join(f.dir, notes), 0o700); err != nil {
		f.t.Fatal(err)
	}
	for _, lock := range gitLocks(id) {
		f.write(filepath.Join(notes, strings.ReplaceAll(lock, "/", "%2F")), "")
		f.write(".git/"+lock+".lock", "")
	}
	f.write(".git/index.lock", "locked by wfs\n")
}

func gitLocks(id string) []string {
	return []string{"HEAD", "refs/heads/wfs/" + id, "refs/wfs/" + id + "/ledger"}
}

// lockless checks that no lock of git is left.
func (f *fixture) lockless(id string) {
	f.t.Helper()
	for _, lock := range append(gitLocks(id), "index") {
		if f.exists(".git/" + lock + ".lock") {
			f.t.Errorf("%s.lock is left", lock)
		}
	}
}

// oneClearLine checks that a refusal is one error line that contains says, with at most one hint.
func (f *fixture) oneClearLine(out, says string) {
	f.t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "hint: ") })
	if n := len(lines); n == 0 || !strings.HasPrefix(lines[n-1], "error: ") || strings.Count(out, "error: ") != 1 || !strings.Contains(out, says) {
		f.t.Errorf("no refusal in one line about %q:\n%s", says, out)
	}
}
