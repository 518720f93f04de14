package session

// Question is what only a person can tell of work that was judged: it goes with ClassAsked. The sentence that is asked
// is the judgement's reason.
type Question struct {
	Paths    []string `json:"paths,omitempty"`    // that it is about, at most MaxNamed
	Evidence []string `json:"evidence,omitempty"` // lines for whoever answers
	Packages bool     `json:"packages,omitempty"` // whether what is installed by now is to be used
}

func (q *Question) worded(f func(string) string) *Question {
	if q == nil {
		return nil
	}
	c := Question{Paths: q.Paths, Packages: q.Packages}
	for _, line := range q.Evidence {
		c.Evidence = append(c.Evidence, f(line))
	}
	return &c
}
