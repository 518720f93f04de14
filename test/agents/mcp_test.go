package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestRealClients registers `wfs mcp` with a real agent program, as the help says, and lets the played model call a
// tool: it gets the sessions. A tool for a decision does not exist.
func TestRealClients(t *testing.T) {
	dir := os.Getenv("WFS_REAL_AGENTS")
	if dir == "" {
		t.Skip("WFS_REAL_AGENTS is not set: .ci/agents")
	}
	wfs := testkit.Wfs(t)
	clients := []struct {
		name, list, approve string // the program, and its names of two tools
		refused             string // what it tells its model of a tool that does not exist
		ask                 []string
	}{
		{"claude-2.1.329", "mcp__wfs__list", "mcp__wfs__approve", "No such tool available: mcp__wfs__approve",
			[]string{"-p", "which sessions are there?", "--allowedTools", "mcp__wfs"}},
		{"codex-0.169.0", "mcp__wfs.list", "mcp__wfs.approve", "unsupported call: mcp__wfsapprove",
			[]string{"exec", "which sessions are there?"}},
	}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			agent := realAgents[c.name]
			bin := filepath.Join(dir, c.name, "node_modules", ".bin")
			if _, err := os.Stat(filepath.Join(bin, agent.name)); err != nil {
				t.Skipf("SKIPPED: %s is not installed: %v", agent.npm, err)
			}
			top, _ := filepath.EvalSymlinks(t.TempDir())
			var mu sync.Mutex
			var last string // the newest request
			server := &modelServer{play: func(p modelAt) reply {
				switch p.Step {
				case 0:
					return tool(c.list, jsonMap{"status": "created"})
				case 1:
					return tool(c.approve, jsonMap{})
				}
				return reply{Text: "THE-END"}
			}}
			server.hear = func(_ modelAt, body jsonMap) {
				data, _ := json.Marshal(body)
				mu.Lock()
				last = string(data)
				mu.Unlock()
			}
			n := newNight(t, wfs, top, server, map[string]realAgent{bin: agent})
			n.project("workflow: tdd\nagent: " + agent.use() + "\n")
			n.do(0, "wfs", "new", "subtract")
			program := filepath.Join(bin, agent.name)
			n.do(0, program, "mcp", "add", "wfs", "--", wfs, "mcp")
			if out := n.do(0, append([]string{program}, c.ask...)...); !strings.Contains(out, "THE-END") {
				t.Errorf("it says %q", out)
			}
			for _, want := range []string{`\"id\":\"subtract\"`, c.refused} {
				if !strings.Contains(strings.ReplaceAll(last, `\\\"`, `\"`), want) {
					t.Errorf("the model was not told %s: %s", want, last)
				}
			}
		})
	}
}
