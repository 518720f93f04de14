package workflows

// Signal says how an agent's report counts besides the gates. It never overrides them.
type Signal string

const (
	SignalAuto     Signal = "auto"     // it does not count: the gates decide
	SignalVeto     Signal = "veto"     // work that the agent reports as not done is not done
	SignalRequired Signal = "required" // the agent must report "done" in the attempt that passes the gates
)

// Review says that a phase is a review: its agent gives a verdict, and changes nothing.
type Review struct {
	By ReviewBy `json:"by" is:"other|anyone" default:"other"`
	// Maximum number of rejections by a reviewer before a person decides.
	Rounds int `json:"rounds" is:"1..10" default:"3"`
}

// ReviewBy says who may review.
type ReviewBy string

const (
	ByOther  ReviewBy = "other"  // another agent or model than the ones that did the work
	ByAnyone ReviewBy = "anyone" // any agent that the phase names
)

// Reviewer is the name of the reviewing agent in workflows, which do not know which agents are installed.
const Reviewer = "reviewer"

// DocumentsPattern is a guard's pattern for the documents of sessions.
const DocumentsPattern = "/.workflow/"
