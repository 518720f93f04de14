package phases

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Bounds of one finding of a review, in characters.
const (
	maxFindingPath = 200
	maxFindingWhat = 600
)

// reviewSchema is what a reviewer is asked for that can answer in a given form. It requires everything, for the
// reason of schemaOf.
const reviewSchema = `{"type":"object","additionalProperties":false,"required":["verdict","findings","ask","note"],"properties":{` +
	`"verdict":{"type":"string","enum":["approve","reject"],"description":"approve, or reject for what must be fixed first"},` +
	`"findings":{"type":"array","description":"findings; empty when there are none","items":{"type":"object","additionalProperties":false,` +
	`"required":["path","line","what"],"properties":{` +
	`"path":{"type":"string","description":"file, relative to the top of the work tree; empty for a finding without a file"},` +
	`"line":{"type":"integer","description":"line, from 1; 0 for a finding without a line"},` +
	`"what":{"type":"string","description":"what is wrong, and what would be right"}}}},` +
	`"ask":{"type":"string","description":"a question that only a person can answer; usually empty"},` +
	`"note":{"type":"string","description":"anything else, in a few sentences; may be empty"}}}`

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

// findings are a reviewer's, a line each.
func findings(v *session.Review) (lines []string) {
	for i, f := range v.Findings {
		at := ""
		if f.Path != "" {
			at = name(f.Path)
			if f.Line > 0 {
				at += fmt.Sprintf(":%d", f.Line)
			}
			at += ": "
		}
		lines = append(lines, fmt.Sprintf("%d. %s%s", i+1, at, f.What))
	}
	switch {
	case len(lines) == 0:
		lines = []string{"(no findings)"}
	case v.More > 0:
		lines[len(lines)-1] += fmt.Sprintf("\nand %d more", v.More)
	}
	return lines
}
