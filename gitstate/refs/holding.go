package refs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// headsPatience is for how long one command waits for another that goes to the same branch. That one has the
// lock until its HEAD has moved, and before that git looks at the files anew: in a large repository, or with
// slow filters, for minutes.
const headsPatience = 10 * time.Minute

// HoldHeads keeps other wfs, in any work tree of this repository, from taking HEAD to a branch until release is
// called: two of them at once would both find it free. Branches share a few locks, so that their files do not
// become many.
func (r *Refs) HoldHeads(ctx context.Context, branch string) (release func(), err error) {
	sum := sha256.Sum256([]byte(strings.ToLower(branch))) // they may be one file
	return r.holdFor(ctx, fmt.Sprintf("heads-%x.lock", sum[0]>>4),
		"goes to "+strings.TrimPrefix(branch, "refs/heads/")+" in "+r.Git.Root)
}

// HoldPlans keeps other wfs from planning a work tree: two of them at once would both find its name free.
func (r *Refs) HoldPlans(ctx context.Context) (release func(), err error) {
	return r.holdFor(ctx, "plans.lock", "plans a work tree")
}

// holdFor takes a lock of the repository's. does says to others what for.
func (r *Refs) holdFor(ctx context.Context, name, does string) (release func(), err error) {
	if err := durable.MkdirAll(r.Git.StateDir()); err != nil {
		return nil, err
	}
	path, told := filepath.Join(r.Git.StateDir(), name), false
	for waited := durable.LockWait; ; waited += durable.LockWait {
		l, err := durable.TryLock(path, fmt.Appendf(nil, "wfs (pid %d), which %s\n", os.Getpid(), does)) // waits by itself
		switch {
		case err == nil:
			return func() { l.Release() }, nil
		case !errors.Is(err, durable.ErrLocked):
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		if waited < gitcmd.LockPatience {
			continue
		}
		_, holder, _ := durable.Probe(path) // who that is, is told if it can be
		who := strings.TrimSpace(string(holder))
		if waited > headsPatience {
			return nil, fmt.Errorf("%s did not finish within %s: %w", who, gitcmd.Old(headsPatience), err)
		}
		if !told && r.Git.Waits != nil {
			r.Git.Waits(fmt.Sprintf("waiting, for %s at most, for %s", gitcmd.Old(headsPatience), who))
		}
		told = true
	}
}
