package session

// Question is what only a person can tell of work that was judged: it goes with ClassAsked. The sentence that is asked
// is the judgement's reason.
type Question struct {
	Paths    []string `json:"paths,omitempty"`                // paths that it is about; at most 50
	Evidence []string `json:"evidence,omitempty" text:"free"` // lines for the person who answers
	// it is about the packages that are installed now: after a yes wfs copies them; the answer is not about tests
	Packages bool `json:"packages,omitempty"`
}
