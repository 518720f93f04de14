package cmd

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/workflows"
)

// graphVerb is `wfs workflow graph`.
type graphVerb struct {
	*app
	format string
}

func (a *graphVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "graph [WORKFLOW]", Short: "a workflow as a diagram, for Mermaid or Graphviz",
		Long: `Graph draws a workflow out of the very table that the engine's state machine is made of. Without a name
it is the workflow that the current session has pinned, or the one that the configuration names.`,
		Example: "  wfs workflow graph tdd\n  wfs workflow graph --format dot | dot -Tsvg > workflow.svg",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().StringVar(&a.format, "format", "mermaid", "mermaid or dot")
	return c
}

type graphJSON struct {
	Version     int                 `json:"version"`
	Name        string              `json:"name"`
	Start       string              `json:"start"`
	Transitions []decide.Transition `json:"transitions"`
}

func (a *graphVerb) run(ctx context.Context, args []string) error {
	if a.format != "mermaid" && a.format != "dot" {
		return usage("wfs workflow graph --help", "--format %s: it is mermaid or dot", a.format)
	}
	w, err := a.workflow(ctx, first(args))
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(graphJSON{jsonVersion, w.Name, string(w.Start), decide.Transitions(w)})
	}
	a.out("%s", decide.Diagram(w, a.format == "dot"))
	return nil
}

// workflow returns the workflow called `name`. If name is "", it returns the workflow of the current session, or else
// the configured one.
func (a *graphVerb) workflow(ctx context.Context, name string) (*workflows.Workflow, error) {
	list, err := ownRules(ctx, a.Workspace)
	if err != nil {
		return nil, err
	}
	if name == "" && a.Repo != nil {
		if id, err := a.Current(ctx); err == nil && id != "" {
			v, err := a.View(ctx, id)
			if err != nil {
				return nil, err
			}
			plan, err := a.PinnedPlan(ctx, v)
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
