package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/workflows"
)

// roomNote is a file of a session: the gates that it is about, and a line for each with what was found out.
type roomNote struct {
	notes *notes
	file  string
	gates string
}

// notes are small files of sessions, by path. Whoever works could write to them: what this process has read or written
// once counts for it.
type notes struct{ known map[string][]byte }

// maxNote bounds a note, in bytes: a line of some 110 for each gate, or set of manifests.
const maxNote = 1 << 20

func (n *notes) read(file string) []byte {
	if data, ok := n.known[file]; ok {
		return data
	}
	data, _ := durable.ReadFile(file, maxNote)
	n.remember(file, data)
	return data
}

func (n *notes) remember(file string, data []byte) {
	if n.known == nil {
		n.known = map[string][]byte{}
	}
	n.known[file] = data
}

func (n *notes) write(file string, data []byte) error {
	n.remember(file, data)
	return durable.WriteCache(file, data, 0o600)
}

// besideRuns is a file of the session whose run has a directory.
func besideRuns(runDir, name string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(runDir)), name)
}

// roomNote is that of the session whose run has a directory.
func (a *app) roomNote(plan workflows.Plan, runDir string) phases.RoomNote {
	_, gates := workflows.EncodePlan(&workflows.Plan{Baseline: plan.Baseline, Setup: plan.Setup, Provide: plan.Provide,
		Env: plan.Env})
	return &roomNote{&a.notes, besideRuns(runDir, "room"), gates}
}

func (n *roomNote) Read(gate string) (why string, known bool) {
	for _, line := range n.lines() {
		if name, why, _ := strings.Cut(line, "\t"); name == gate {
			return why, true
		}
	}
	return "", false
}

// lines are what is known about these gates.
func (n *roomNote) lines() []string {
	gates, rest, _ := strings.Cut(strings.TrimSuffix(string(n.notes.read(n.file)), "\n"), "\n")
	if gates != n.gates || rest == "" {
		return nil
	}
	return strings.Split(rest, "\n")
}

func (n *roomNote) Write(gate, why string) error {
	if _, err := os.Stat(filepath.Dir(n.file)); err != nil {
		return errors.New("the session has no directory here")
	}
	lines := append(append([]string{n.gates}, n.lines()...), gate+"\t"+strings.ReplaceAll(why, "\n", " "))
	return n.notes.write(n.file, []byte(strings.Join(lines, "\n")+"\n"))
}

// mendRooms is the setting with which clean trees have what the project needs, "" when there is one or none is known.
func (a *app) mendRooms(plan workflows.Plan) string {
	if !plan.Setup.IsZero() {
		return ""
	}
	w := a.proposeWorktree([]string{"node_modules/", ".venv/"}, plan.Baseline)
	if w.Setup.IsZero() {
		return ""
	}
	return "worktree: {setup: '" + strings.ReplaceAll(w.Setup.Text(), "'", "''") + "'}"
}
