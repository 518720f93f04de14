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

// reviewSchema is what a reviewer is asked for that can answer in a given form. It requires everything, for the reason of schemaOf.
const reviewSchema = `{"type":"object","additionalProperties":false,"required":["verdict","findings","ask","note"],"properties":{` +
	`"verdict":{"type":"string","enum":["approve","reject"],"description":"approve, or reject for what must be fixed first"},` +
	`"findings":{"type":"array","description":"findings; empty when there are none","items":{"type":"object","additionalProperties":false,` +
	`"required":["path","line","what"],"properties":{` +
	`"path":{"type":"string","description":"file, relative to the top of the work tree; empty for a finding without a file"},` +
	`"line":{"type":"integer","description":"line, from 1; 0 for a finding without a line"},` +
	`"what":{"type":"string","description":"what is wrong, and what would be right"}}}},` +
	`"ask":{"type":"string","description":"a question that only a person can answer; usually empty"},` +
	`"note":{"type":"string","description":"anything else, in a few sentences; may be empty"}}}`

// reviewFile are the keys of $WFS_RESULT that a reviewer writes. They are read one by one: a list of findings in another
// form must not hide the verdict.
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

// worded keeps of a run's answer what its phase asks for: a reviewer claims nothing and gives a verdict, if it ended well.
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

// reviewed are the findings for which a reviewer sent the work back.
func (b *brief) reviewed() {
	v := b.s.Review
	if v == nil || b.req.Phase.Review != nil {
		return
	}
	b.line("\nA reviewer read the work and sent it back. Settle each finding, or say in one line why it is wrong.")
	b.open("the review")
	b.findings(v)
	b.close()
}

func (b *brief) findings(v *session.Review) {
	if len(v.Findings) == 0 {
		b.line("(no findings)")
	}
	for i, f := range v.Findings {
		at := ""
		if f.Path != "" {
			at = b.inner(name(f.Path))
			if f.Line > 0 {
				at += fmt.Sprintf(":%d", f.Line)
			}
			at += ": "
		}
		b.line("%d. %s%s", i+1, at, b.inner(f.What))
	}
	if v.More > 0 {
		b.line("and %d more", v.More)
	}
}

// toReview tells a reviewer what the work is, and what was found in it before.
func (b *brief) toReview() {
	if b.req.Phase.Review == nil {
		return
	}
	if b.s.Base != "" {
		b.line("\nThe work is everything that changed since commit %[1]s: `git diff %[1]s` shows it.", b.s.Base.Short())
	}
	b.line("Change no files: you judge the work as it is now.")
	if v := b.s.Review; v != nil {
		b.line("\nIt was sent back before, for these findings, and changed since. Check whether they are settled.")
		b.open("the earlier review")
		b.findings(v)
		b.close()
	}
}

// verdictForm says how a reviewer answers.
func (b *brief) verdictForm() {
	const form = `{"verdict": "reject", "findings": [{"path": "a/file", "line": 12, "what": "what is wrong, and what would be right"}]}`
	b.line("\n%s", b.byForm("Answer with one JSON object in the file that $WFS_RESULT names, for example `"+form+"`:",
		"End with the structured answer:",
		"End your last message with one line, for example `"+statusMark+" "+form+"`:"))
	b.line("- `verdict`: `approve`, or `reject` for what must be fixed first")
	b.line("- `findings`: what must be fixed, each with `path`, `line` and `what`; empty when there are none")
	b.line("Without a verdict the review is repeated.")
}
