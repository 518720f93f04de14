package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// goesOn reports whether the agent can go on with the conversation of the request: its own, of this directory, in a
// version that remembers it.
func (r *Runner) goesOn(ctx context.Context, req session.RunRequest) bool {
	c, agent := req.Conversation, req.Plan.Agent
	return c != nil && c.ID != "" && req.Phase.Run.Agent && agent.Card != nil && len(agent.Card.Resume) > 0 &&
		!agent.Fresh &&
		c.Agent == agent.Card.Name && c.Place == r.place() &&
		(c.Version == "" || sameFamily(c.Version, r.version(ctx, agent.Card)))
}

// version is that of the program that a card starts, "" when it is not known. It is asked for once for each program.
func (r *Runner) version(ctx context.Context, c *workflows.Card) string {
	if r.Prober == nil || len(c.Probe) == 0 {
		return ""
	}
	return r.Prober.Find(ctx, c).Version
}

// place tells this work tree from others, on this machine. Some agents look for conversations by their
// directory, and one hangs when it is another.
func (r *Runner) place() string {
	h := sha256.Sum256([]byte(r.Root))
	return hex.EncodeToString(h[:])[:16]
}

// sameFamily reports whether two versions begin with the same two numbers. One that is not known is no reason
// to forget.
func sameFamily(a, b string) bool {
	return a == "" || b == "" || family(a) == family(b)
}

func family(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
