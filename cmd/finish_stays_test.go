package cmd

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// protecting is a store whose work tree lets no document be deleted.
type protecting struct{ *gitstate.Repo }

func (protecting) MoveTree(context.Context, session.Move) error { return fs.ErrPermission }

// Documents that cannot be deleted keep nobody from handing over, and no later command from anything.
func TestFinishWhoseDocumentsStay(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.write(".workflow/one/plan.md", "plan\n")
	f.ok("wfs", "run")
	a := f.app()
	defer a.close()
	a.eng.Store = protecting{a.repo}
	var out strings.Builder
	a.env.Stdout, a.env.Args = &out, []string{"finish", "--json"}
	a.json = true
	root := a.root()
	root.SetArgs(a.env.Args)
	if err := root.ExecuteContext(context.Background()); err != nil {
		t.Fatal(err)
	}
	var j finishJSON
	if err := json.Unmarshal([]byte(out.String()), &j); err != nil || j.Commit == "" || j.Stayed != fs.ErrPermission.Error() {
		t.Errorf("%v: %s", err, out.String())
	}
	a.gone("one")
	f.on("one")
	f.ok("wfs", "undo")
	f.on("wfs/one")

	f.dies("one", ledgerMoved, func(ctx context.Context, h *engine.Hand) error {
		_, _, err := h.Finish(ctx, engine.Handover{Branch: "refs/heads/handed"})
		return err
	})
	b := f.app()
	b.eng.Store = protecting{b.repo}
	var said strings.Builder
	b.env.Stderr = &said
	err := b.hold("test", "one")
	b.gone("one")
	if err != nil || !strings.Contains(said.String(), "is completed now") || !strings.Contains(said.String(), "could not remove the session's documents") {
		t.Errorf("%v: %s", err, said.String())
	}
	f.on("handed")
}
