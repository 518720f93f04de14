package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestReviewAnswers checks a reviewer's answer in each form that agents have, and claims that it cannot make.
func TestReviewAnswers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"verdict":"approve","findings":[],"ask":"","note":""}`:                                         "approve 0",
		`{"verdict":"APPROVED"}`:                                                                         "approve 0",
		`{"verdict":"reject","findings":[{"path":"a.go","line":3,"what":"w"}]}`:                          "reject 1 a.go:3 w",
		`{"verdict":"reject","findings":["just words"]}`:                                                 "reject 1 :0 just words",
		`{"verdict":"reject","findings":"none to speak of"}`:                                             "reject 0",
		`{"verdict":"reject","findings":[{"path":"a.go","line":"7","what":""},{"file":"b","what":"x"}]}`: "reject 1 b:0 x",
		`{"verdict":"maybe"}`: "none",
		`{"done":true}`:       "none",
		`{"verdict":true}`:    "none",
		`{"verdict":"reject","findings":[{"path":"a\u001b[31m","what":"\u001b]0;x\u0007y"}]}`: "reject 1 a:0 y",
	} {
		got := "none"
		if r := parseReview([]byte(text)); r != nil {
			got = fmt.Sprint(r.Verdict, " ", len(r.Findings))
			for _, f := range r.Findings {
				got += fmt.Sprintf(" %s:%d %s", f.Path, f.Line, f.What)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	many := `{"verdict":"reject","findings":[` + strings.Repeat(`"x",`, 99) + `"y"]}`
	if r := parseReview([]byte(many)); len(r.Findings) != session.MaxFindings || r.More != 100-session.MaxFindings {
		t.Errorf("%d and %d more", len(r.Findings), r.More)
	}
	yes := &session.Review{Verdict: session.Approve}
	req := attemptRequest()
	if res := worded(session.RunResult{Outcome: session.OutcomeOK, Done: true, Review: yes}, req); res.Review != nil || !res.Done {
		t.Errorf("a verdict where nothing is reviewed: %+v", res)
	}
	req.Phase.Review = &workflows.Review{}
	if res := worded(session.RunResult{Outcome: session.OutcomeOK, Done: true, Review: yes}, req); res.Review == nil || res.Done {
		t.Errorf("a reviewer: %+v", res)
	}
	if res := worded(session.RunResult{Outcome: session.OutcomeFailed, Review: yes}, req); res.Review != nil {
		t.Errorf("a reviewer whose run failed approves: %+v", res)
	}
}
