package session

// ReviewVerdict is a reviewer's verdict on the work.
type ReviewVerdict string

const (
	Approve ReviewVerdict = "approve"
	Reject  ReviewVerdict = "reject"
)

// Review is the answer of a reviewer. It is an opinion: gates override it.
type Review struct {
	Verdict  ReviewVerdict `json:"verdict"`                        // `approve`, `reject`
	Findings []Remark      `json:"findings,omitempty" text:"free"` // at most 30
	More     int           `json:"more,omitempty"`                 // findings beyond those
	By       string        `json:"by,omitempty"`                   // name of the reviewer's card
}

// Remark is one finding of a reviewer, in the reviewer's words.
type Remark struct {
	Path string `json:"path,omitempty" text:"free"` // the file that it is about
	Line int    `json:"line,omitempty"`             // from 1
	What string `json:"what" text:"free"`           // in the reviewer's words
}

// MaxFindings is the maximum number of findings that wfs keeps of one review.
const MaxFindings = 30
