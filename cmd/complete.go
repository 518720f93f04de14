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

// Completion writes no files and reports no errors, because its output ends up in the user's command line. The usage
// texts say what to complete. In the usage of a command, `[SESSION | CHECKPOINT]` names the kinds of an argument. In
// the usage of a flag, the word in backquotes names the kind of its value.

// completing reports whether a shell asks for completions.
func completing(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completer finds possible completions for what the user has typed.
type completer struct{ *workspace.Workspace }

// answer adds completion to the arguments and flags of a command and its subcommands.
func (a *completer) answer(c *cobra.Command) {
	places := argumentsOf(c.Use)
	if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
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
		_ = c.RegisterFlagCompletionFunc(f.Name,
			func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return a.candidates(c.Context(), []string{strings.ToUpper(kind)}, first(args), typed)
			})
	}
	c.LocalNonPersistentFlags().VisitAll(flags)
	c.PersistentFlags().VisitAll(flags)
	for _, sub := range c.Commands() {
		a.answer(sub)
	}
}

// argument describes one argument of a command by the kinds of values that it accepts.
type argument struct {
	kinds   []string
	repeats bool
}

// argumentsOf parses a command's usage text, such as "diff [SESSION | CHECKPOINT [CHECKPOINT]]".
func argumentsOf(use string) []argument {
	var list []argument
	for _, word := range strings.Fields(strings.ReplaceAll(use, " | ", "|"))[1:] {
		if strings.HasPrefix(word, "-") {
			break // a required flag follows the arguments
		}
		word = strings.Trim(word, "[]")
		name, repeats := strings.CutSuffix(word, "...")
		list = append(list, argument{strings.Split(name, "|"), repeats})
	}
	return list
}

// list returns the completions of one kind. `named` is the command's first argument, `typed` the beginning of the word.
// After an error it returns none, because a shell cannot show errors.
func (a *completer) list(ctx context.Context, kind, named, typed string) []cobra.Completion {
	if fixed, is := map[string][]cobra.Completion{"WHEN": present.Whens, "STATUS": statuses, "SHELL": shells}[kind]; is {
		return fixed
	}
	opened := a.Open(ctx) == nil
	switch kind {
	case "AGENT":
		if s, _, err := agentSettings(ctx, a.Workspace); err == nil {
			return s.Config.Cards.Names()
		}
		return nil
	case "KEY":
		return a.keys(ctx)
	case "WORKFLOW":
		list, _ := ownRules(ctx, a.Workspace) // besides the built-in workflows
		return list.WorkflowNames()
	}
	inRepository := map[string]func() []cobra.Completion{
		"SESSION":    func() []cobra.Completion { return a.sessions(ctx) },
		"DELETED":    func() []cobra.Completion { return a.deleted(ctx) },
		"BRANCH":     func() []cobra.Completion { return a.branches(ctx) },
		"CHECKPOINT": func() []cobra.Completion { return a.addresses(ctx, named, typed) },
		"REF":        func() []cobra.Completion { return a.refs(ctx, typed) },
		"PHASE":      func() []cobra.Completion { return a.phases(ctx, named) },
	}
	if find := inRepository[kind]; find != nil && opened {
		return find()
	}
	return nil
}

// refs lists branches and checkpoints as completions.
func (a *completer) refs(ctx context.Context, typed string) []cobra.Completion {
	if name, _, addressed := strings.Cut(typed, "@"); addressed { // complete a checkpoint's number
		return append(a.branches(ctx), a.addresses(ctx, name, typed)...)
	}
	return append(a.branches(ctx), a.addressable(ctx)...)
}

// candidates lists the completions of several kinds that begin with `typed`. It also tells the shell how to treat them.
func (a *completer) candidates(ctx context.Context, kinds []string, named, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	how := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	var all []cobra.Completion
	for _, kind := range kinds {
		switch kind {
		case "FILE", "PATH":
			return nil, cobra.ShellCompDirectiveDefault
		case "DIRECTORY":
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		all = append(all, a.list(ctx, kind, named, typed)...)
		// An argument of several kinds lists the sessions already.
		if kind == "CHECKPOINT" && len(kinds) == 1 && !strings.Contains(typed, "@") && a.Repo != nil {
			all = append(all, a.addressable(ctx)...)
		}
	}
	all = slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, typed) })
	// The user still has to type a number after SESSION@: add no space.
	if len(all) > 0 && !slices.ContainsFunc(all, func(c cobra.Completion) bool { return !strings.HasSuffix(c, "@") }) {
		how |= cobra.ShellCompDirectiveNoSpace
	}
	return all, how
}

// described returns a completion with a description that the shell shows.
func described(word, what string) cobra.Completion {
	return cobra.CompletionWithDesc(safetext.Strip(word), safetext.Line(what, 60))
}

// keys lists the keys of the settings in effect.
func (a *completer) keys(ctx context.Context) (keys []cobra.Completion) {
	if s, err := a.OwnSettings(ctx); err == nil {
		for _, x := range s.List {
			keys = append(keys, described(x.Key, x.Text()))
		}
	}
	return keys
}

func (a *completer) sessions(ctx context.Context) (list []cobra.Completion) {
	all, _ := a.Repo.Sessions(ctx)
	for _, name := range workspace.SortedIDs(all) {
		what := ""
		if v, err := a.Engine.Load(ctx, session.ID(name), all[session.ID(name)]); err == nil {
			what = fmt.Sprintf("%s: %s", v.Session.Status, v.Session.Headline())
		}
		list = append(list, described(name, what))
	}
	return list
}

// addressable lists the sessions in the form SESSION@, to which the user adds a checkpoint's number.
func (a *completer) addressable(ctx context.Context) (list []cobra.Completion) {
	all, _ := a.Repo.Sessions(ctx)
	for _, name := range workspace.SortedIDs(all) {
		list = append(list, name+"@")
	}
	return list
}

func (a *completer) deleted(ctx context.Context) (list []cobra.Completion) {
	all, _ := a.Deletions(ctx)
	for _, d := range all {
		list = append(list, string(d.ID))
	}
	return list
}

func (a *completer) branches(ctx context.Context) (list []cobra.Completion) {
	branches, _ := a.Repo.Branches(ctx)
	for _, ref := range sortedKeys(branches) {
		if !strings.HasPrefix(ref, session.BranchPrefix) {
			list = append(list, described(present.ShortRef(ref), "branch"))
		}
	}
	return list
}

// addresses lists checkpoints, newest first. If `typed` begins with SESSION@, they are the checkpoints of that session;
// otherwise those of the session `named`, or of the current session if named is "".
func (a *completer) addresses(ctx context.Context, named, typed string) (list []cobra.Completion) {
	prefix := ""
	if name, _, addressed := strings.Cut(typed, "@"); addressed {
		named, prefix = name, name+"@"
	} else if _, isNumber := workspace.CheckpointNumber(named); isNumber || strings.Contains(named, "@") {
		named = "" // the first argument is a checkpoint, not a session
	}
	if v, err := a.OpenView(ctx, named); err == nil {
		for _, c := range slices.Backward(v.Session.Checkpoints) {
			list = append(list, described(prefix+itoa(c.Number), strings.ToLower(string(c.Phase))+": "+c.Summary))
		}
	}
	return list
}

// phases lists the phases of the workflow that a session has pinned.
func (a *completer) phases(ctx context.Context, named string) (list []cobra.Completion) {
	v, err := a.OpenView(ctx, named)
	if err != nil {
		return nil
	}
	if plan, err := a.PinnedPlan(ctx, v); err == nil {
		for _, p := range plan.Workflow.Phases {
			list = append(list, string(p.Name))
		}
	}
	return list
}
