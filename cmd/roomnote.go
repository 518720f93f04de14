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

// roomNote is a file of a session: the gates that it is about, and on the second line what was found out.
type roomNote struct {
	file  string
	gates string
}

// roomNote is that of the session whose run has a directory.
func (a *app) roomNote(plan workflows.Plan, runDir string) phases.RoomNote {
	_, gates := workflows.EncodePlan(&workflows.Plan{Baseline: plan.Baseline, Setup: plan.Setup, Provide: plan.Provide,
		Env: plan.Env})
	return &roomNote{filepath.Join(filepath.Dir(filepath.Dir(runDir)), "room"), gates}
}

func (n *roomNote) Read() (why string, known bool) {
	data, err := os.ReadFile(n.file)
	gates, why, ok := strings.Cut(strings.TrimSuffix(string(data), "\n"), "\n")
	return why, err == nil && ok && gates == n.gates
}

func (n *roomNote) Write(why string) error {
	if _, err := os.Stat(filepath.Dir(n.file)); err != nil {
		return errors.New("the session has no directory here")
	}
	return durable.WriteCache(n.file, []byte(n.gates+"\n"+strings.ReplaceAll(why, "\n", " ")+"\n"), 0o600)
}

// mendRooms is the setting with which clean trees have what the project needs, "" when there is one or none is known.
func (a *app) mendRooms(plan workflows.Plan) string {
	if !plan.Setup.IsZero() {
		return ""
	}
	w := phases.ProposeWorktree([]string{"node_modules/", ".venv/"}, a.isFile)
	if w.Setup.IsZero() {
		return ""
	}
	return "worktree: {setup: '" + w.Setup.Text() + "'}"
}
