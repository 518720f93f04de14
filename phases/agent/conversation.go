package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// goesOn reports whether the agent can resume the conversation in the request. The conversation must be one of this
// agent in this work tree, and have begun with a similar version.
func (r *Runner) goesOn(ctx context.Context, req session.RunRequest) bool {
	c, agent := req.Conversation, req.Plan.Agent
	return c != nil && c.ID != "" && req.Phase.Run.Agent && agent.Card != nil && len(agent.Card.Resume) > 0 &&
		!agent.Fresh &&
		c.Agent == agent.Card.Name && c.Place == r.place() &&
		(c.Version == "" || sameFamily(c.Version, r.version(ctx, agent.Card)))
}

// version returns the version of the program of a card; "" if unknown. The Prober caches versions.
func (r *Runner) version(ctx context.Context, c *workflows.Card) string {
	if r.Prober == nil || len(c.Probe) == 0 {
		return ""
	}
	return r.Prober.Find(ctx, c).Version
}

// place returns a hash that identifies this work tree on this machine. A conversation can be resumed only in the same
// place: some agents look up conversations by directory, and one hangs in a different directory.
func (r *Runner) place() string {
	h := sha256.Sum256([]byte(r.Root))
	return hex.EncodeToString(h[:])[:16]
}

// sameFamily reports whether two versions begin with the same two numbers. It returns true if one is unknown, which is
// no reason to start a new conversation.
func sameFamily(a, b string) bool {
	return a == "" || b == "" || family(a) == family(b)
}

func family(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
