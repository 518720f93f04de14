package session

type ReviewVerdict string

const (
	Approve ReviewVerdict = "approve"
	Reject  ReviewVerdict = "reject"
)

// Review is the answer of a reviewer: an agent that judges the work of another one. It is an opinion: gates override
// it.
type Review struct {
	Verdict  ReviewVerdict `json:"verdict"`                        // `approve`, `reject`
	Findings []Remark      `json:"findings,omitempty" text:"free"` // the findings; at most 30
	More     int           `json:"more,omitempty"`                 // number of further findings that were not kept
	By       string        `json:"by,omitempty"`                   // name of the reviewing agent's card
}

// Remark is one finding of a reviewer, in the reviewer's words.
type Remark struct {
	Path string `json:"path,omitempty" text:"free"` // file that the finding is about
	Line int    `json:"line,omitempty"`             // line in that file, from 1
	What string `json:"what" text:"free"`           // the finding in the reviewer's words
}

// MaxFindings is the maximum number of findings that wfs keeps of one review.
const MaxFindings = 30
