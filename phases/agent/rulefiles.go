package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// ruleFiles are where projects keep their rules for coding agents.
var ruleFiles = strings.Fields(
	"CLAUDE.md .claude/CLAUDE.md AGENTS.md GEMINI.md .github/copilot-instructions.md .cursorrules")

// unloadedRules are the rule files of the work tree that the agent's program does not load by itself.
func (r *Runner) unloadedRules(req session.RunRequest) (names []string) {
	var loads []string
	if card := req.Plan.Agent.Card; card != nil {
		loads = card.Loads
	}
	for _, name := range ruleFiles {
		info, err := os.Stat(filepath.Join(r.Root, filepath.FromSlash(name)))
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 && !slices.Contains(loads, name) {
			names = append(names, name)
		}
	}
	return names
}
