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

// headsPatience is how long a command waits for another command that moves HEAD to the same branch. The other command
// holds the lock until it has moved HEAD. Before that, git compares the files again, which takes minutes in a large
// repository or with slow filters.
const headsPatience = 10 * time.Minute

// HoldHeads prevents other wfs processes, in any work tree of this repository, from moving HEAD to a branch, until
// release is called. Without it, two processes could both find that no work tree has the branch checked out. Several
// branches share a lock, so that there are few lock files.
func (r *Refs) HoldHeads(ctx context.Context, branch string) (release func(), err error) {
	sum := sha256.Sum256([]byte(strings.ToLower(branch))) // a file system may ignore case
	return r.holdFor(ctx, fmt.Sprintf("heads-%x.lock", sum[0]>>4),
		"goes to "+strings.TrimPrefix(branch, "refs/heads/")+" in "+r.Git.Root)
}

// HoldPlans prevents other wfs processes from planning a new work tree. Without it, two processes could both find that
// a name for it is free.
func (r *Refs) HoldPlans(ctx context.Context) (release func(), err error) {
	return r.holdFor(ctx, "plans.lock", "plans a work tree")
}

// holdFor takes a lock of the repository. The lock file says what this process does; a process that waits for the lock
// shows that text.
func (r *Refs) holdFor(ctx context.Context, name, does string) (release func(), err error) {
	if err := durable.MkdirAll(r.Git.StateDir()); err != nil {
		return nil, err
	}
	path, told := filepath.Join(r.Git.StateDir(), name), false
	for waited := durable.LockWait; ; waited += durable.LockWait {
		// If another process has the lock, TryLock waits for LockWait.
		l, err := durable.TryLock(path, fmt.Appendf(nil, "wfs (pid %d), which %s\n", os.Getpid(), does))
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
		_, holder, _ := durable.Probe(path) // ignore the error: the holder is only for the message
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
