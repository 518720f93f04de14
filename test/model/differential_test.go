package model

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// step is one command of wfs in a history, and its effects. Ids of commits, times and sizes are left out, because they
// differ from one run to the next.
type step struct {
	verb, command  string
	outcome        string // exit code and code of the refusal
	state          string // files, branches and sessions after the command
	stdout, stderr string
}

// varying are the parts of outputs that differ from run to run, and their replacements.
var varying = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?`), "TIME"},
	{regexp.MustCompile(`just now|\d+ s ago`), "AGO"},
	{regexp.MustCompile(`"(\w*millis|seconds|bytes|objects|pid|_ms)": ?[\d.]+`), `"$1":0`},
	{regexp.MustCompile(`\b\d+(\.\d+)? (ms|s|KB|MB|bytes)\b`), "AMOUNT"},
	{regexp.MustCompile(`\b[0-9a-f]{7,64}\b`), "ID"},
}

func (w *world) plain(text string) string {
	text = strings.ReplaceAll(text, w.top, "TOP")
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return text
}

// records runs a command, and adds it with its effects to the steps of the history.
func (w *world) records(c typed) {
	out, exit, errs := w.run(c.dir, nil, c.argv()...)
	s := step{verb: c.verb, command: fmt.Sprintf("in %s: wfs %s", filepath.Base(c.dir), c), outcome: fmt.Sprint("exit ", exit),
		stdout: w.plain(out), stderr: w.plain(errs)}
	if exit != 0 {
		s.outcome += " " + w.failed(errs).Code
	}
	p := w.look()
	w.keepsAll(p, c.verb)
	w.agrees(p)
	s.state = w.stateOf(p)
	*w.steps = append(*w.steps, s)
}

func (w *world) stateOf(p *picture) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(p.places)) {
		s := p.places[dir]
		head := s.head
		if !strings.HasPrefix(head, "refs/") {
			head = "no branch"
		}
		fmt.Fprintf(&b, "%s on %s: %v\n", filepath.Base(dir), head, s.files)
	}
	for _, ref := range sortedKeys(p.refs) {
		if strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") || ref == "refs/stash" {
			fmt.Fprintf(&b, "%s %s %s", ref, strings.TrimSpace(w.must(w.main, "git", "rev-list", "--count", ref)),
				w.must(w.main, "git", "rev-parse", ref+"^{tree}"))
		}
	}
	var l listJSON
	w.say(w.main, &l, "list")
	slices.SortFunc(l.Sessions, func(x, y listed) int { return cmp.Compare(x.ID, y.ID) })
	text, _ := json.Marshal(l)
	return b.String() + w.plain(string(text))
}

// TestDifferential plays the same histories with this wfs and with another one, the program WFS_OTHER. After each
// command it compares exit codes, codes of refusals, files, branches and what `wfs list` says. Texts may differ; the test
// shows one example for each command. WFS_RAPID sets the number of histories.
func TestDifferential(t *testing.T) {
	other := os.Getenv("WFS_OTHER")
	if other == "" {
		t.Skip("WFS_OTHER names no other wfs")
	}
	defer testkit.Drawn(t, 20, 14)()
	histories := 0
	fmt.Sscan(flag.Lookup("rapid.checks").Value.String(), &histories)
	template, now := modelTemplate(t), testkit.Wfs(t)
	dir, path := testkit.MemoryDir(t), os.Getenv("PATH")
	shown, commands := map[string]bool{}, 0
	for seed := range histories {
		was, is := play(t, seed, other, path, template, dir), play(t, seed, now, path, template, dir)
		for i := range min(len(was), len(is)) {
			a, b := was[i], is[i]
			if commands++; a.command != b.command || a.outcome != b.outcome || a.state != b.state {
				t.Errorf("history %d, after %d commands\nother, %s: %s\n%s%s\nthis, %s: %s\n%s%s", seed, i,
					a.command, a.outcome, a.stderr, a.state, b.command, b.outcome, b.stderr, b.state)
				break
			}
			if (a.stdout != b.stdout || a.stderr != b.stderr) && !shown[a.verb] {
				shown[a.verb] = true
				t.Logf("history %d, %s\nother: %s%s\nthis:  %s%s", seed, a.command, a.stdout, a.stderr, b.stdout, b.stderr)
			}
		}
	}
	t.Logf("%d histories, %d commands with the same effect", histories, commands)
}

// play plays the history that a seed draws, and returns its commands of wfs.
func play(t *testing.T, seed int, wfs, path, template, dir string) (steps []step) {
	t.Helper()
	t.Setenv("PATH", filepath.Dir(wfs)+string(filepath.ListSeparator)+path)
	top := filepath.Join(dir, "history")
	if out, err := exec.Command("cp", "-a", template, top).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer os.RemoveAll(top)
	begun := false
	rapid.Custom(func(rt *rapid.T) bool {
		if begun { // rapid tries again after a failed check of the model
			steps = append(steps, step{command: "a check fails"})
			return rapid.Bool().Draw(rt, "anything")
		}
		begun = true
		w := &world{t: rt, top: top, main: filepath.Join(top, "repo"), env: testkit.Env(top), steps: &steps,
			logs: map[string][]checkpoint{}, kept: map[string]bool{}, cut: map[string]bool{},
			sum: &tally{verbs: map[string][2]int{}}}
		testkit.OwnClone(t, w.main)
		w.must(w.main, "wfs", "trust", "--yes")
		w.begin(rt)
		rt.Repeat(w.actions())
		return true
	}).Example(seed + 1)
	return steps
}
