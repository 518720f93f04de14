package session_test

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

func FuzzSlug(f *testing.F) {
	f.Add("CSV export für alle!")
	f.Add("-rf")
	f.Add("con")
	f.Fuzz(func(t *testing.T, topic string) {
		n := 0
		id := session.Slug(topic, func(session.ID) bool { n++; return n < 12 })
		if _, err := session.ParseID(string(id)); err != nil {
			t.Fatalf("%q became %q: %v", topic, id, err)
		}
	})
}
