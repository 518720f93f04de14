package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/plans"
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
		Long: `Trust shows every command that the files below .wfs/ would run, and remembers that you allow exactly
these, in this repository. One changed byte asks again. What you typed yourself (wfs init, wfs new --agent) is
already trusted. With a session's name it shows the commands of that session, for sessions that came from
another clone. What is trusted is kept in your own state directory, never in the repository. Refused during a
run of a session in this clone, because the agent could type it: wfs stop, then run it again.`,
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
		plan, err := plans.Decode(data)
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
			return nil, usage("wfs init", "there is nothing to trust: this repository has no files below .wfs/")
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
