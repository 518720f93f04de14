package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
)

// maxJudged limits how often one attempt is judged when its files keep changing during or after the judging.
const maxJudged = 3

// checkpointJudged makes a checkpoint of the open attempt. If files or commits have changed since the gates ran, it
// reopens the attempt to have it judged again; when that has happened too often, it blocks the session. done means that
// the run is over.
func (h *Drive) checkpointJudged(ctx context.Context) (done bool, err error) {
	o, docs := h.S.Open, maps.Clone(h.Docs)
	_, err = h.checkpointAttempt(ctx)
	if !errors.Is(err, checkpoint.ErrOtherTree) {
		return h.conflict(ctx, err)
	}
	h.Docs = docs
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	changed, err := h.Engine.Trees.Changes(ctx, o.Judgement.Tree, snap.Tree)
	if err != nil {
		return false, err
	}
	why := checkpoint.ErrOtherTree.Error()
	if len(changed) > 0 { // if it is empty, the change has been undone meanwhile
		why += fmt.Sprintf(" (%d, among them %s)", len(changed), changed[0].Path)
	}
	if h.judgedAgain++; h.judgedAgain < maxJudged {
		return false, h.Append(session.Reopened{Why: why})
	}
	if err := h.Append(session.BlockedBy{Reason: session.BlockGate,
		Evidence: []string{why, "stop the process that writes there, or add the files to .gitignore"},
		Hint:     "wfs run"}); err != nil {
		return true, err
	}
	_, err = h.Keep(ctx, session.TriggerInterrupted, "could not be judged: files keep changing")
	return true, err
}

// checkpointAttempt makes a checkpoint of the open attempt.
func (h *Drive) checkpointAttempt(ctx context.Context) (*session.Checkpoint, error) {
	o := h.S.Open
	d := *o.Decided
	ev := o.Judgement.Evidence
	if len(ev.Gates) == 0 && d.LapEnded { // no gate ran in a lap's last phase: earlier evidence still holds
		var err error
		if ev, err = h.Evidence(ctx, session.FileEvidence); err != nil {
			return nil, err
		}
		if h.S.Having(ev.Tree) == nil { // it is of a tree with frozen tests added, which is in no checkpoint
			if ev, err = h.Evidence(ctx, session.FileLap); err != nil {
				return nil, err
			}
		}
	}
	if len(ev.Gates) > 0 {
		if err := h.KeepJSON(session.FileEvidence, ev); err != nil {
			return nil, err
		}
	}
	if d.LapEnded {
		if err := h.KeepJSON(session.FileLap, ev); err != nil {
			return nil, err
		}
	}
	return h.Make(ctx, session.Checkpointed{Trigger: session.TriggerAttempt, Attempt: o.Attempt,
		Verdict: d.Verdict, Class: d.Class, Summary: summary(&h.S, o, d)}, o)
}

// summary returns the subject line of the commit of an attempt's checkpoint, without the prefix "wfs(phase): ". It is
// short, because the body of the commit message has the details.
func summary(s *session.Session, o *session.Open, d session.Decided) string {
	what := outcome(o.Judgement, d)
	if d.Verdict != session.Pass && d.Class != session.ClassAsked {
		what = string(d.Verdict) + ": " + what
	}
	place := fmt.Sprintf("attempt %d", o.Attempt)
	if lap := items.LapName(s, o.Lap); lap != "" {
		place = lap + ", " + place
	}
	return safetext.OneLine(what, 60) + " (" + place + ")"
}

func outcome(j *session.Judgement, d session.Decided) string {
	if d.NothingLeft && d.Class == session.ClassNothingAdded {
		return "nothing left to test"
	}
	if d.Class == session.ClassNotClean && j.Proof != nil && len(j.Proof.Lacks) == 0 {
		return "did not pass when run again"
	}
	if text, ok := map[session.Class]string{
		session.ClassMissingSymbol:   "new tests fail as intended: not defined yet",
		session.ClassUnexpectedGreen: "the new tests already pass",
		session.ClassNothingAdded:    "no new test", session.ClassNoTests: "no test ran",
		session.ClassBuildBroken: "does not build",
		session.ClassBrokeGreen:  "broke passing tests", session.ClassTargetMissing: "a test of this lap is missing",
		session.ClassFlaky:         "a test of this lap is flaky",
		session.ClassCommandFailed: "a gate's command failed", session.ClassGuard: "changed what this phase may not change",
		session.ClassKey:         "wrote a key into a tracked file",
		session.ClassNotClean:    "passes only with files outside the checkpoint",
		session.ClassLeadsBack:   "a module resolves outside the clean checkout",
		session.ClassRoomChanged: "changed installed packages",
		session.ClassHoldout:     "passes its own tests, fails hold-out tests",
		session.ClassTampered:    "weakened the tests", session.ClassTestChange: "asks to change tests",
		session.ClassDocument:  "a document is missing or incomplete",
		session.ClassNumber:    "a number is not as required",
		session.ClassUnchanged: "the required change is missing",
		session.ClassApproved:  "approved", session.ClassRejected: "rejected",
		session.ClassReviewed:        "approved by the reviewer",
		session.ClassAsked:           "waits for your answer",
		session.ClassUnsigned:        "the gates pass, the agent did not report",
		session.ClassNoReview:        "the reviewer gave no verdict",
		session.ClassGateChangedTree: "files changed while a gate ran", session.ClassInfraError: "could not be judged",
		session.ClassTimeout: "the tests timed out",
	}[d.Class]; ok {
		return text
	}
	if g := j.Red(); g != nil && g.Class == session.ClassTargetFailed {
		text, _, _ := strings.Cut(g.Reason, ": ") // its number is that of failing tests; the targets include passing ones
		return text
	}
	c := session.CountsOf(j.Gates)
	if c.Total() == 0 {
		return d.Reason
	}
	text := fmt.Sprintf("%d/%d tests pass", c.Passed, c.Total())
	if c.Flaky > 0 {
		text += fmt.Sprintf(", %d flaky", c.Flaky)
	}
	return text
}
