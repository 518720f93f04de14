package fold_test

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// An approval of an agent's repeated claim clears earlier refutations for the same failure, and no others.
func TestApprovedOfAQuestion(t *testing.T) {
	t.Parallel()
	gone := []session.GateResult{{Gate: "tests", Verdict: session.Fail, Class: session.ClassTargetMissing,
		Fingerprint: "gone"}}
	other := []session.GateResult{{Gate: "tests", Verdict: session.Fail, Class: session.ClassBrokeGreen,
		Fingerprint: "broke"}}
	more := append(gone[:1:1], session.GateResult{Gate: "lint", Verdict: session.Fail, Fingerprint: "ugly"})
	number := 0
	attempt := func(run session.RunResult, d session.Decided, gates []session.GateResult) []session.Body {
		number++
		d.Next, d.NextLap = "WORK", 1
		by := "agent"
		if run.Approved || run.Rejected {
			by = "person"
		}
		return []session.Body{session.AttemptStarted{Number: number, Phase: "WORK", Lap: 1, Attempt: number, RunID: "r",
			Runner: by},
			session.RunEnded{RunResult: run},
			session.Judged{Judgement: session.Judgement{Verdict: d.Verdict, Class: d.Class, Gates: gates}}, d,
			session.Checkpointed{Number: number, Trigger: session.TriggerAttempt, Phase: "WORK", Lap: 1, Verdict: d.Verdict,
				Class: d.Class}}
	}
	done, no := session.RunResult{Done: true}, session.Decided{Verdict: session.Fail, Refuted: true}
	bodies := []session.Body{session.Checkpointed{Trigger: session.TriggerBirth, Phase: "WORK", Lap: 1}}
	for _, gates := range [][]session.GateResult{other, more, gone} {
		bodies = append(bodies, attempt(done, no, gates)...)
	}
	bodies = append(bodies, attempt(done, session.Decided{Verdict: session.Blocked, Class: session.ClassAsked}, gone)...)
	yes := attempt(session.RunResult{Approved: true},
		session.Decided{Verdict: session.Pass, Class: session.ClassApproved}, nil)
	s := history(t, append(bodies[:len(bodies):len(bodies)], yes...)...)
	if left := s.StillRefuted(); s.Claims != 4 || len(left) != 2 || left[0].Checkpoint != 1 || left[1].Checkpoint != 2 {
		t.Errorf("%d claims, still refuted after a yes: %+v", s.Claims, left)
	}
	number--
	reject := attempt(session.RunResult{Rejected: true},
		session.Decided{Verdict: session.Fail, Class: session.ClassRejected}, nil)
	s = history(t, append(bodies[:len(bodies):len(bodies)], reject...)...)
	if left := s.StillRefuted(); s.Claims != 4 || len(left) != 4 {
		t.Errorf("%d claims, still refuted after a no: %+v", s.Claims, left)
	}
}
