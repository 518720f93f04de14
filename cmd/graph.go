package cmd

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/workflows"
)

func (a *app) graphCmd() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "graph [WORKFLOW]", Short: "a workflow as a diagram, for Mermaid or Graphviz",
		Long: `Graph draws a workflow out of the very table that the engine's state machine is made of. Without a name
it is the workflow that the current session has pinned, or the one that the configuration names.`,
		Example: "  wfs workflow graph tdd\n  wfs workflow graph --format dot | dot -Tsvg > workflow.svg",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "mermaid" && format != "dot" {
				return usage("wfs workflow graph --help", "--format %s: it is mermaid or dot", format)
			}
			w, err := a.workflowToDraw(c.Context(), first(args))
			if err != nil {
				return err
			}
			if a.json {
				return a.answer(graphJSON{jsonVersion, w.Name, string(w.Start), decide.Transitions(w)})
			}
			a.out("%s", present.Diagram(w, format == "dot"))
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
	Transitions []decide.Transition `json:"transitions"`
}

func (a *app) workflowToDraw(ctx context.Context, name string) (*workflows.Workflow, error) {
	list, err := a.ownRules(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" && a.Repo != nil {
		if id, err := a.Current(ctx); err == nil && id != "" {
			v, err := a.View(ctx, id)
			if err != nil {
				return nil, err
			}
			plan, err := a.planAt(ctx, v)
			if err != nil {
				return nil, err
			}
			return &plan.Workflow, nil
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
