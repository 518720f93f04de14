package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
)

// statusMark begins the line by which agents say how they ended that can give no other answer.
const statusMark = "WFS_RESULT:"

// claimOf is what an agent says about its run: the answer that a schema asked for, else what it wrote to
// $WFS_RESULT, else its last words, if they are that JSON as a whole, else the last line of its last words that
// begins with statusMark. Nothing at all means that it is not done.
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
		return a // the form was asked for, and the stream has no field for it
	}
	for _, line := range slices.Backward(strings.Split(o.Last, "\n")) {
		rest, ok := strings.CutPrefix(strings.Trim(line, "*_` \t\r"), statusMark) // some write all that they say in Markdown
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

// ClaimNote is what an agent claims at the end of what it said, in words for the next brief: "says that the
// work is done: …". "" when it claims nothing.
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
