package cmd

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/workflows/plans"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
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

// revokedJSON is the JSON output of wfs trust --revoke.
type revokedJSON struct {
	Version int  `json:"version"`
	Trusted bool `json:"trusted"` // always false
}

type trustVerb struct {
	*app
	yes, forget bool
}

func (a *trustVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "trust [SESSION]", Short: "review and allow this repository's commands",
		Long: `Trust shows every command that the files below .wfs/ would run, and remembers that you allow exactly
these, in this repository. One changed byte asks again. What you typed yourself (wfs init, wfs new --agent) is
already trusted. With a session's name it shows the commands of that session, for sessions that came from
another clone. What is trusted is kept in your own state directory, never in the repository. Refused during a
run of a session in this clone, because the agent could type it: wfs stop, then run it again.`,
		Example: "  wfs trust\n  wfs trust --yes\n  wfs trust --revoke",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().BoolVarP(&a.yes, "yes", "y", false, "allow without asking")
	c.Flags().BoolVar(&a.forget, "revoke", false, "forget everything that is trusted in this repository")
	return c
}

func (a *trustVerb) run(ctx context.Context, args []string) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	if a.forget {
		return a.revoke()
	}
	show := a.rules
	if len(args) > 0 {
		show = func(ctx context.Context) (*trustJSON, error) { return a.session(ctx, args[0]) }
	}
	j, err := show(ctx)
	if err != nil {
		return err
	}
	if j.Trusted, err = a.Trusted(j.Digest); err == nil && j.Trusted {
		j.Trusted, err = trustsFilters(a.Workspace, j.filters)
	}
	if err != nil {
		return err
	}
	return a.ask(ctx, j)
}

// revoke removes everything that the user has trusted in this repository.
func (a *trustVerb) revoke() error {
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

// session lists the commands that a session's pinned plan runs.
func (a *trustVerb) session(ctx context.Context, name string) (*trustJSON, error) {
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
	return &trustJSON{Version: jsonVersion, Session: string(id), Digest: workspace.Digest(data),
		Commands: list(planCommands(plan))}, nil
}

// rules lists the commands that this repository can make wfs run: those in files below .wfs/, and filters in the
// repository's own git configuration.
func (a *trustVerb) rules(ctx context.Context) (*trustJSON, error) {
	files, err := a.Rules(ctx)
	if err != nil {
		return nil, err
	}
	j := &trustJSON{Version: jsonVersion, Commands: []string{}, Digest: files.Digest()}
	if j.filters, err = a.Repo.Filters(ctx); err != nil {
		return nil, err
	}
	if len(files)+len(j.filters) == 0 {
		return nil, usage("wfs init", "there is nothing to trust: this repository has no files below .wfs/")
	}
	cards, err := a.Cards(files)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		j.Files = append(j.Files, f.Path)
		j.Commands = append(j.Commands, fileCommands(f, cards)...)
	}
	for _, f := range j.filters {
		j.Commands = append(j.Commands, "in git's own configuration here, "+f)
	}
	return j, nil
}

// trustsFilters reports whether the user has trusted these filters. Filters are commands in the repository's own git
// configuration that git runs on files.
func trustsFilters(w *workspace.Workspace, filters []string) (bool, error) {
	if len(filters) == 0 {
		return true, nil
	}
	return w.Trusted(filtersDigest(filters))
}

func filtersDigest(filters []string) string {
	return workspace.Digest([]byte("filters\x00" + strings.Join(filters, "\x00")))
}

// trustFilters records that the user has trusted these filters.
func trustFilters(w *workspace.Workspace, filters []string) error {
	if len(filters) == 0 {
		return nil
	}
	return w.TrustNow(filtersDigest(filters), strings.Join(filters, "\n"))
}

// ask shows the commands, asks the user whether to trust them, and records that.
func (a *trustVerb) ask(ctx context.Context, j *trustJSON) error {
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
	if !a.yes {
		ok, err := a.app.ask(ctx, "Let wfs run these here? [y/N] ", "wfs trust --yes")
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
	if err := trustFilters(a.Workspace, j.filters); err != nil {
		return err
	}
	j.Trusted = true
	if a.json {
		return a.answer(j)
	}
	a.out("trusted until it changes; to revoke it: wfs trust --revoke")
	return nil
}
