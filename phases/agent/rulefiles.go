package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// ruleFiles are the usual names of files with a project's rules for coding agents.
var ruleFiles = strings.Fields(
	"CLAUDE.md .claude/CLAUDE.md AGENTS.md GEMINI.md .github/copilot-instructions.md .cursorrules")

// unloadedRules returns the paths of rule files in the work tree that the agent's program does not load by itself. If
// several files have the same contents, for example because of links, it returns at most one.
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

// maxRules limits a rule file, in bytes. A larger file is skipped, because it is not likely to have rules.
const maxRules = 1 << 20
