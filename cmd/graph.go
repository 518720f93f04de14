package cmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func (a *app) graphCmd() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "graph [WORKFLOW]", Short: "a workflow as a diagram, for Mermaid or Graphviz",
		Long: `Graph draws a workflow out of the very table that the engine's state machine is made of. Without a name it is the
workflow that the current session has pinned, or the one that the configuration names.`,
		Example: "  wfs workflow graph tdd\n  wfs workflow graph --format dot | dot -Tsvg > workflow.svg",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			draw, ok := map[string]func(*workflows.Workflow) string{"mermaid": mermaid, "dot": dot}[format]
			if !ok {
				return usage("wfs workflow graph --help", "--format %s: it is mermaid or dot", format)
			}
			w, err := a.workflowToDraw(c.Context(), first(args))
			if err != nil {
				return err
			}
			if a.json {
				return a.answer(graphJSON{jsonVersion, w.Name, string(w.Start), engine.Transitions(w)})
			}
			a.out("%s", draw(w))
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	return c
}

type graphJSON struct {
	Version     int                 `json:"version"`
	Name        string              `json:"name"`
	Start       string              `json:"start"`
	Transitions []engine.Transition `json:"transitions"`
}

func (a *app) workflowToDraw(ctx context.Context, name string) (*workflows.Workflow, error) {
	list, err := a.ownRules(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" && a.Repo != nil {
		if id, err := a.Current(ctx); err == nil && id != "" {
			return a.pinnedWorkflow(ctx, id)
		}
		if settings, err := a.Settings(list); err == nil {
			name = cmp.Or(settings.Config.Workflow, settings.Config.DefaultWorkflow())
		}
	}
	if name == "" {
		name = "tdd"
	}
	w, _, err := list.Workflow(name)
	return w, err
}

func (a *app) pinnedWorkflow(ctx context.Context, id session.ID) (*workflows.Workflow, error) {
	v, err := a.View(ctx, id)
	if err != nil {
		return nil, err
	}
	data, err := a.Repo.File(ctx, v.Tip, session.FilePlan)
	if err != nil {
		return nil, err
	}
	plan, err := workflows.DecodePlan(data)
	if err != nil {
		return nil, err
	}
	return &plan.Workflow, nil
}

// mermaid draws a workflow as a state diagram. The end of a lap leads to its first phase again.
func mermaid(w *workflows.Workflow) string {
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

// dot draws a workflow for Graphviz.
func dot(w *workflows.Workflow) string {
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
