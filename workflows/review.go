package workflows

// Signal says what an agent's own word counts beside the gates. It never outweighs them.
type Signal string

const (
	SignalAuto     Signal = "auto"     // nothing: the gates decide
	SignalVeto     Signal = "veto"     // what it says is not done is not done
	SignalRequired Signal = "required" // it must say that the work is done, in the attempt that the gates pass
)

// Review says that a phase is a review: who works there gives a verdict, and changes nothing.
type Review struct {
	By ReviewBy `json:"by" is:"other|anyone" default:"other"`
	// How often a reviewer may send the work back before a person decides.
	Rounds int `json:"rounds" is:"1..10" default:"3"`
}

// ReviewBy says who may review.
type ReviewBy string

const (
	ByOther  ReviewBy = "other"  // another agent or model than those that did the work
	ByAnyone ReviewBy = "anyone" // whoever the phase names
)

// Reviewer is the name of the agent that reviews, where a workflow does not know which are there.
const Reviewer = "reviewer"

// DocumentsPattern is a guard's pattern for the documents of sessions.
const DocumentsPattern = "/.workflow/"
