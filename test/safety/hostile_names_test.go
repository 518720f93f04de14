package safety

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// hostileIDs are names that git, a shell, a file system or a terminal would misinterpret.
var hostileIDs = []string{
	"..", ".", "../../x", "one/../../x", "/etc/passwd", `..\..\x`, "-rf", "--force", "HEAD", "@", "@{u}", "@{-1}", "a.lock", "one.lock", "a..b", "a~1", "a^", "a:b",
	"a b", "a*", "a?[b]", "a\x00b", "one\nrefs/heads/main", "a\x1b[31m", "con", "nul", "é", "ⅸ", strings.Repeat("a", 300), "refs/heads/main", "ledger", "one-", "%2e%2e", "$(touch x)", "one;touch x",
}

// around lists everything in the directory above the fixture's repository, except the repository's own files.
func (f *fixture) around() string {
	f.t.Helper()
	var names []string
	top := filepath.Dir(f.dir)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && path == f.dir {
			return filepath.SkipDir
		}
		names = append(names, strings.TrimPrefix(path, top))
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// TestBar14HostileNamesTyped checks that no command takes a hostile name for a session, and that nothing is touched.
func TestBar14HostileNamesTyped(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	refs, around, tried := f.ok("git", "for-each-ref"), f.around(), 0
	verbs := []string{"status", "show", "log", "log --events", "path", "resume", "run", "finish", "abandon", "delete", "delete --restore", "edit", "repin", "export", "stop", "approve", "checkpoint",
		"delete --worktree", "trust", "diff", "switch", "undo", "phase WORK"}
	for n, id := range hostileIDs {
		if strings.Contains(id, "\x00") {
			continue // no system passes it on
		}
		for v, verb := range verbs {
			if (n+v)%4 > 0 && os.Getenv("WFS_SWEEP") != "all" {
				continue
			}
			args := append(strings.Fields(verb), "--", id)
			if verb == "resume" {
				args = append([]string{"resume", "@1", "--"}, id)
			}
			tried++
			if out, exit := f.try(nil, append([]string{"wfs"}, args...)...); exit == exitOK {
				t.Errorf("wfs %q: exit 0: %s", args, out)
			} else if strings.ContainsAny(out, "\x1b\x00") {
				t.Errorf("wfs %q: %q", args, out)
			}
		}
		for _, args := range [][]string{{"note", "hello", "--", id}, {"rename", "title", "--", id}, {"status", "--", id + "@1"}, {"new", "goal", "--from=" + id + "@1"}} {
			tried++
			if out, exit := f.try(nil, append([]string{"wfs"}, args...)...); exit == exitOK {
				t.Errorf("wfs %q: exit 0: %s", args, out)
			}
		}
	}
	if now := f.ok("git", "for-each-ref"); now != refs {
		t.Errorf("refs were %s, and are %s", refs, now)
	}
	if now := f.around(); now != around {
		t.Errorf("outside of the repository there was %s, and is %s", around, now)
	}
	f.sound()
	t.Logf("%d names, %d command lines, 0 taken for a session", len(hostileIDs), tried)
}

// TestBar14HostileNamesInFiles puts the same names into YAML, refs and the clone's own files.
func TestBar14HostileNamesInFiles(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	around := f.around()
	plain := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)
	tip := f.ok("git", "rev-parse", "refs/wfs/two/ledger")
	refused, refs, files := 0, 0, 0
	for _, id := range hostileIDs {
		text := fmt.Sprintf("version: 1\nname: %q\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n", id)
		f.write("hostile.yaml", text)
		if out, exit := f.try(nil, "wfs", "workflow", "check", "hostile.yaml"); (exit == exitOK) && !plain.MatchString(id) {
			t.Errorf("workflow %q: exit %d: %s", id, exit, out)
		}
		f.write("hostile.yaml", strings.ReplaceAll(strings.Replace(text, fmt.Sprintf("name: %q", id), "name: hostile", 1), "WORK", fmt.Sprintf("%q", id)))
		if out, exit := f.try(nil, "wfs", "workflow", "check", "hostile.yaml"); (exit == exitOK) && !plain.MatchString(id) {
			t.Errorf("phase %q: exit %d: %s", id, exit, out)
		} else if exit != exitOK {
			refused++
		}
		// A valid ref of git, with a name that no session can have.
		if _, exit := f.try(nil, "git", "check-ref-format", "refs/wfs/"+strings.ReplaceAll(id, "\x00", "/../")+"/ledger"); exit == 0 && !strings.HasPrefix(id, "-") && len(id) < 200 {
			f.ok("git", "update-ref", "refs/wfs/"+id+"/ledger", tip)
			refs++
		}
		// A state directory of that name, and a claim and notes that name it.
		if name := id; !strings.Contains(id, "\x00") && filepath.IsLocal(name) && filepath.Base(name) == name && name != "." && len(name) < 255 {
			f.write(filepath.Join(".git/wfs/sessions", name, "events-none.jsonl"), "{}\n")
			f.write(filepath.Join(".git/wfs/half-made", name), `{"v":1,"session":"x","dir":"/etc","above":"/"}`+"\n")
			files++
		}
	}
	os.Remove(filepath.Join(f.dir, "hostile.yaml"))
	list := f.ok("wfs", "list", "--json")
	if n := strings.Count(list, `"id":`); n != 2 {
		t.Errorf("%d sessions: %s", n, list)
	}
	for _, args := range [][]string{{"doctor"}, {"gc", "--days", "0"}, {"gc", "--days", "0", "--force"}, {"checkpoint"}, {"doctor"}} {
		if out, exit := f.try(nil, append([]string{"wfs"}, args...)...); exit != exitOK {
			t.Errorf("wfs %v: exit %d: %s", args, exit, out)
		}
	}
	// wfs removes the path in a note only if it is one that wfs itself would have made.
	victim := filepath.Join(filepath.Dir(f.dir), "victim")
	if err := os.MkdirAll(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	for n, trash := range []string{victim, filepath.Dir(f.dir) + "/.x.wfs-removed-1/../victim", filepath.Dir(f.dir)} {
		f.write(".git/wfs/half-made/never", fmt.Sprintf(`{"v":1,"session":"never","dir":%q,"above":%q,"name":"never","trash":%q}`, filepath.Dir(f.dir)+"/x", filepath.Dir(f.dir), trash)+"\n")
		f.write("edit.txt", fmt.Sprint(n))
		f.try(nil, "wfs", "checkpoint")
		if _, err := os.Lstat(victim); err != nil {
			t.Fatalf("%s is gone: %v", victim, err)
		}
	}
	os.Remove(filepath.Join(f.dir, ".git/wfs/half-made/never"))
	os.Remove(victim)
	// A claim with an invalid session name counts as damaged, and doctor repairs it.
	for _, id := range []string{"../../x", "-rf", "one\nx"} {
		f.write(".git/wfs/worktrees/main/claim", fmt.Sprintf(`{"v":1,"session":%q}`, id)+"\n")
		if out, exit := f.try(nil, "wfs", "checkpoint"); exit != exitError || !strings.Contains(out, "hint: wfs doctor") {
			t.Errorf("a claim of %q: exit %d: %s", id, exit, out)
		}
		f.ok("wfs", "doctor", "--repair")
	}
	kept, err := filepath.Glob(filepath.Join(f.dir, ".git/wfs/worktrees/main/claim.corrupt-*"))
	if err != nil || len(kept) != 3 {
		t.Errorf("claims that are kept: %v, %v", kept, err)
	}
	if now := f.around(); now != around {
		t.Errorf("outside of the repository there was %s, and is %s", around, now)
	}
	t.Logf("%d names: %d refused as a phase's, %d as refs and %d as files passed over", len(hostileIDs), refused, refs, files)
}
