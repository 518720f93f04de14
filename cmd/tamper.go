package cmd

import (
	"github.com/wfs-dev/wfs/session"
)

// sayTampered tells what was done to tests, and to what they run with.
func (a *app) sayTampered(list []session.Tampering) {
	for _, t := range list {
		about := "tests"
		if t.OfPackages() {
			about = "installed"
		}
		a.out("%s: %s%s", about, noteMark(t), t)
	}
}

// noteMark stands before a finding that is only worth a word.
func noteMark(t session.Tampering) string {
	if t.Grave {
		return ""
	}
	return "note: "
}
