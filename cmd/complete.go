package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// Completion reads and writes nothing, and says nothing when something is wrong: what it prints ends in somebody's
// command line. What can stand in a place is read from the line that describes it in the help: `[SESSION | CHECKPOINT]`,
// or the `checkpoint` of a flag.

// completing reports whether a shell asks what could follow, and not a person for an answer.
func completing(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// complete lets every command of the tree answer a shell's questions.
func (a *app) complete(c *cobra.Command) {
	places := argumentsOf(c.Use)
	if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(places) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			place := places[min(len(args), len(places)-1)]
			if len(args) >= len(places) && !place.repeats {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			kinds := place.kinds
			if c.Flags().Changed("restore") {
				kinds = []string{"DELETED"}
			}
			return a.candidates(c.Context(), kinds, first(args), typed)
		}
	}
	flags := func(f *pflag.Flag) {
		var kind string
		kind, f.Usage = pflag.UnquoteUsage(f)
		if kind == "name" || kind == "" {
			kind = f.Name
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.candidates(c.Context(), []string{strings.ToUpper(kind)}, first(args), typed)
		})
	}
	c.LocalNonPersistentFlags().VisitAll(flags)
	c.PersistentFlags().VisitAll(flags)
	for _, sub := range c.Commands() {
		a.complete(sub)
	}
}

// argument is one argument: what can stand there.
type argument struct {
	kinds   []string
	repeats bool
}

// argumentsOf reads a command's usage: "diff [SESSION | CHECKPOINT [CHECKPOINT]]".
func argumentsOf(use string) []argument {
	var list []argument
	for _, word := range strings.Fields(strings.ReplaceAll(use, " | ", "|"))[1:] {
		if strings.HasPrefix(word, "-") {
			break // a flag that must be there
		}
		word = strings.Trim(word, "[]")
		name, repeats := strings.CutSuffix(word, "...")
		list = append(list, argument{strings.Split(name, "|"), repeats})
	}
	return list
}

// candidates lists what may be meant. named is the first argument that is there already: a session, where one is meant.
func (a *app) candidates(ctx context.Context, kinds []string, named, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	how := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	for _, kind := range kinds {
		switch kind {
		case "FILE", "PATH":
			return nil, cobra.ShellCompDirectiveDefault
		case "DIRECTORY":
			return nil, cobra.ShellCompDirectiveFilterDirs
		case "WHEN":
			all = append(all, whens...)
		case "STATUS":
			all = append(all, statuses...)
		case "SHELL":
			all = append(all, shells...)
		case "AGENT":
			if s, _, err := a.agentSettings(ctx); err == nil {
				all = append(all, s.Config.Cards.Names()...)
			}
		case "KEY":
			all = append(all, a.completeKeys(ctx)...)
		default:
			all = append(all, a.fromRepository(ctx, kind, named, typed, len(kinds) == 1)...)
		}
	}
	all = slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, typed) })
	if len(all) > 0 && !slices.ContainsFunc(all, func(c cobra.Completion) bool { return !unfinished(c) }) {
		how |= cobra.ShellCompDirectiveNoSpace
	}
	return all, how
}

// unfinished reports whether a number must follow.
func unfinished(c cobra.Completion) bool {
	word, _, _ := strings.Cut(c, "\t")
	return strings.HasSuffix(word, "@")
}

// fromRepository lists what only the repository knows. only says that nothing else can stand there.
func (a *app) fromRepository(ctx context.Context, kind, named, typed string, only bool) []cobra.Completion {
	if a.Open(ctx) != nil {
		if kind == "WORKFLOW" {
			return workflows.BuiltinNames()
		}
		return nil
	}
	switch kind {
	case "SESSION":
		return a.completeSessions(ctx)
	case "DELETED":
		var list []cobra.Completion
		all, _ := a.deletions(ctx) // a shell shows no errors
		for _, d := range all {
			list = append(list, string(d.ID))
		}
		return list
	case "BRANCH":
		return a.completeBranches(ctx)
	case "CHECKPOINT":
		return a.completeAddresses(ctx, named, typed, only)
	case "REF":
		return append(a.completeBranches(ctx), a.completeAddresses(ctx, "@", typed, true)...)
	case "WORKFLOW":
		list, err := a.Rules(ctx)
		if err != nil {
			return nil
		}
		return list.WorkflowNames()
	case "PHASE":
		return a.completePhases(ctx, named)
	}
	return nil
}

// completeKeys lists the settings that hold.
func (a *app) completeKeys(ctx context.Context) []cobra.Completion {
	s, err := a.OwnSettings(ctx)
	if err != nil {
		return nil
	}
	var keys []cobra.Completion
	for _, x := range s.List {
		keys = append(keys, described(x.Key, x.Text()))
	}
	return keys
}

// described is a candidate with what a shell may show beside it.
func described(word, what string) cobra.Completion {
	return cobra.CompletionWithDesc(safetext.Strip(word), safetext.Line(what, 60))
}

func (a *app) completeSessions(ctx context.Context) []cobra.Completion {
	all, _ := a.Repo.Sessions(ctx) // beside those that cannot be read
	var list []cobra.Completion
	for _, name := range workspace.SortedIDs(all) {
		what := ""
		if v, err := a.Engine.Load(ctx, session.ID(name), all[session.ID(name)]); err == nil {
			what = fmt.Sprintf("%s: %s", v.Session.Status, v.Session.Headline())
		}
		list = append(list, described(name, what))
	}
	return list
}

func (a *app) completeBranches(ctx context.Context) []cobra.Completion {
	branches, _ := a.Repo.Branches(ctx)
	var list []cobra.Completion
	for _, ref := range sortedKeys(branches) {
		if !strings.HasPrefix(ref, session.BranchPrefix) {
			list = append(list, described(strings.TrimPrefix(ref, "refs/heads/"), "branch"))
		}
	}
	return list
}

// completeAddresses lists checkpoints, newest first: those of the session that is typed before the @, or of the named
// or current one; and where nothing else can stand, the sessions whose checkpoints can be addressed.
func (a *app) completeAddresses(ctx context.Context, named, typed string, only bool) []cobra.Completion {
	name, _, addressed := strings.Cut(typed, "@")
	prefix := ""
	if addressed {
		prefix = name + "@"
	} else if name = named; strings.Contains(name, "@") {
		name = "" // an address stands before this one
	}
	if _, isNumber := workspace.CheckpointNumber(name); isNumber && !addressed {
		name = ""
	}
	var list []cobra.Completion
	if named != "@" || addressed { // a ref has no checkpoints of its own
		if id, err := a.Resolve(ctx, name); err == nil {
			if v, err := a.View(ctx, id); err == nil {
				for _, c := range slices.Backward(v.Session.Checkpoints) {
					list = append(list, described(prefix+itoa(c.Number), strings.ToLower(string(c.Phase))+": "+c.Summary))
				}
			}
		}
	}
	if only && !addressed {
		all, _ := a.Repo.Sessions(ctx)
		for _, name := range workspace.SortedIDs(all) {
			list = append(list, name+"@")
		}
	}
	return list
}

// completePhases lists the phases of a session's workflow as it is pinned.
func (a *app) completePhases(ctx context.Context, named string) []cobra.Completion {
	id, err := a.Resolve(ctx, named)
	if err != nil {
		return nil
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return nil
	}
	data, err := a.Repo.File(ctx, v.Tip, session.FilePlan)
	if err != nil {
		return nil
	}
	plan, err := workflows.DecodePlan(data)
	if err != nil {
		return nil
	}
	var list []cobra.Completion
	for _, p := range plan.Workflow.Phases {
		list = append(list, string(p.Name))
	}
	return list
}
