package finish

import (
	"context"
	"testing"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/judging"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func finisher(s session.Session, p workflows.Plan) *Finisher {
	return &Finisher{Judging: &judging.Judging{Hand: &hand.Hand{S: s, Plan: &p}}}
}

// TestNotProven checks that the handover commit says that work was not tested in a clean tree, and only then.
func TestNotProven(t *testing.T) {
	c := &session.Checkpoint{Tree: "t"}
	unknown := &session.Proof{Tree: "t", Verdict: session.Blocked, Reason: "gate tests: no place"}
	for _, v := range []struct {
		p    *session.Proof
		o    Options
		want string
	}{
		{nil, Options{}, ""},
		{nil, Options{Unproven: true}, "Not tested in a clean checkout (--unproven)."},
		{&session.Proof{Tree: "t", Verdict: session.Pass}, Options{}, ""},
		{&session.Proof{Tree: "older", Verdict: session.Blocked, Reason: "x"}, Options{}, ""},
		{unknown, Options{}, "Not tested in a clean checkout: gate tests: no place"},
		{&session.Proof{Tree: "u", Verdict: session.Blocked, Reason: "of another tree"}, Options{}, ""},
		{unknown, Options{Unproven: true}, "Not tested in a clean checkout: gate tests: no place"},
	} {
		if got := notProven(v.p, c, v.o); got != v.want {
			t.Errorf("%+v %+v: %q, want %q", v.p, v.o, got, v.want)
		}
	}
	h := finisher(session.Session{Proof: unknown}, workflows.Plan{})
	if p, err := h.proveHanded(context.Background(), c, Options{}); err != nil || p != unknown {
		t.Errorf("what is known is found out again: %+v %v", p, err)
	}
	if p, err := finisher(session.Session{}, workflows.Plan{Unproven: true}).proveHanded(context.Background(), c, Options{}); err != nil || p != nil {
		t.Errorf("where it is off there is %+v %v", p, err)
	}
}
