package workspace

import (
	"fmt"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/plans"
)

// gitOf returns the engine's interfaces to Git, all implemented by one repository.
func gitOf(r *gitstate.Repo) engine.Git {
	return engine.Git{History: r, Hand: r, Trees: r, Handover: r, Checkpoint: r, Around: r, AutoSaves: r,
		Transition: transition.Git{Places: r, Refs: r, Trees: r, Checkout: r, Backups: r, Operations: r}}
}

// Act makes the command work in another work tree, which is already open.
func (w *Workspace) Act(repo *gitstate.Repo) {
	w.Repo = repo
	w.Engine.Use(gitOf(repo))
}

// newEngine connects the engine with the clone and with this command.
func (w *Workspace) newEngine() *engine.Engine {
	base := &hand.Base{
		Reader: history.Reader{Cached: func(id session.ID, tip session.Commit) session.Files { return w.Clone.Session(id).Tip(tip) },
			DecodePlan: plans.Decode,
			Peek: func(id session.ID, tip session.Commit) ([]session.Event, error) {
				events, _, err := w.Clone.Session(id).Peek(tip)
				return events, err
			}},
		OpenFiles: func(id session.ID, tip session.Commit) (hand.Files, error) {
			j, err := w.Clone.Session(id).Journal(tip)
			return hand.Files{Journal: j, Rules: j, Runs: j, Inbox: j}, err
		},
		NewRunID: func(id session.ID, number int) string {
			return fmt.Sprintf("%s-%04d-%s", id, number, w.Env.NewID(4))
		},
		Clock: clock{w.Env.Now}, Redact: w.Redact,
		KeepTip: func(id session.ID, tip session.Commit, row map[string]any, files session.Files) error {
			return w.Clone.Session(id).KeepTip(tip, row, files)
		},
		Hit: func(point string) { durable.Hit(durable.Point(point)) },
	}
	e := w.Front.Engine(base)
	e.Day, e.HoldsTests = w.Env.Day, testpaths.HoldsTests
	return e
}
