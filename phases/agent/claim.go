package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
)

// statusMark is the beginning of the line in which agents give their answer if they cannot give it in another way.
const statusMark = "WFS_RESULT:"

// claimOf returns an agent's answer about its run. It takes the first of these that exists: the answer by a JSON
// schema, the file at $WFS_RESULT, the last message if it is a JSON object, the last line of that message that begins
// with statusMark. If there is none, the answer is empty, and the work counts as not done.
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
		return a // the agent got a schema, but its stream has no field for the answer
	}
	for _, line := range slices.Backward(strings.Split(o.Last, "\n")) {
		rest, ok := strings.CutPrefix(strings.Trim(line, "*_` \t\r"), statusMark) // the line may be Markdown
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

// ClaimNote returns a sentence for the next brief with the claim in an agent's last message: "says that the work of
// this phase is done: …". It returns "" if the message has none.
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
