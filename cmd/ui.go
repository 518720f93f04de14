package cmd

import (
	"context"
	"errors"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/page"
)

type uiVerb struct {
	*app
	port int
}

type uiJSON struct {
	Version int    `json:"version"`
	URL     string `json:"url"` // with the token that opens the page
}

func (a *uiVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "ui", Short: "a page in the browser: all sessions, and what to decide",
		Long: `Ui serves a page on this machine until Ctrl-C: the sessions of this repository and of all others in which
you have trusted wfs, each with its time line, tests, changes and what the agent said, live. You can approve, reject
with comments on lines, leave notes, stop, go back and finish there. Each button runs the wfs command that you
would type, and shows it.

It prints an address with a token that opens the page in one browser; then it prints the next one. It listens on
127.0.0.1 only. From another machine, forward the port and open the same address there:

  ssh -L 8642:127.0.0.1:8642 HOST wfs -C REPOSITORY ui --port 8642

An agent in a run is refused there what wfs refuses it in the terminal. Over ssh wfs cannot tell which process asks:
during a run it then takes notes and stops, and for the rest it shows the command to type.`,
		Example: "  wfs ui\n  wfs ui --port 8642",
		Args:    noArgs,
		RunE:    with(a.run),
	}
	c.Flags().IntVar(&a.port, "port", 0, "listen on this port (0: any free one)")
	return c
}

func (a *uiVerb) run(ctx context.Context, _ []string) error {
	if a.port < 0 || a.port > 65535 {
		return usage("wfs ui", "--port %d: a port is a number up to 65535", a.port)
	}
	source := &uiSource{app: a.app, repos: map[string]*uiRepo{}}
	if a.Open(ctx) == nil { // outside of a repository the page shows the others
		source.here = a.Repo.CommonDir()
	}
	server, err := page.New(ctx, source, a.port, a.env.Now)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return usage("wfs ui", "port %d is in use by another program", a.port)
	case err != nil:
		return err
	}
	server.Say = func(text string) { a.note("%s", text) }
	if a.json {
		err = a.answer(uiJSON{jsonVersion, server.Address()})
	} else {
		a.out("%s", server.Address())
		a.note("open this address in a browser; Ctrl-C ends wfs ui, and no session")
	}
	if err != nil {
		return err
	}
	return server.Serve(ctx)
}
