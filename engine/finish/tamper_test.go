package finish

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

func TestTamperedText(t *testing.T) {
	t.Parallel()
	edited := session.Tampering{Kind: "expectation_edited", Path: "a_test.go", Line: 3, Before: "5", After: "6", Grave: true}
	tests := "\nExisting tests were weakened or changed:\n- a_test.go:3: expectation edited: 5 → 6\n"
	for _, c := range []struct {
		verdict session.Verdict
		found   []session.Tampering
		want    string
	}{
		{session.Pass, nil, ""},
		{session.Fail, []session.Tampering{edited}, ""},
		{session.Pass, []session.Tampering{edited}, tests},
	} {
		s := &session.Session{Checkpoints: []session.Checkpoint{{Verdict: c.verdict, Tampered: c.found}}}
		if got := tamperedText(s); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.verdict, c.found, got, c.want)
		}
	}
}
