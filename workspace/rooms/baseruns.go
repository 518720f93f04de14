package rooms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// BaseRuns caches the results of gates on a base, so that `wfs new` does not run the gates again that `wfs init` has
// just run. The files are in the user's state directory, next to the trust store. An agent's processes could write
// there, so the cache is not read while a run drives a session, and it is deleted after a run.
type BaseRuns struct {
	work *workspace.Workspace
	plan workflows.Plan
}

// BaseRuns returns the cache for the gates of a plan.
func (r *Rooms) BaseRuns(plan workflows.Plan) *BaseRuns { return &BaseRuns{r.work, plan} }

const (
	// after this time a result is not used any more, because installed packages may have changed
	baseRunsKept = 24 * time.Hour
	maxBaseRun   = 64 << 20 // maximum size of a file in bytes
)

// Dir returns the directory of the cache for this repository, "" if there is no state directory.
func (b *BaseRuns) Dir() string {
	state, err := b.work.Env.StateDir()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(b.work.Repo.CommonDir()))
	return filepath.Join(state, "base", hex.EncodeToString(sum[:8]))
}

// file returns the path of the cached result of a gate on a tree. The name is a digest of everything known that the
// result depends on, so a changed dependency leads to another file. The files below .wfs/ are not included, but the
// gate's command is.
func (b *BaseRuns) file(ctx context.Context, g workflows.Gate, tree session.Tree) string {
	repo := b.work.Repo
	content, err := repo.WithoutRules(ctx, tree)
	dir := b.Dir()
	if err != nil || dir == "" {
		return ""
	}
	where := fmt.Sprintf("%q", repo.Root())
	if g.Where == workflows.Clean {
		where = fmt.Sprintf("clean %q %q", b.plan.Setup, b.plan.Provide)
	}
	env := process.DefaultEnv(b.work.Environ(), b.plan.Env)
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q %q %s %q %q", content, g.Run, g.Format, g.Report, where, env, process.Tools(env, g.Run))
	return filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:16]))
}

// Read returns the cached result of a gate on a tree, nil if there is none that can be used.
func (b *BaseRuns) Read(ctx context.Context, g workflows.Gate, tree session.Tree) *gate.BaseRun {
	data, err := durable.ReadFile(b.file(ctx, g, tree), maxBaseRun)
	run := baseRun{}
	if err != nil || json.Unmarshal(data, &run) != nil || b.work.Env.Now().Sub(time.Unix(run.At, 0)) > baseRunsKept ||
		b.work.DrivenElsewhere() {
		return nil
	}
	return &run.BaseRun
}

type baseRun struct {
	At int64 `json:"at"` // Unix seconds
	gate.BaseRun
}

// Write caches the result of a gate on a tree. It ignores errors: without a cached result, the gate runs again.
func (b *BaseRuns) Write(ctx context.Context, g workflows.Gate, tree session.Tree, run gate.BaseRun) {
	file := b.file(ctx, g, tree)
	data, err := json.Marshal(baseRun{b.work.Env.Now().Unix(), run})
	if err != nil || file == "" || durable.MkdirAll(b.Dir()) != nil {
		return
	}
	_ = durable.WriteCache(file, data, 0o600)
}

// Forget deletes all cached results for this repository.
func (b *BaseRuns) Forget() {
	if dir := b.Dir(); dir != "" {
		_ = os.RemoveAll(dir)
	}
}
