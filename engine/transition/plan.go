package transition

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// PlanMove plans a move of the files from a snapshot to the tree `to`, see Checkout.PlanMove, and saves the exact bytes
// that Checkout.Raw describes. It refuses if files that are in no snapshot are in the way.
func (h *Mover) PlanMove(ctx context.Context, from session.Snapshot, to, raw session.Tree) (session.Move, error) {
	plan, err := h.Git.PlanMove(ctx, from, to, raw)
	if err != nil {
		return plan, err
	}
	if len(plan.InTheWay) == 0 {
		plan.Raw, err = h.Git.Raw(ctx, plan)
		return plan, err
	}
	var list []string
	for _, s := range plan.InTheWay[:min(len(plan.InTheWay), 5)] {
		list = append(list, fmt.Sprintf("%s (%s)", s.Path, s.Why))
	}
	return plan, &session.Refusal{Code: session.RefuseInTheWay, Hint: "move them aside, then run it again",
		Message: fmt.Sprintf("nothing was changed: %d %s in the way, not in any checkpoint: %s", len(plan.InTheWay),
			safetext.Word(len(plan.InTheWay), "file is", "files are"), strings.Join(list, ", "))}
}
