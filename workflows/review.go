package workflows

// Signal says how an agent's own report that it is done counts in addition to the gates. It never overrides a failed
// gate.
type Signal string

const (
	SignalAuto     Signal = "auto"     // the report does not count: the gates decide
	SignalVeto     Signal = "veto"     // if the agent reports that it is not done, the attempt does not pass
	SignalRequired Signal = "required" // the agent must report "done" in the attempt that passes the gates
)

// Review makes a phase a review: its agent gives a verdict on the work, and may change only documents.
type Review struct {
	By ReviewBy `json:"by" is:"other|anyone" default:"other"`
	// Maximum number of a reviewer's rejections, after which a person decides.
	Rounds int `json:"rounds" is:"1..10" default:"3"`
}

// ReviewBy says who may review.
type ReviewBy string

const (
	ByOther  ReviewBy = "other"  // an agent or a model that did none of the work
	ByAnyone ReviewBy = "anyone" // any agent that the phase names, even the one that did the work
)

// Reviewer is the agent name that workflows use for a reviewing agent: they cannot know which agents are installed.
const Reviewer = "reviewer"

// DocumentsPattern is the guard pattern that matches the documents of sessions.
const DocumentsPattern = "/.workflow/"
