package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

func (a *app) approveCmd() *cobra.Command {
	var text, anyway string
	c := &cobra.Command{
		Use: "approve [SESSION]", Short: "say yes to what a session waits for, or is blocked by",
		Long: `Approve answers yes to what a session waits for, or is blocked by: a phase whose work is a person's, such as a review, the
question whether nothing is left to do, tests that were changed, an open breaker. The phase's gates judge the work tree as
it is now, with the edits that you made yourself, and what was found in tests is allowed. A gate that says no has the last
word. The answer becomes a checkpoint. No agent is started: wfs run goes on.

With --anyway the phase passes without being judged, and the reason is told in the log, by wfs status and in the message of
wfs finish.`,
		Example: `  wfs approve
  wfs approve -m "good, but watch the error texts"
  wfs approve --anyway "the test server is down; tried by hand"
  wfs approve csv-export --json`,
		Args: upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("anyway") && (strings.TrimSpace(anyway) == "" || text != "") {
				return &usageError{"--anyway says why the phase passes without being judged, and goes without -m",
					`wfs approve --anyway "why"`}
			}
			refused := false
			err := a.answerFor(c.Context(), "wfs approve", first(args), func(h *engine.Hand) error {
				if anyway != "" {
					return h.ApproveAnyway(c.Context(), anyway)
				}
				before := h.S.LastRun
				err := h.Approve(c.Context(), text)
				refused = err == nil && h.S.Status != session.StatusCompleted && h.S.LastRun != before && h.S.Last != nil &&
					h.S.Last.Verdict != session.Pass
				if refused && !a.json {
					a.out("a gate has the last word; over it: %s", a.typedFor(`wfs approve --anyway "why"`, h.S.ID, rootOf(a.here())))
				}
				return err
			})
			var stands *quietExit
			if refused && (err == nil || errors.As(err, &stands)) { // by a gate
				return exitWith(exitBlocked)
			}
			return err
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "what to keep with the answer; the next brief holds it too")
	c.Flags().StringVar(&anyway, "anyway", "", "let the phase pass without a verdict; everybody is told `why`")
	return c
}

// answerFor takes a session in hand for a person's word about it, and says where it stands then.
func (a *app) answerFor(ctx context.Context, command, name string, do func(*engine.Hand) error) error {
	if err := a.beginAt(ctx, command, name, true); err != nil {
		return err
	}
	id, err := a.workable(ctx, name)
	if err != nil {
		return err
	}
	if err := a.hold(command, id); err != nil {
		return err
	}
	p := &progress{app: a}
	a.eng.Tell = p.event
	a.eng.Works.(*works).report = p.line
	h, err := a.take(ctx, id)
	if err != nil {
		return err
	}
	mine, at := a.editsIn(ctx, &h.S, a.here()), h.S.Current
	if err := do(h); err != nil {
		return err
	}
	if text := mine.says("that you edited yourself"); text != "" && h.S.Current != at {
		a.note("with %s", text)
	}
	if !a.json {
		a.out("undo: %s", a.typed("wfs undo"))
	}
	return a.ended(ctx, h)
}
