package cmd

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

type trustJSON struct {
	Version  int      `json:"version"`
	Digest   string   `json:"digest"`
	Files    []string `json:"files,omitempty"`
	Session  string   `json:"session,omitempty"`
	Commands []string `json:"commands"`
	Trusted  bool     `json:"trusted"`

	filters []string
}

// revokedJSON is what trust --revoke prints.
type revokedJSON struct {
	Version int  `json:"version"`
	Trusted bool `json:"trusted"` // false
}

func (a *app) trustCmd() *cobra.Command {
	var yes, revoke bool
	c := &cobra.Command{
		Use: "trust [SESSION]", Short: "review and allow this repository's commands",
		Long: `Trust shows every command that the files below .wfs/ would run, and remembers that you allow exactly these, in this
repository. One changed byte asks again. What you typed yourself (wfs init, wfs new --agent) is already trusted. With a
session's name it shows the commands of that session, for sessions that came from another clone.
What is trusted is kept in your own state directory, never in the repository. Refused during a run of a session in this
clone, because the agent could type it: wfs stop, then run it again.`,
		Example: "  wfs trust\n  wfs trust --yes\n  wfs trust --revoke",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.Open(c.Context()); err != nil {
				return err
			}
			if revoke {
				if err := a.NoneDriven("wfs trust"); err != nil {
					return err
				}
				store, err := a.TrustStore()
				if err != nil {
					return err
				}
				if err := store.Revoke(a.Repo.CommonDir()); err != nil {
					return err
				}
				if a.json {
					return a.answer(revokedJSON{Version: jsonVersion})
				}
				a.note("nothing is trusted in this repository now")
				return nil
			}
			j, err := a.whatToTrust(c.Context(), first(args))
			if err != nil {
				return err
			}
			return a.askTrust(c.Context(), j, yes)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "allow without asking")
	c.Flags().BoolVar(&revoke, "revoke", false, "forget everything that is trusted in this repository")
	return c
}

func (a *app) whatToTrust(ctx context.Context, name string) (*trustJSON, error) {
	j := &trustJSON{Version: jsonVersion, Commands: []string{}}
	if name != "" {
		id, err := a.Resolve(ctx, name)
		if err != nil {
			return nil, err
		}
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
		j.Session, j.Digest = string(id), workspace.Digest(data)
		j.Commands = append(j.Commands, planCommands(plan)...)
	} else {
		list, err := a.Rules(ctx)
		if err != nil {
			return nil, err
		}
		filters, err := a.Repo.Filters(ctx)
		if err != nil {
			return nil, err
		}
		if len(list)+len(filters) == 0 {
			return nil, &session.Refusal{Code: session.RefuseUsage, Message: "there is nothing to trust: this repository has no files below .wfs/", Hint: "wfs init"}
		}
		cards, err := a.Cards(list)
		if err != nil {
			return nil, err
		}
		j.Digest = list.Digest()
		for _, f := range list {
			j.Files = append(j.Files, f.Path)
			j.Commands = append(j.Commands, fileCommands(f, cards)...)
		}
		for _, f := range filters {
			j.Commands = append(j.Commands, "in git's own configuration here, "+f)
		}
		j.filters = filters
	}
	var err error
	if j.Trusted, err = a.Trusted(j.Digest); err == nil && j.Trusted {
		j.Trusted, err = a.trustsFilters(j.filters)
	}
	return j, err
}

// trustsFilters reports whether somebody here has looked at these filters of the repository's own git configuration.
func (a *app) trustsFilters(filters []string) (bool, error) {
	if len(filters) == 0 {
		return true, nil
	}
	return a.Trusted(filtersDigest(filters))
}

func filtersDigest(filters []string) string {
	return workspace.Digest([]byte("filters\x00" + strings.Join(filters, "\x00")))
}

// trustFilters remembers that these filters may run.
func (a *app) trustFilters(filters []string) error {
	if len(filters) == 0 {
		return nil
	}
	return a.TrustNow(filtersDigest(filters), strings.Join(filters, "\n"))
}

func (a *app) askTrust(ctx context.Context, j *trustJSON, yes bool) error {
	if !a.json {
		for _, f := range j.Files {
			a.out("%s", f)
		}
		for _, c := range j.Commands {
			a.out("  %s", c)
		}
	}
	if j.Trusted {
		if a.json {
			return a.answer(j)
		}
		a.out("already trusted")
		return nil
	}
	if err := a.NoneDriven("wfs trust"); err != nil {
		return err
	}
	if !yes {
		ok, err := a.ask(ctx, "Let wfs run these here? [y/N] ", "wfs trust --yes")
		if err != nil {
			return err
		}
		if !ok {
			return exitWith(exitDecision)
		}
	}
	if err := a.TrustNow(j.Digest, strings.Join(j.Commands, "\n")); err != nil {
		return err
	}
	if err := a.trustFilters(j.filters); err != nil {
		return err
	}
	j.Trusted = true
	if a.json {
		return a.answer(j)
	}
	a.out("trusted until it changes; to revoke it: wfs trust --revoke")
	return nil
}

// ask asks a yes-or-no question at the terminal, Enter being no. Without one it refuses and names the flag.
func (a *app) ask(ctx context.Context, question, flag string) (bool, error) {
	answer, err := a.promptFor(ctx, question, flag, "", "y", "yes", "n", "no")
	return strings.HasPrefix(answer, "y"), err
}

// asksHere reports whether there is a terminal at which a person can be asked.
func (a *app) asksHere() bool { return a.env.StdinTTY && a.env.StderrTTY && !a.json }

// promptFor asks until the answer is one of those that are known, in small letters, three times at most.
func (a *app) promptFor(ctx context.Context, question, flag string, known ...string) (string, error) {
	for try := 1; ; try++ {
		answer, err := a.prompt(ctx, question, flag)
		if low := strings.ToLower(answer); err != nil || slices.Contains(known, low) {
			return low, err
		}
		unknown := fmt.Sprintf("%q is not one of the answers", answer)
		if try == 3 {
			return "", &usageError{unknown, flag}
		}
		a.note("%s", unknown)
	}
}

// prompt asks at the terminal for a line. Ctrl-C is an answer too: the read that it leaves behind ends with the process.
func (a *app) prompt(ctx context.Context, question, flag string) (string, error) {
	if !a.asksHere() {
		return "", &session.Refusal{Code: session.RefuseUntrusted, Message: "this needs a decision, and there is no terminal to ask on", Hint: flag}
	}
	fmt.Fprint(a.env.Stderr, question)
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.env.Stderr)
		return "", exitWith(a.signals.exitCode()) // who typed it knows
	case r := <-got:
		if r.err != nil && r.line == "" {
			return "", r.err
		}
		return strings.TrimSpace(r.line), nil
	}
}
