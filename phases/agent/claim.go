package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
)

// statusMark begins the line in which agents give their answer if they have no other way.
const statusMark = "WFS_RESULT:"

// claimOf returns an agent's claim about its run: the answer to a schema, else $WFS_RESULT, else its last message if
// that is all JSON, else the last line of that message that begins with statusMark. Without any the work is not done.
func claimOf(o agents.Outcome, file answer, now func() time.Time) answer {
	if len(o.Structured) > 0 {
		a, err := parseResult(o.Structured, now)
		if err != nil {
			a = unreadable(err)
		}
		return a
	}
	if file != (answer{}) {
		return file
	}
	if a, err := parseResult([]byte(o.Last), now); err == nil && a != (answer{}) {
		return a // a schema was given, but the stream has no field for the answer
	}
	for _, line := range slices.Backward(strings.Split(o.Last, "\n")) {
		rest, ok := strings.CutPrefix(strings.Trim(line, "*_` \t\r"), statusMark) // may be Markdown
		if !ok {
			continue
		}
		a, err := parseResult([]byte(strings.Trim(rest, "*_` \t")), now)
		if err != nil {
			a = unreadable(err)
		}
		return a
	}
	return answer{}
}

// ClaimNote returns the claim at the end of an agent's last message, in words for the next brief: "says that the work
// is done: …"; "" if there is none.
func ClaimNote(last string, now func() time.Time) string {
	a := claimOf(agents.Outcome{Last: last}, answer{}, now)
	said := ""
	switch {
	case a.ask != "":
		return "asks: " + a.ask
	case a.done:
		said = "says that the work of this phase is done"
	case a.note != "":
		said = "says that it is not done"
	default:
		return ""
	}
	if a.note != "" {
		said += ": " + a.note
	}
	return said
}
