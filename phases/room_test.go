package phases

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

type roomNote struct {
	why   string
	known bool
}

func (n *roomNote) Read(string) (string, bool) { return n.why, n.known }

func (n *roomNote) Write(_, why string) error { n.why, n.known = why, true; return nil }

// TestNoRoom compares a base whose results are the same in a clean checkout as in the work tree, and others. Each
// gate runs once.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gate  string
		was   session.Tests
		known []session.TestID
		leads *session.LeadsBack
		says  string
		setup string
		ran   int
	}{
		"the same": {gate: "cat out", was: session.Tests{"a": session.TestPass, "b": session.TestFail}, ran: 1},
		"one fails there": {gate: "cat out", was: session.Tests{"a": session.TestPass, "b": session.TestPass},
			says: "b is fail there, and pass here; to fix it, in .wfs/config.yaml: npm ci, then wfs trust", ran: 1},
		"one that is known": {gate: "cat out", was: session.Tests{"a": session.TestPass, "b": session.TestPass},
			known: []session.TestID{"b"}, ran: 1},
		"one does not exist": {gate: "cat out", was: session.Tests{"a": session.TestPass, "b": session.TestFail,
			"c": session.TestPass}, says: "c is not run there, and pass here", ran: 1},
		"one more": {gate: "cat out", was: session.Tests{"a": session.TestPass},
			says: "b is fail there, and not run here", ran: 1},
		"it cannot run": {gate: "./nowhere", was: session.Tests{"a": session.TestPass},
			says: "it cannot run (exit code 127)", ran: 1},
		"it was not installed": {gate: "nowhere", was: session.Tests{"a": session.TestPass}, setup: "npm ci",
			says: "the set-up did not install nowhere; edit `setup: npm ci` under worktree: in .wfs/config.yaml", ran: 1},
		"its runner was not installed": {gate: "echo \"$PWD/.venv/bin/python: No module named pytest\"; exit 1", setup: "pip install -e .",
			was: session.Tests{"a": session.TestPass}, says: "work tree: the set-up did not install pytest; edit `setup: pip install -e .`", ran: 1},
		"what a test needs was not installed": {gate: "printf '1..1\\nnot ok 1 - a\\n  ---\\n  message: \"No module named six\"\\n  ...\\n'; exit 1", setup: "pip install -e .",
			was: session.Tests{"a": session.TestPass}, says: "a is fail there, and pass here; the set-up did not install six; edit `setup: ", ran: 1},
		"it may have to install more": {gate: "cat out", was: session.Tests{"a": session.TestPass, "b": session.TestPass}, setup: "npm ci",
			says: "pass here; the set-up may have to install more: `setup: npm ci` under worktree:", ran: 1},
		"it leads back": {gate: "cat out", was: session.Tests{"a": session.TestPass},
			leads: &session.LeadsBack{Path: ".venv", To: "/live"}, says: ".venv leads to /live", ran: 1},
		"nothing known of base": {gate: "cat out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			room := t.TempDir()
			if err := os.WriteFile(filepath.Join(room, "out"), []byte("1..2\nok 1 - a\nnot ok 2 - b\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			made, note := 0, &roomNote{}
			l.judge.RoomNote, l.judge.Mend, l.judge.Setup = note, "npm ci", c.setup
			l.judge.Clean = func(_ context.Context, tree session.Tree) (session.CleanTree, error) {
				if made++; tree != "base" {
					t.Errorf("%s is laid out", tree)
				}
				return session.CleanTree{Root: room, Tree: tree, Live: []string{l.judge.Root}, LeadsBack: c.leads}, nil
			}
			g := workflows.Gate{Name: "tests", Format: workflows.FormatTAP, Timeout: time.Minute,
				Run: workflows.Command{Shell: c.gate}}
			r := session.JudgeRequest{Plan: workflows.Plan{Baseline: []workflows.Gate{g}}, RunDir: t.TempDir(), Known: c.known,
				Baseline: session.Evidence{Tree: "base", Gates: map[string]session.Tests{"tests": c.was}}}
			for range 2 {
				why, err := l.judge.NoRoom(t.Context(), r, g)
				if err != nil || (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
					t.Errorf("%q, want %q; %v", why, c.says, err)
				}
			}
			if made != c.ran || note.known != (c.ran > 0) {
				t.Errorf("it was asked %d times, want %d; remembered: %t", made, c.ran, note.known)
			}
		})
	}
}
