package session

// Question is what only a person can tell of work that was judged: it goes with ClassAsked. The sentence that is asked
// is the judgement's reason.
type Question struct {
	Paths    []string `json:"paths,omitempty"`                // that it is about, at most MaxNamed
	Evidence []string `json:"evidence,omitempty" text:"free"` // lines for whoever answers
	Packages bool     `json:"packages,omitempty"`             // whether what is installed by now is to be used
}
