package workflows

import (
	"github.com/wfs-dev/wfs/workflows/spelling"
	"path/filepath"
	"slices"
	"strings"
)

// check looks up the agent's card by the name in `use`. It reports a mapping that names more than one agent, and keys
// that do not apply to the agent.
func (a *Agent) check(r *reader, at string) {
	chosen := slices.DeleteFunc(slices.Clone(objects().agent.either), func(key string) bool { return !r.has(at, key) })
	uses := r.has(at, "use")
	if a.Card = r.cards[a.Use]; a.Card == nil && uses && a.Use != "" {
		r.fail(at+".use", ": there is no agent %s (%s)\nwfs agent list", quote(a.Use), spelling.Alternatives(a.Use, r.cards.Names()))
	}
	if len(chosen) > 1 {
		r.fail(at, " has both %s: choose one\nuse: names an agent that wfs knows how to start; a command is the whole "+
			"command line of any other", strings.Join(chosen, " and "))
	}
	a.checkWords(r, at, uses)
	a.checkScript(r, at)
}

// checkWords reports keys that need a card, if the agent has none, and keys that this agent's card does not support.
func (a *Agent) checkWords(r *reader, at string, uses bool) {
	for _, key := range objects().agent.with {
		switch {
		case !r.has(at, key):
		case !uses:
			r.fail(at+"."+key, " is in the words of one agent, and goes with use\n"+
				"write use: NAME beside it; a command has it among its own words")
		case a.Card != nil && (key == "model" && len(a.Card.Model) == 0 || key == "allow" && !a.Card.Permits()):
			r.fail(at+"."+key, ": the agent %s has no such setting", a.Use)
		}
	}
}

// checkScript reports a script that is not the session's agent, or whose path is not allowed in this layer of the
// configuration.
func (a *Agent) checkScript(r *reader, at string) {
	switch local := filepath.FromSlash(a.ScriptPath); {
	case a.ScriptPath == "" || !r.has(at, "script"):
	case at != "agent":
		r.fail(at, ": a script can only be the session's agent")
	case r.layer.Source == FromRepository && !filepath.IsLocal(local):
		r.fail(at+".script", " %s leads out of the work tree, where a repository may not point\n%s",
			quote(a.ScriptPath), setLocally)
	case r.layer.Source == FromUser && !filepath.IsAbs(local):
		r.fail(at+".script", " %s must be absolute in a configuration for all repositories", quote(a.ScriptPath))
	}
}

const setLocally = "set it in .wfs/local.yaml, which is this clone's own"
