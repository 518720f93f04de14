package rooms

import (
	"context"
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

// note is a small file of a session that maps keys to values: each line has a key, a blank and a value. The agent could
// change the file, so this process only trusts the content that it has first read or written itself.
type note struct {
	known map[string][]byte // content by path
	file  string
}

// maxNote is the maximum size of a note in bytes. A note has a line of about 110 bytes for each gate or set of
// manifests.
const maxNote = 1 << 20

// note returns the note with this name of the session that a run belongs to.
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

// save writes the note to the session's directory, if that directory exists.
func (n note) save() error {
	if _, err := os.Stat(filepath.Dir(n.file)); err != nil || len(n.text()) == 0 {
		return nil
	}
	return durable.WriteCache(n.file, n.text(), 0o600)
}

// BesideRuns returns the path of a file in the directory of the session that a run belongs to.
func BesideRuns(runDir, name string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(runDir)), name)
}

// roomNote is a note about gates in clean trees. A key stands for a gate and everything that its result depends on.
type roomNote struct {
	note
	plan string
}

// GateNote returns the session's record of which gates can run in clean trees.
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

// Mend returns a setting that would install the project's packages in clean trees. It returns "" if the plan has such a
// setting already, or if none is known for the project.
func (r *Rooms) Mend(ctx context.Context, plan workflows.Plan) string {
	if !plan.Setup.IsZero() {
		return ""
	}
	w := r.work.ProposeWorktree(ctx, []string{"node_modules/", ".venv/"}, plan.Baseline)
	if w.Setup.IsZero() {
		return ""
	}
	return "worktree: {setup: '" + strings.ReplaceAll(w.Setup.Text(), "'", "''") + "'}"
}
