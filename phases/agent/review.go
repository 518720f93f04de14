package agent

import (
	"encoding/json"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Bounds of one finding of a review, in characters.
const (
	maxFindingPath = 200
	maxFindingWhat = 600
)

// reviewFile are the keys of $WFS_RESULT that a reviewer writes. They are read one by one: a list of findings
// in another form must not hide the verdict.
type reviewFile struct {
	Verdict  string          `json:"verdict"`
	Findings json.RawMessage `json:"findings"`
}

// parseReview returns what a reviewer says, nil for no verdict. A word that is neither yes nor no is none.
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
	_ = json.Unmarshal(f.Findings, &list) // in another form: there are none that could be read
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

// parseFinding reads one finding: an object, or a sentence.
func parseFinding(raw []byte) (session.Remark, bool) {
	var f struct {
		Path string          `json:"path"`
		File string          `json:"file"` // some say so
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

// worded keeps of a run's answer what its phase asks for: a reviewer claims nothing and gives a verdict, if it
// ended well.
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
