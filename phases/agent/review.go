package agent

import (
	"encoding/json"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Limits of a finding in a review, in characters.
const (
	maxFindingPath = 200
	maxFindingWhat = 600
)

// reviewFile has those keys of a result file that only reviewers write. The findings are parsed separately, so that
// the verdict counts even if they are malformed.
type reviewFile struct {
	Verdict  string          `json:"verdict"`
	Findings json.RawMessage `json:"findings"`
}

// parseReview returns the review in an answer; nil if it has no clear verdict.
func parseReview(text []byte) *session.Review {
	var f reviewFile
	if json.Unmarshal(text, &f) != nil {
		return nil
	}
	r := &session.Review{}
	switch strings.ToLower(strings.TrimSpace(f.Verdict)) {
	case "approve", "approved", "pass", "lgtm":
		r.Verdict = session.Approve
	case "reject", "rejected", "fail", "request_changes", "changes_requested":
		r.Verdict = session.Reject
	default:
		return nil
	}
	var list []json.RawMessage
	_ = json.Unmarshal(f.Findings, &list) // if the findings are not a list, they are ignored
	for _, raw := range list {
		x, ok := parseFinding(raw)
		switch {
		case !ok:
		case len(r.Findings) == session.MaxFindings:
			r.More++
		default:
			r.Findings = append(r.Findings, x)
		}
	}
	return r
}

// parseFinding parses one finding: an object, or just a sentence. It returns false if there is no text.
func parseFinding(raw []byte) (session.Remark, bool) {
	var f struct {
		Path string          `json:"path"`
		File string          `json:"file"` // some agents write this key instead of path
		Line json.RawMessage `json:"line"`
		What string          `json:"what"`
	}
	if json.Unmarshal(raw, &f.What) != nil && json.Unmarshal(raw, &f) != nil {
		return session.Remark{}, false
	}
	if f.Path == "" {
		f.Path = f.File
	}
	x := session.Remark{Path: safetext.Line(f.Path, maxFindingPath), What: safetext.Line(f.What, maxFindingWhat)}
	if line := 0; json.Unmarshal(f.Line, &line) == nil && line > 0 {
		x.Line = line
	}
	return x, x.What != ""
}

// worded removes from a run's result what its phase does not allow. Only a reviewer gives a review, and only a run
// that ended well. A reviewer does not claim that work is done.
func worded(res session.RunResult, req session.RunRequest) session.RunResult {
	if req.Phase.Review == nil {
		res.Review = nil
		return res
	}
	res.Done, res.NotDone = false, false
	if res.Outcome != session.OutcomeOK && res.Outcome != session.OutcomeDenied {
		res.Review = nil
	}
	if res.Review != nil {
		res.Review.By = res.Agent
	}
	return res
}
