package cmd

import (
	"github.com/wfs-dev/wfs/session"
)

// sayTampered tells what was done to tests.
func (a *app) sayTampered(list []session.Tampering) {
	for _, t := range list {
		a.out("tests: %s%s", noteMark(t), t)
	}
}

// noteMark stands before a finding that is only worth a word.
func noteMark(t session.Tampering) string {
	if t.Grave {
		return ""
	}
	return "note: "
}
