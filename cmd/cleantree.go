package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// cleanFor is the file beside a clean tree that says whose it is: the path of the repository's common git directory.
const cleanFor = "for"

// cleanDir is where this work tree's clean tree is: in the person's state directory, because what looks in the
// directories above for packages, modules or configuration must not find the work tree's. The directory itself is called
// as the work tree's, which some tools take for the project's name.
func (a *app) cleanDir(repo *gitstate.Repo) (string, error) {
	state, err := a.env.stateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(repo.CommonDir() + "\x00" + repo.Worktree()))
	return filepath.Join(state, "clean", hex.EncodeToString(sum[:4]), filepath.Base(repo.Root())), nil
}

// cleanTree makes the clean tree of a tree, for the gates of a plan.
func (a *app) cleanTree(ctx context.Context, plan workflows.Plan, tree session.Tree) (session.CleanTree, error) {
	dir, err := a.cleanDir(a.repo)
	if err != nil {
		return session.CleanTree{}, err
	}
	if err := durable.MkdirAll(filepath.Dir(dir)); err != nil {
		return session.CleanTree{}, err
	}
	owner := filepath.Join(filepath.Dir(dir), cleanFor)
	if err := os.WriteFile(owner, []byte(a.repo.CommonDir()+"\n"), 0o600); err != nil {
		return session.CleanTree{}, err
	}
	return a.repo.CleanTree(ctx, dir, tree, plan.Provide, phases.DefaultEnv(a.env.Environ, plan.Env))
}

// keptResults is where what gates said in this work tree is kept.
func (a *app) keptResults() *phases.Results {
	if a.results == nil {
		a.results = &phases.Results{Dir: filepath.Join(a.repo.StateDir(), "worktrees", a.repo.Worktree(), "evidence"), Now: a.env.Now, Retest: a.retest}
	}
	return a.results
}
