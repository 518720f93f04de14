package cmd

import (
	"github.com/wfs-dev/wfs/session"
)

// sayTampered tells what was done to tests, below a text that may say already what was found.
func (a *app) sayTampered(list []session.Tampering, above string) {
	for _, t := range list {
		a.out("tests: %s%s", noteMark(t), t.Beside(above))
	}
}

// noteMark stands before a finding that is only worth a word.
func noteMark(t session.Tampering) string {
	if t.Grave {
		return ""
	}
	return "note: "
}
