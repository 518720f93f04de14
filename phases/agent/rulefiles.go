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

// unloadedRules are the rule files of the work tree that the agent's program does not load by itself. One that
// holds the same as another, a link to it say, is named once.
func (r *Runner) unloadedRules(req session.RunRequest) []string {
	var names, texts []string
	var loads []string
	if card := req.Plan.Agent.Card; card != nil {
		loads = card.Loads
	}
	for _, loaded := range []bool{true, false} {
		for _, name := range ruleFiles {
			if slices.Contains(loads, name) != loaded {
				continue
			}
			path := filepath.Join(r.Root, filepath.FromSlash(name))
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxRules {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil || slices.Contains(texts, string(text)) {
				continue
			}
			texts = append(texts, string(text))
			if !loaded {
				names = append(names, name)
			}
		}
	}
	return names
}

// maxRules is what a rule file may be long, in bytes. A larger one is something else.
const maxRules = 1 << 20
