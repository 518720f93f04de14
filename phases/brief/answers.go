package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// answerKey is one key of an agent's answer. The brief and the JSON schema are both made from AnswerKeys, so that they
// agree.
type answerKey struct {
	Name, kind string // kind: its type in JSON
	About      string
	when       func(*session.RunRequest) bool
}

var AnswerKeys = []answerKey{
	{"done", "boolean", "true when the job is done and you have seen it; else false", always},
	{"note", "string", "what is left, or what the next attempt should know", always},
	{"nothing_left", "string", "if nothing is left to do: change nothing, and name the existing test (or file) that already shows this item", beginsLap},
	{"test_change", "string", "if a test is wrong: which one, and why; the work then returns to the phase that writes tests", testsAreFixed},
	{"ask", "string", "if only a person can decide: the question, and what you suggest", always},
}

// Answers returns the keys that an agent may use in its answer to the request's phase.
func Answers(r *session.RunRequest) []answerKey {
	return slices.DeleteFunc(slices.Clone(AnswerKeys), func(k answerKey) bool { return !k.when(r) })
}

func always(*session.RunRequest) bool { return true }

// beginsLap reports whether the phase begins a lap. Only such a phase may find that nothing is left to do.
func beginsLap(r *session.RunRequest) bool {
	return r.Session.Laps && r.Phase.Name == r.Plan.Workflow.LapStart()
}

// testsAreFixed reports whether the phase may not change tests, because another phase writes them.
func testsAreFixed(r *session.RunRequest) bool {
	return r.Plan.Workflow.Red() != nil && !r.Phase.WritesTests()
}

// Schema returns the JSON schema of an agent's answer. All properties are required, and no others are allowed, because
// some providers accept only such schemas.
func Schema(req session.RunRequest) string {
	if req.Phase.Review != nil {
		return reviewSchema
	}
	var required, properties []string
	for _, k := range Answers(&req) {
		about := k.About
		if k.kind == "string" {
			about += "; empty if it does not apply"
		}
		required = append(required, fmt.Sprintf("%q", k.Name))
		properties = append(properties, fmt.Sprintf("%q:{\"type\":%q,\"description\":%q}", k.Name, k.kind, about))
	}
	return `{"type":"object","additionalProperties":false,"required":[` + strings.Join(required, ",") +
		`],"properties":{` + strings.Join(properties, ",") + `}}`
}

// reviewSchema is the JSON schema of a reviewer's answer. All properties are required, for the same reason as in
// Schema.
const reviewSchema = `{"type":"object","additionalProperties":false,"required":["verdict","findings","ask","note"],"properties":{` +
	`"verdict":{"type":"string","enum":["approve","reject"],"description":"approve, or reject for what must be fixed first"},` +
	`"findings":{"type":"array","description":"findings; empty when there are none","items":{"type":"object","additionalProperties":false,` +
	`"required":["path","line","what"],"properties":{` +
	`"path":{"type":"string","description":"file, relative to the top of the work tree; empty for a finding without a file"},` +
	`"line":{"type":"integer","description":"line, from 1; 0 for a finding without a line"},` +
	`"what":{"type":"string","description":"what is wrong, and what would be right"}}}},` +
	`"ask":{"type":"string","description":"a question that only a person can answer; usually empty"},` +
	`"note":{"type":"string","description":"anything else, in a few sentences; may be empty"}}}`
