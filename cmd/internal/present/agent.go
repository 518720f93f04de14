package present

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// AgentText describes an agent event in one line. It returns "" if the event is not worth a line. With `all` it also
// describes minor events, such as thinking and usage.
func AgentText(e agents.Event, all bool) string {
	text := safetext.Line(e.Text, ShownLine)
	switch e.Kind {
	case agents.Text:
		return safetext.Line(Answered(e.Text), ShownLine)
	case agents.ToolResult:
		switch {
		case e.Failed && (all || text != ""):
			return "< failed: " + cmp.Or(text, ToolName(e.Tool))
		case all && text != "":
			return "< " + text
		}
		return ""
	case agents.ToolCall:
		return "> " + ToolName(e.Tool)
	case agents.Denial:
		return "refused, not in the allowed commands: " + ToolName(e.Tool)
	case agents.Retry:
		return "tries again" + retryText(e.Retrying)
	case agents.Taken:
		return "has read a note"
	case agents.Compaction:
		return "shortens its context"
	case agents.Limit:
		if e.Limited.Status != "allowed" {
			return LimitText(e.Limited)
		}
	}
	switch {
	case !all:
	case e.Kind == agents.Started:
		return safetext.Line(fmt.Sprintf("begins: %s %s  conversation %s", e.Model, e.Version,
			cmp.Or(e.Conversation, "new")), ShownLine)
	case e.Kind == agents.Thinking:
		return "thinks: " + cmp.Or(text, "…")
	case e.Kind == agents.Usage:
		tokens := Count(e.Spent.Tokens()) + " tokens"
		if usd := fmt.Sprintf("$%.2f", e.Spent.USD); usd != "$0.00" {
			return "used: " + usd + ", " + tokens
		}
		return "used: " + tokens
	case e.Kind == agents.Result && e.Failed:
		return "ends, failed: " + text
	case e.Kind == agents.Result:
		return "ends"
	}
	return ""
}

// Answered turns an agent's structured answer (JSON in the form of an answer schema of wfs) into a sentence. It returns
// any other text unchanged.
func Answered(text string) string {
	var a struct {
		Done        *bool   `json:"done"`
		Note        *string `json:"note"`
		Ask         string  `json:"ask"`
		TestChange  string  `json:"test_change"`
		NothingLeft string  `json:"nothing_left"`
	}
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &a) != nil || a.Done == nil && a.Note == nil &&
		a.Ask == "" {
		return text
	}
	said := "answers: not done"
	switch {
	case a.Ask != "":
		said = "asks: " + a.Ask
	case a.NothingLeft != "":
		said = "answers: nothing left to do, " + a.NothingLeft + " shows it"
	case a.TestChange != "":
		said = "answers: a test must change: " + a.TestChange
	case a.Done != nil && *a.Done:
		said = "answers: done"
	}
	if a.Note != nil && *a.Note != "" {
		said += "; " + *a.Note
	}
	return said
}

// ShownLine is how many characters of agent output wfs shows on one line at most.
const ShownLine = 200

// ToolName returns a tool call's name and details as the agent gave them: "Bash rm -rf build".
func ToolName(t agents.Tool) string {
	return safetext.Line(cmp.Or(t.Name, "a tool")+" "+t.Detail, ShownLine)
}

func retryText(r agents.Retrying) string {
	text := ""
	if r.Attempt > 0 && r.Of > 0 {
		text = fmt.Sprintf(" (%d of %d)", r.Attempt, r.Of)
	}
	var p Parts
	why := safetext.Line(r.Error, 60)
	p.Add(why != "", "%s", why)
	p.Add(r.Status > 0, "HTTP %d", r.Status)
	return strings.TrimSuffix(text+": "+strings.Join(p, ", "), ": ")
}

// LimitText says how much of a provider's usage limit is used up, such as "5-hour limit 92% used".
func LimitText(l agents.Limited) string {
	name := map[string]string{"five_hour": "5-hour limit", "seven_day": "weekly limit"}[l.Window]
	name = cmp.Or(name, strings.TrimSpace(safetext.Line(l.Window, 20)+" limit"))
	switch {
	case l.Status == "rejected":
		return name + " reached"
	case l.Used > 0:
		return fmt.Sprintf("%s %d%% used", name, int(100*l.Used+0.5))
	}
	return name + " near"
}

// Claims says how often an agent claimed to be done, and how often the claim was true. It returns "" if there were no
// claims.
func Claims(claims, refuted int) string {
	if claims == 0 {
		return ""
	}
	return fmt.Sprintf("said done %s, %d true", N(claims, "time"), claims-refuted)
}
