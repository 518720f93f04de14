package views

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Tool says how often agents called a tool.
type Tool struct {
	Name   string         `json:"name"`
	Calls  int            `json:"calls"`
	Failed int            `json:"failed"` // calls that returned an error, where the agent's output tells
	Phases map[string]int `json:"phases"` // calls by phase
}

// Tools has the tool calls of a session. Calls by name are known only for agents whose output wfs understands.
type Tools struct {
	Calls    int            `json:"calls"`    // of all attempts
	Denied   []DeniedTool   `json:"denied"`   // calls that were refused, because no person was there to permit them
	Tools    []Tool         `json:"tools"`    // most calls first
	Attempts []AttemptTools `json:"attempts"` // attempts with calls
}

// DeniedTool says in how many attempts calls of a tool were denied.
type DeniedTool struct {
	Name     string `json:"name"`
	Attempts int    `json:"attempts"`
}

// AttemptTools has the tool calls of one attempt.
type AttemptTools struct {
	Place
	Calls int               `json:"calls"`
	Tools []session.ToolUse `json:"tools,omitempty"`
}

// UseOfTools returns the tool calls of a session.
func UseOfTools(attempts []Attempt) Tools {
	t := Tools{Tools: []Tool{}, Denied: []DeniedTool{}, Attempts: []AttemptTools{}}
	for _, a := range attempts {
		t.Calls += a.Tools
		if a.Tools > 0 {
			t.Attempts = append(t.Attempts, AttemptTools{a.Place, a.Tools, a.toolUse})
		}
		for _, u := range a.toolUse {
			i := slices.IndexFunc(t.Tools, func(x Tool) bool { return x.Name == u.Name })
			if i < 0 {
				i, t.Tools = len(t.Tools), append(t.Tools, Tool{Name: u.Name, Phases: map[string]int{}})
			}
			t.Tools[i].Calls += u.Calls
			t.Tools[i].Failed += u.Failed
			t.Tools[i].Phases[string(a.Phase)] += u.Calls
		}
		for _, name := range a.denied {
			i := slices.IndexFunc(t.Denied, func(x DeniedTool) bool { return x.Name == name })
			if i < 0 {
				i, t.Denied = len(t.Denied), append(t.Denied, DeniedTool{Name: name})
			}
			t.Denied[i].Attempts++
		}
	}
	slices.SortFunc(t.Tools, func(x, y Tool) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Name, y.Name))
	})
	return t
}
