package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/plans"
	"github.com/wfs-dev/wfs/workspace"
)

type workflowJSON struct {
	Version     int    `json:"version"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"` // "built in", or a path
	Error       string `json:"error,omitempty"`
}

// workflowVerb is `wfs workflow` and its subcommands.
type workflowVerb struct{ *app }

func (a *workflowVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "workflow", Short: "list, show, draw and check workflows; their schema",
		Long:    "A workflow is a YAML file in .wfs/workflows/, or one that is built in. None of these commands runs anything of it.",
		Example: "  wfs workflow list\n  mkdir -p .wfs/workflows && wfs workflow show tdd > .wfs/workflows/ours.yaml\n  wfs workflow check",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "list the workflows",
			Long: "List names every workflow that wfs new --workflow takes: those of this repository and those that are built in, and where each comes from.", Args: noArgs, Example: "  wfs workflow list --json",
			RunE: with(a.list)},
		&cobra.Command{Use: "show WORKFLOW", Short: "the text of a workflow",
			Long: "Show prints the YAML of a workflow, which is the way to begin one of your own: what you change in the copy is all that differs.", Args: exactly(1, "the name of a workflow"), Example: "  wfs workflow show tdd",
			RunE: with(a.show)},
		(&graphVerb{app: a.app}).command(),
		&cobra.Command{Use: "schema", Short: "the JSON Schema of workflow files, for editors",
			Long: "Schema prints the JSON Schema of workflow files, so that an editor completes their keys and finds mistakes while you type.", Args: noArgs, Example: "  wfs workflow schema > workflow.schema.json",
			RunE: func(*cobra.Command, []string) error { return a.printSchema(workflows.WorkflowSchema()) }},
		&cobra.Command{Use: "check [FILE...]", Short: "check workflows and the configuration",
			Long:    "Check reads the configuration and every workflow of this repository, or the files that are named, and says all that is wrong with them: file, line, and what may have been meant. It exits 2 when it found anything.",
			Example: "  wfs workflow check\n  wfs workflow check .wfs/workflows/ours.yaml",
			RunE:    with(a.check)},
	)
	return c
}

// ownRules reads the files below .wfs/ of this repository. It returns nil outside a repository.
func ownRules(ctx context.Context, w *workspace.Workspace) (workspace.Rules, error) {
	if err := w.Open(ctx); err != nil {
		return nil, nil // built-in workflows are available anywhere
	}
	return w.Rules(ctx)
}

func (a *workflowVerb) list(ctx context.Context, _ []string) error {
	list, err := ownRules(ctx, a.Workspace)
	if err != nil {
		return err
	}
	var rows [][]any
	all := []workflowJSON{}
	for _, name := range list.WorkflowNames() {
		j := workflowJSON{Version: jsonVersion, Name: name, Source: "built in"}
		for _, f := range list {
			if own, ok := f.IsWorkflow(); ok && own == name {
				j.Source = f.Path
			}
		}
		w, _, err := list.Workflow(name)
		if err != nil {
			j.Error = err.Error()
		} else {
			j.Description = w.Description
		}
		all = append(all, j)
		rows = append(rows, []any{j.Name, j.Source, j.Description})
		if j.Error != "" {
			rows[len(rows)-1][2] = present.Bad(j.Error)
		}
	}
	if a.json {
		return a.answer(all)
	}
	a.env.Table(rows)
	return nil
}

func (a *workflowVerb) show(ctx context.Context, args []string) error {
	list, err := ownRules(ctx, a.Workspace)
	if err != nil {
		return err
	}
	w, text, err := list.Workflow(args[0])
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(w)
	}
	a.out("%s", strings.TrimSuffix(string(text), "\n"))
	return nil
}

type checkJSON struct {
	Version  int           `json:"version"`
	Checked  []string      `json:"checked"`
	Findings []findingJSON `json:"findings"`
}

type findingJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (a *workflowVerb) check(ctx context.Context, files []string) error {
	var list workspace.Rules
	var layers []workflows.Layer
	if len(files) == 0 {
		if err := a.Open(ctx); err != nil {
			return err
		}
		var err error
		if list, err = a.Rules(ctx); err != nil {
			return err
		}
		if layers, err = a.Layers(list); err != nil {
			return err
		}
	}
	own, err := a.OwnCards()
	if err != nil {
		return err
	}
	for _, file := range files {
		path := a.env.Abs(file)
		text, err := os.ReadFile(path)
		if err != nil {
			return usage("", "%v", err)
		}
		if source, ok := a.sourceOf(path); ok {
			layers = append(layers, workflows.Layer{Source: source, Name: file, Text: text})
		}
		list = append(list, workspace.RulesFile{Path: file, Text: text})
	}
	return a.sayChecked(checkRules(list, own, layers))
}

// sourceOf returns the layer of configuration (user, repository or local) that a file is, judging by its name and
// place. It returns false if the file is a workflow.
func (a *workflowVerb) sourceOf(path string) (workflows.Source, bool) {
	switch {
	case path == a.env.ConfigFile():
		return workflows.FromUser, true
	case filepath.Base(path) == "config.yaml":
		return workflows.FromRepository, true
	case filepath.Base(path) == "local.yaml":
		return workflows.FromLocal, true
	}
	return "", false
}

// checkRules checks the agent cards; the layers of configuration, each alone and all together; and the workflows, each
// alone and with the configuration.
func checkRules(list, own workspace.Rules, layers []workflows.Layer) (checked []string, findings []workflows.Finding) {
	isLayer := map[string]bool{}
	for _, l := range layers {
		isLayer[l.Name] = true
		checked = append(checked, l.Name)
	}
	var files workspace.Rules
	for _, f := range list {
		if f.IsCard() || filepath.Base(filepath.Dir(f.Path)) == "agents" {
			files = append(files, f)
			isLayer[f.Path] = true
			checked = append(checked, f.Path)
		}
	}
	cards, findings := workspace.ReadCards(append(files, own...))
	settings, more := cards.Read(layers...)
	findings = append(findings, more...)
	for _, f := range list {
		if isLayer[f.Path] {
			continue
		}
		checked = append(checked, f.Path)
		w, bad := workflows.ParseWorkflow(f.Path, f.Text)
		if len(bad) == 0 && settings != nil && len(layers) > 0 {
			agent := &workflows.Agent{Command: workflows.Command{Shell: "true"}} // wfs new checks the agent
			_, bad = plans.Resolve(w, &settings.Config, agent)
		}
		findings = append(findings, bad...)
	}
	return checked, findings
}

func (a *workflowVerb) sayChecked(checked []string, findings []workflows.Finding) error {
	j := checkJSON{Version: jsonVersion, Checked: append([]string{}, checked...), Findings: []findingJSON{}}
	for _, x := range findings {
		j.Findings = append(j.Findings, findingJSON{x.File, x.Line, x.Message, x.Hint})
		if !a.json {
			a.out("%s", x)
			if x.Hint != "" {
				a.out("    %s", x.Hint)
			}
		}
	}
	if a.json {
		if err := a.answer(j); err != nil {
			return err
		}
	} else if len(findings) == 0 {
		a.out("%d %s checked, nothing found", len(checked), plural(len(checked), "file", "files"))
	}
	if len(findings) > 0 {
		return exitWith(exitUsage)
	}
	return nil
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(c.CommandPath()+" --help", "%s needs %s", c.CommandPath(), what)
		}
		return nil
	}
}
