package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// answerKey is one key of an agent's answer. Brief and schema are made of the same list.
type answerKey struct {
	Name, kind string // kind in JSON
	About      string
	when       func(*session.RunRequest) bool
}

var answerKeys = []answerKey{
	{"done", "boolean", "true when the job is done and you have seen it; else false", always},
	{"note", "string", "what is left, or what the next attempt should know", always},
	{"nothing_left", "string", "if nothing is left to do: change nothing, and name the existing test (or file) that already shows this item", beginsLap},
	{"test_change", "string", "if a test is wrong: which one, and why; the work then returns to the phase that writes tests", testsAreFixed},
	{"ask", "string", "if only a person can decide: the question, and what you suggest", always},
}

// answersTo are the keys that a phase asks for.
func answersTo(r *session.RunRequest) []answerKey {
	return slices.DeleteFunc(slices.Clone(answerKeys), func(k answerKey) bool { return !k.when(r) })
}

func always(*session.RunRequest) bool { return true }

// beginsLap reports whether it is in this phase that a lap may turn out to be needless.
func beginsLap(r *session.RunRequest) bool {
	return r.Session.Laps && r.Phase.Name == r.Plan.Workflow.Start
}

// testsAreFixed reports whether tests were written in another phase.
func testsAreFixed(r *session.RunRequest) bool {
	return r.Plan.Workflow.Red() != nil && !r.Phase.WritesTests()
}

// schemaOf is the form of the answer that a phase asks for. Some providers take only schemas that require every
// property and allow no other.
func schemaOf(req session.RunRequest) string {
	if req.Phase.Review != nil {
		return reviewSchema
	}
	var required, properties []string
	for _, k := range answersTo(&req) {
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
