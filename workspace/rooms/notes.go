package rooms

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/workflows/plans"

	"github.com/wfs-dev/wfs/phases/gate"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/workflows"
)

// note is a small file of a session: a line for each key, with a blank and a value. The agent could write to it, so
// this process keeps the content that it has first read or written.
type note struct {
	known map[string][]byte // by path
	file  string
}

// maxNote is the maximum size of a note in bytes. It has a line of about 110 for each gate, or set of manifests.
const maxNote = 1 << 20

// note returns a note of the session of a run.
func (r *Rooms) note(runDir, name string) note { return note{r.notes, BesideRuns(runDir, name)} }

func (n note) text() []byte {
	data, ok := n.known[n.file]
	if !ok {
		data, _ = durable.ReadFile(n.file, maxNote)
		n.known[n.file] = data
	}
	return data
}

func (n note) read(key string) (value string, known bool) {
	for line := range strings.Lines(string(n.text())) {
		if is, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && is == key {
			return value, true
		}
	}
	return "", false
}

func (n note) write(key, value string) error {
	if was, known := n.read(key); known && was == value {
		return nil
	}
	text := key + " " + strings.ReplaceAll(value, "\n", " ") + "\n"
	for line := range strings.Lines(string(n.text())) {
		if !strings.HasPrefix(line, key+" ") {
			text += line
		}
	}
	n.known[n.file] = []byte(text)
	return n.save()
}

// save writes the note to the session's directory, if that exists.
func (n note) save() error {
	if _, err := os.Stat(filepath.Dir(n.file)); err != nil || len(n.text()) == 0 {
		return nil
	}
	return durable.WriteCache(n.file, n.text(), 0o600)
}

// BesideRuns returns the path of a file of the session of a run.
func BesideRuns(runDir, name string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(runDir)), name)
}

// roomNote has a line for each gate and everything that its result depends on.
type roomNote struct {
	note
	plan string
}

// GateNote returns what a session has recorded about its gates in rooms.
func (r *Rooms) GateNote(plan workflows.Plan, runDir string) gate.RoomNote {
	_, gates := plans.Encode(&workflows.Plan{Baseline: plan.Baseline, Setup: plan.Setup, Provide: plan.Provide,
		Env: plan.Env})
	return &roomNote{r.note(runDir, "room"), gates}
}

func (n *roomNote) key(gate string) string {
	sum := sha256.Sum256([]byte(n.plan + "\x00" + gate))
	return hex.EncodeToString(sum[:12])
}

func (n *roomNote) Read(gate string) (why string, known bool) { return n.read(n.key(gate)) }

func (n *roomNote) Write(gate, why string) error { return n.write(n.key(gate), why) }

// Mend returns a setting that installs the packages of a project in clean trees, "" if there is one already or none is
// known.
func (r *Rooms) Mend(plan workflows.Plan) string {
	if !plan.Setup.IsZero() {
		return ""
	}
	w := r.work.ProposeWorktree([]string{"node_modules/", ".venv/"}, plan.Baseline)
	if w.Setup.IsZero() {
		return ""
	}
	return "worktree: {setup: '" + strings.ReplaceAll(w.Setup.Text(), "'", "''") + "'}"
}
