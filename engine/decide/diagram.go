package decide

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// Diagram returns a workflow's state machine as text for Mermaid, or for Graphviz. An arrow leads from the end of a lap
// to the first phase.
func Diagram(w *workflows.Workflow, graphviz bool) string {
	var b strings.Builder
	arrow := func(from, to, label string) {
		if graphviz {
			fmt.Fprintf(&b, "    %q -> %q [label=%q];\n", from, to, label)
		} else {
			fmt.Fprintf(&b, "    %s --> %s: %s\n", plainID(from), plainID(to), label)
		}
	}
	end := "[*]"
	if graphviz {
		end = "(end)"
		fmt.Fprintf(&b, "digraph %q {\n    rankdir=LR;\n    node [shape=box, style=rounded];\n", w.Name)
		b.WriteString("    \"(start)\" [shape=point];\n    \"(end)\" [shape=doublecircle, label=\"done\"];\n")
		fmt.Fprintf(&b, "    \"(start)\" -> %q;\n", w.Start)
	} else {
		fmt.Fprintf(&b, "stateDiagram-v2\n    [*] --> %s\n", plainID(string(w.Start)))
		for _, p := range w.Phases {
			if id := plainID(string(p.Name)); id != string(p.Name) {
				fmt.Fprintf(&b, "    state %q as %s\n", p.Name, id)
			}
		}
	}
	for _, t := range Transitions(w) {
		from, verdict := string(t.From), string(t.Verdict)
		switch t.To {
		case workflows.Done:
			arrow(from, end, verdict)
		case workflows.NextLap:
			arrow(from, string(w.LapStart()), verdict+", next lap")
			then := end
			if to := w.AfterLaps(); to != workflows.Done {
				then = string(to)
			}
			arrow(from, then, verdict+", nothing left")
		default:
			arrow(from, string(t.To), verdict)
		}
	}
	if graphviz {
		b.WriteString("}")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plainID replaces the characters of a phase name that Mermaid does not accept in identifiers.
func plainID(name string) string {
	if name == "[*]" {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}
