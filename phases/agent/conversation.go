package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// goesOn reports whether the agent can resume the request's conversation: it needs the same agent and work tree, and
// a compatible version.
func (r *Runner) goesOn(ctx context.Context, req session.RunRequest) bool {
	c, agent := req.Conversation, req.Plan.Agent
	return c != nil && c.ID != "" && req.Phase.Run.Agent && agent.Card != nil && len(agent.Card.Resume) > 0 &&
		!agent.Fresh &&
		c.Agent == agent.Card.Name && c.Place == r.place() &&
		(c.Version == "" || sameFamily(c.Version, r.version(ctx, agent.Card)))
}

// version returns the version of a card's program; "" if unknown. It is asked once for each program.
func (r *Runner) version(ctx context.Context, c *workflows.Card) string {
	if r.Prober == nil || len(c.Probe) == 0 {
		return ""
	}
	return r.Prober.Find(ctx, c).Version
}

// place identifies this work tree on this machine. Some agents look up conversations by directory, and one hangs in a
// different directory.
func (r *Runner) place() string {
	h := sha256.Sum256([]byte(r.Root))
	return hex.EncodeToString(h[:])[:16]
}

// sameFamily reports whether two versions begin with the same two numbers. An unknown version is no reason to drop a
// conversation.
func sameFamily(a, b string) bool {
	return a == "" || b == "" || family(a) == family(b)
}

func family(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
