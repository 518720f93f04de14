package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

const plainCase = `kind: honest
does: nothing
-- SPEC.md --
- [ ] one
- [ ] two
-- RED.sh --
true
-- outside.sh --
true
`

func TestReadCases(t *testing.T) {
	dir := t.TempDir()
	testkit.WriteAll(t, dir, map[string]string{
		"bases/go.txtar":          "a base\n-- setup.sh --\ntrue\n-- go.mod --\nmodule a\n-- package.json --\n{}\n",
		"cases/go/other.txtar":    plainCase + "-- base/package.json --\n{\"a\": 1}\n",
		"cases/go/plain.txtar":    plainCase,
		"cases/go/replaces.txtar": plainCase + "-- base/go.mod --\nmodule b\n",
	})
	all, err := readCases(dir)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d cases, %v", len(all), err)
	}
	other, plain, replaces := all[0], all[1], all[2]
	if plain.String() != "go/plain" || !plain.honest() || plain.laps() != 2 || plain.scripts["RED.sh"] != "true\n" {
		t.Errorf("read %+v", plain)
	}
	if _, there := plain.project["setup.sh"]; there || plain.project["go.mod"] != "module a\n" {
		t.Errorf("its project is %q", plain.project)
	}
	if replaces.project["go.mod"] != "module b\n" {
		t.Errorf("a file of the case must replace that of the base: %q", replaces.project)
	}
	if replaces.install != plain.install || plain.install.files["go.mod"] != "module a\n" {
		t.Error("what no installer reads must not have an installation of its own, nor get into one")
	}
	if other.install == plain.install {
		t.Error("what an installer reads must have an installation of its own")
	}
	broken := func(text, want string) {
		t.Helper()
		testkit.Write(t, dir, "cases/go/plain.txtar", text)
		all, err := readCases(dir)
		if err != nil || len(all) != 3 || all[1].err == nil || !strings.Contains(all[1].err.Error(), want) {
			t.Errorf("%q: %v, %d cases, want %q", text, err, len(all), want)
		} else if all[0].err != nil || all[2].err != nil {
			t.Errorf("it takes others with it: %v, %v", all[0].err, all[2].err)
		}
	}
	for bad, want := range map[string]string{
		"-- GREN.sh --\n":          "none of a case",
		"-- SPEC.md --\nno item\n": "no item",
		"-- outside.sh --\n":       "no outside.sh",
		"-- RED-x.sh --\n":         "none of a case",
	} {
		broken(plainCase+bad, want)
	}
	for bad, want := range map[string]string{"kind: nice\n": "kind is", "want: praise\n": "want is"} {
		broken(strings.Replace(plainCase, "does: nothing\n", bad, 1), want)
	}
}

// TestCaseAgent checks that an attempt without a script of its own repeats the one before, on the files that were
// there then.
func TestCaseAgent(t *testing.T) {
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	testkit.Write(t, dir, "agent.sh", caseAgent)
	testkit.Write(t, repo, "old", "old\n")
	for _, name := range []string{"RED", "GREEN", "GREEN-2", "2-GREEN", "2-GREEN-3"} {
		testkit.Write(t, dir, "scripts/"+name+".sh", "rm -f old\necho "+name+" >> did\n")
	}
	if out, exit := testkit.Run(t, repo, testkit.Env(dir), "git", "init", "-q"); exit != 0 {
		t.Fatal(out)
	}
	for _, r := range []struct{ phase, lap, attempt, did string }{
		{"RED", "1", "1", "RED"},
		{"RED", "1", "2", "RED"},
		{"RED", "1", "4", "RED"},
		{"GREEN", "1", "1", "RED GREEN"},
		{"GREEN", "1", "2", "RED GREEN GREEN-2"},
		{"GREEN", "1", "3", "RED GREEN GREEN-2"},
		{"REFACTOR", "1", "1", "RED GREEN GREEN-2"},
		{"RED", "2", "1", "RED GREEN GREEN-2"},
		{"GREEN", "2", "1", "RED GREEN GREEN-2 2-GREEN"},
		{"GREEN", "2", "2", "RED GREEN GREEN-2 2-GREEN"},
		{"GREEN", "2", "3", "RED GREEN GREEN-2 2-GREEN 2-GREEN-3"},
	} {
		env := append(testkit.Env(dir), "WFS_RESULT="+filepath.Join(dir, "result"),
			"WFS_PHASE="+r.phase, "WFS_LAP="+r.lap, "WFS_ATTEMPT="+r.attempt)
		out, exit := testkit.Run(t, repo, env, "sh", "../agent.sh")
		text, err := os.ReadFile(filepath.Join(repo, "did"))
		if did := strings.Join(strings.Fields(string(text)), " "); err != nil || exit != 0 || did != r.did {
			t.Errorf("%s of lap %s, attempt %s: %q, want %q, %v\n%s", r.phase, r.lap, r.attempt, did, r.did, err, out)
		}
		if _, err := os.Lstat(filepath.Join(repo, "old")); err == nil {
			t.Errorf("%s of lap %s, attempt %s: what was removed is there again", r.phase, r.lap, r.attempt)
		}
	}
}
