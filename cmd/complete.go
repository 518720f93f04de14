package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
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

// lists are what can stand in a place, by the word for it in the help. named is the first argument that is there already.
var lists = map[string]func(a *app, ctx context.Context, named, typed string) []cobra.Completion{
	"WHEN":   func(*app, context.Context, string, string) []cobra.Completion { return present.Whens },
	"STATUS": func(*app, context.Context, string, string) []cobra.Completion { return statuses },
	"SHELL":  func(*app, context.Context, string, string) []cobra.Completion { return shells },
	"AGENT": func(a *app, ctx context.Context, _, _ string) []cobra.Completion {
		if s, _, err := a.agentSettings(ctx); err == nil {
			return s.Config.Cards.Names()
		}
		return nil
	},
	"KEY": func(a *app, ctx context.Context, _, _ string) (keys []cobra.Completion) {
		if s, err := a.OwnSettings(ctx); err == nil {
			for _, x := range s.List {
				keys = append(keys, described(x.Key, x.Text()))
			}
		}
		return keys
	},
	"WORKFLOW": func(a *app, ctx context.Context, _, _ string) []cobra.Completion {
		var list workspace.Rules // beside those that are built in
		if a.Open(ctx) == nil {
			list, _ = a.Rules(ctx) // a shell shows no errors
		}
		return list.WorkflowNames()
	},
	"SESSION":    (*app).completeSessions,
	"DELETED":    (*app).completeDeleted,
	"BRANCH":     (*app).completeBranches,
	"CHECKPOINT": (*app).completeAddresses,
	"REF": func(a *app, ctx context.Context, _, typed string) []cobra.Completion {
		list := a.completeBranches(ctx, "", "")
		if name, _, addressed := strings.Cut(typed, "@"); addressed { // a ref has no checkpoints of its own
			return append(list, a.completeAddresses(ctx, name, typed)...)
		}
		return append(list, a.addressable(ctx)...)
	},
	"PHASE": (*app).completePhases,
}

// candidates lists what may be meant.
func (a *app) candidates(ctx context.Context, kinds []string, named, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	how := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	var all []cobra.Completion
	for _, kind := range kinds {
		switch kind {
		case "FILE", "PATH":
			return nil, cobra.ShellCompDirectiveDefault
		case "DIRECTORY":
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		if list := lists[kind]; list != nil {
			all = append(all, list(a, ctx, named, typed)...)
		}
		if kind == "CHECKPOINT" && len(kinds) == 1 && !strings.Contains(typed, "@") { // or the sessions stand there already
			all = append(all, a.addressable(ctx)...)
		}
	}
	all = slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, typed) })
	if len(all) > 0 && !slices.ContainsFunc(all, func(c cobra.Completion) bool { return !strings.HasSuffix(c, "@") }) { // a number must follow
		how |= cobra.ShellCompDirectiveNoSpace
	}
	return all, how
}

// described is a candidate with what a shell may show beside it.
func described(word, what string) cobra.Completion {
	return cobra.CompletionWithDesc(safetext.Strip(word), safetext.Line(what, 60))
}

// sessionsHere are the sessions that can be read.
func (a *app) sessionsHere(ctx context.Context) map[session.ID]session.Commit {
	if a.Open(ctx) != nil {
		return nil
	}
	all, _ := a.Repo.Sessions(ctx)
	return all
}

func (a *app) completeSessions(ctx context.Context, _, _ string) (list []cobra.Completion) {
	all := a.sessionsHere(ctx)
	for _, name := range workspace.SortedIDs(all) {
		what := ""
		if v, err := a.Engine.Load(ctx, session.ID(name), all[session.ID(name)]); err == nil {
			what = fmt.Sprintf("%s: %s", v.Session.Status, v.Session.Headline())
		}
		list = append(list, described(name, what))
	}
	return list
}

// addressable are the sessions whose checkpoints can be named.
func (a *app) addressable(ctx context.Context) (list []cobra.Completion) {
	for _, name := range workspace.SortedIDs(a.sessionsHere(ctx)) {
		list = append(list, name+"@")
	}
	return list
}

func (a *app) completeDeleted(ctx context.Context, _, _ string) (list []cobra.Completion) {
	if a.Open(ctx) == nil {
		all, _ := a.deletions(ctx)
		for _, d := range all {
			list = append(list, string(d.ID))
		}
	}
	return list
}

func (a *app) completeBranches(ctx context.Context, _, _ string) (list []cobra.Completion) {
	if a.Open(ctx) != nil {
		return nil
	}
	branches, _ := a.Repo.Branches(ctx)
	for _, ref := range sortedKeys(branches) {
		if !strings.HasPrefix(ref, session.BranchPrefix) {
			list = append(list, described(present.ShortRef(ref), "branch"))
		}
	}
	return list
}

// completeAddresses lists checkpoints, newest first: those of the session that is typed before the @, or of the named
// or current one.
func (a *app) completeAddresses(ctx context.Context, named, typed string) (list []cobra.Completion) {
	prefix := ""
	if name, _, addressed := strings.Cut(typed, "@"); addressed {
		named, prefix = name, name+"@"
	} else if _, isNumber := workspace.CheckpointNumber(named); isNumber || strings.Contains(named, "@") {
		named = "" // an address stands before this one
	}
	if v, err := a.OpenView(ctx, named); err == nil {
		for _, c := range slices.Backward(v.Session.Checkpoints) {
			list = append(list, described(prefix+itoa(c.Number), strings.ToLower(string(c.Phase))+": "+c.Summary))
		}
	}
	return list
}

// completePhases lists the phases of a session's workflow as it is pinned.
func (a *app) completePhases(ctx context.Context, named, _ string) (list []cobra.Completion) {
	v, err := a.OpenView(ctx, named)
	if err != nil {
		return nil
	}
	if plan, err := a.planAt(ctx, v); err == nil {
		for _, p := range plan.Workflow.Phases {
			list = append(list, string(p.Name))
		}
	}
	return list
}
