package session

import "maps"

// ReviewVerdict is what a reviewer says about the work.
type ReviewVerdict string

const (
	Approve ReviewVerdict = "approve"
	Reject  ReviewVerdict = "reject"
)

// Review is the answer of a reviewer. It is an opinion: gates outweigh it.
type Review struct {
	Verdict  ReviewVerdict `json:"verdict"`                        // `approve`, `reject`
	Findings []Remark      `json:"findings,omitempty" text:"free"` // at most 30
	More     int           `json:"more,omitempty"`                 // findings beyond those
	By       string        `json:"by,omitempty"`                   // name of the reviewer's card
}

// Remark is one thing that a reviewer found, in the reviewer's words.
type Remark struct {
	Path string `json:"path,omitempty" text:"free"` // what it is about (path)
	Line int    `json:"line,omitempty"`             // from 1
	What string `json:"what" text:"free"`           // in the reviewer's words
}

// MaxFindings is how many findings of one review are kept.
const MaxFindings = 30

// reviewed folds what the end of an attempt means for reviews: a reviewer's no is counted and kept until it is
// answered, and a yes, a person's word or the end of a lap ends the rounds.
func (s *Session) reviewed(open *Open, d *Decided) {
	switch {
	case open.Runner == "person" || d.LapEnded || d.Class == ClassReviewed:
		s.Rounds, s.Review = nil, nil
	case d.Class == ClassRejected && open.Run != nil && open.Run.Review != nil:
		s.Rounds = maps.Clone(s.Rounds)
		if s.Rounds == nil {
			s.Rounds = map[PhaseName]int{}
		}
		s.Rounds[open.Phase]++
		s.Review = open.Run.Review
	}
}

// heardWhileAsked folds a person's word that was typed instead of the yes or no that the session waits for:
// whoever works tries on, with that word.
func (s *Session) heardWhileAsked(b Noted) {
	if w := s.Waiting; b.Request == "" && s.Status == StatusWaiting && w != nil && w.Approve {
		s.Rounds, s.Visit.Unsigned = nil, 0
	}
}
