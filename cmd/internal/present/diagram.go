package present

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/workflows"
)

// Mermaid draws a workflow as a state diagram. The end of a lap leads to its first phase again.
func Mermaid(w *workflows.Workflow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n    [*] --> %s\n", plainID(string(w.Start)))
	for _, p := range w.Phases {
		if id := plainID(string(p.Name)); id != string(p.Name) {
			fmt.Fprintf(&b, "    state %q as %s\n", p.Name, id)
		}
	}
	for _, t := range engine.Transitions(w) {
		switch t.To {
		case workflows.Done:
			fmt.Fprintf(&b, "    %s --> [*]: %s\n", plainID(string(t.From)), t.Verdict)
		case workflows.NextLap:
			fmt.Fprintf(&b, "    %s --> %s: %s, next lap\n", plainID(string(t.From)), plainID(string(w.Start)), t.Verdict)
			fmt.Fprintf(&b, "    %s --> [*]: %s, nothing left\n", plainID(string(t.From)), t.Verdict)
		default:
			fmt.Fprintf(&b, "    %s --> %s: %s\n", plainID(string(t.From)), plainID(string(t.To)), t.Verdict)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plainID is a name as Mermaid takes it.
func plainID(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// Dot draws a workflow for Graphviz.
func Dot(w *workflows.Workflow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n    rankdir=LR;\n    node [shape=box, style=rounded];\n", w.Name)
	b.WriteString("    \"(start)\" [shape=point];\n    \"(end)\" [shape=doublecircle, label=\"done\"];\n")
	fmt.Fprintf(&b, "    \"(start)\" -> %q;\n", w.Start)
	for _, t := range engine.Transitions(w) {
		switch t.To {
		case workflows.Done:
			fmt.Fprintf(&b, "    %q -> \"(end)\" [label=%q];\n", t.From, t.Verdict)
		case workflows.NextLap:
			fmt.Fprintf(&b, "    %q -> %q [label=%q, style=dashed];\n", t.From, w.Start, string(t.Verdict)+", next lap")
			fmt.Fprintf(&b, "    %q -> \"(end)\" [label=%q];\n", t.From, string(t.Verdict)+", nothing left")
		default:
			fmt.Fprintf(&b, "    %q -> %q [label=%q];\n", t.From, t.To, t.Verdict)
		}
	}
	b.WriteString("}")
	return b.String()
}
