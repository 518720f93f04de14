package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// baseRuns are the results of gates on a base, so that `wfs new` does not run again what `wfs init` ran a moment ago. They lie
// in the person's state directory, beside what is trusted. Whatever an agent runs could write there: they are not read while
// a run drives a session, and are removed after it.
type baseRuns struct {
	app  *app
	plan workflows.Plan
}

const (
	baseRunsKept = 24 * time.Hour // what is installed may have changed since
	maxBaseRun   = 64 << 20       // bytes
)

// dir holds those of this repository, "" when there is no place.
func (b *baseRuns) dir() string {
	state, err := b.app.env.StateDir()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(b.app.Repo.CommonDir()))
	return filepath.Join(state, "base", hex.EncodeToString(sum[:8]))
}

// file names the run of a gate on a tree by all that its result depends on, as far as that can be known. The work tree's
// configuration is no part of that: the command is.
func (b *baseRuns) file(ctx context.Context, g workflows.Gate, tree session.Tree) string {
	repo := b.app.Repo
	content, err := repo.WithoutRules(ctx, tree)
	dir := b.dir()
	if err != nil || dir == "" {
		return ""
	}
	where := fmt.Sprintf("%q", repo.Root())
	if g.Where == workflows.Clean {
		where = fmt.Sprintf("clean %q %q", b.plan.Setup, b.plan.Provide)
	}
	env := phases.DefaultEnv(b.app.env.Environ, b.plan.Env)
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q %q %s %q %q", content, g.Run, g.Format, g.Report, where, env, phases.Tools(env, g.Run))
	return filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:16]))
}

func (b *baseRuns) Read(ctx context.Context, g workflows.Gate, tree session.Tree) *phases.BaseRun {
	data, err := durable.ReadFile(b.file(ctx, g, tree), maxBaseRun)
	run := baseRun{}
	if err != nil || json.Unmarshal(data, &run) != nil || b.app.env.Now().Sub(unix(run.At)) > baseRunsKept || b.app.DrivenElsewhere() {
		return nil
	}
	return &run.BaseRun
}

type baseRun struct {
	At int64 `json:"at"` // Unix seconds
	phases.BaseRun
}

// Write notes a run. Without the note it is run again.
func (b *baseRuns) Write(ctx context.Context, g workflows.Gate, tree session.Tree, run phases.BaseRun) {
	file := b.file(ctx, g, tree)
	data, err := json.Marshal(baseRun{b.app.env.Now().Unix(), run})
	if err != nil || file == "" || durable.MkdirAll(b.dir()) != nil {
		return
	}
	_ = durable.WriteCache(file, data, 0o600)
}

func (b *baseRuns) forget() {
	if dir := b.dir(); dir != "" {
		_ = os.RemoveAll(dir)
	}
}
