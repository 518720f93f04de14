package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

type approveVerb struct {
	*app
	text, anyway string
}

func (a *approveVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "approve [SESSION[@N]]", Short: "approve what a session is waiting on",
		Long: `Approve answers yes to what a session waits for, or is blocked by: a review, the question whether
anything is left to do, changed tests, an open breaker. The gates of the phase judge the work tree as it is now,
with your own edits; changes of tests that wfs asked about are allowed. A failing gate still fails the phase.
The answer becomes a checkpoint. No agent is started: wfs run continues. With a checkpoint, such as csv-export@4,
it answers only if the session still stands there.

With --anyway the phase passes without a verdict. The reason stands in the log, in wfs status and in the commit
message of wfs finish.`,
		Example: `  wfs approve
  wfs approve -m "good, but watch the error texts"
  wfs approve --anyway "the test server is down; tried by hand"
  wfs approve csv-export --json`,
		Args: upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("anyway") && (strings.TrimSpace(a.anyway) == "" || a.text != "") {
				return usage(`wfs approve --anyway "why"`,
					"--anyway says why the phase passes without being judged, and goes without -m")
			}
			return a.run(c.Context(), first(args))
		},
	}
	c.Flags().StringVarP(&a.text, "message", "m", "", "`text` for the next attempt, kept with the answer")
	c.Flags().StringVar(&a.anyway, "anyway", "", "pass the phase without a verdict; the history records `why`")
	return c
}

func (a *approveVerb) run(ctx context.Context, name string) error {
	refused := false
	err := decision{a.app, "wfs approve", name}.take(ctx, func(h *engine.Hand) (err error) {
		if a.anyway != "" {
			return h.ApproveAnyway(ctx, a.anyway)
		}
		refused, err = a.judged(ctx, h)
		return err
	})
	var stands *quietExit
	if refused && (err == nil || errors.As(err, &stands)) { // the gates failed the approved work
		return exitWith(exitBlocked)
	}
	return err
}

// judged approves the work. It reports whether gates then ran, and failed the work in spite of the approval.
func (a *approveVerb) judged(ctx context.Context, h *engine.Hand) (refused bool, err error) {
	before := h.S.LastRun
	if err := h.Approve(ctx, a.text); err != nil {
		return false, err
	}
	s := &h.S
	refused = s.Status != session.StatusCompleted && s.LastRun != before && s.Last != nil && s.Last.Verdict != session.Pass
	if refused && !a.json {
		a.out("the gate decides; to pass it anyway: %s", a.typedFor(`wfs approve --anyway "why"`, s.ID, rootOf(a.Here())))
	}
	return refused, nil
}

// decision is a command by which a person decides about a session: approve or reject. If `session` has a checkpoint,
// the decision is only about that one.
type decision struct {
	*app
	command, session string
}

// take opens the session for writing, calls `do` to record the decision, and prints the new state of the session.
func (a decision) take(ctx context.Context, do func(*engine.Hand) error) error {
	p := &live.Progress{Screen: &a.env.Screen}
	name, seen, only := strings.Cut(a.session, "@")
	h, err := a.InHand(ctx, workspace.Request{Command: a.command, Session: name, Trusted: true,
		Locked: func(session.ID) {
			a.Engine.Tell = p.Event
			a.Engine.Works.(*works).report = p.Tell
		}})
	if err != nil {
		return err
	}
	if n, err := workspace.FindCheckpoint(&h.S, seen); only && (err != nil || n != h.S.Current) {
		return session.Refuse(session.RefuseNotCurrent, fmt.Sprintf("wfs show %s@%d", h.S.ID, h.S.Current),
			"%s is at @%d now; nothing was decided", h.S.ID, h.S.Current)
	}
	mine, at := editsIn(ctx, a.Workspace, &h.S, a.Here()), h.S.Current
	if err := do(h); err != nil {
		return err
	}
	if text := present.FilesText(mine, "that you edited yourself"); text != "" && h.S.Current != at {
		a.note("with %s", text)
	}
	if !a.json {
		a.out("undo: %s", a.typed("wfs undo"))
	}
	return ending{a.app}.of(ctx, h)
}
