package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// agentText is what an agent did, in one line. "" for what nobody has to read; all is for who wants to read everything.
func agentText(e agents.Event, all bool) string {
	switch e.Kind {
	case agents.Text:
		return safetext.Line(answered(e.Text), shownLine)
	case agents.ToolResult:
		if text := safetext.Line(e.Text, shownLine); e.Failed && text != "" {
			return "< failed: " + text
		}
	case agents.ToolCall:
		return "> " + toolName(e.Tool)
	case agents.Denial:
		return "refused, not in the allowed commands: " + toolName(e.Tool)
	case agents.Limit:
		if e.Limited.Status != "allowed" {
			return limitText(e.Limited)
		}
	case agents.Retry:
		return "tries again" + retryText(e.Retrying)
	case agents.Compaction:
		return "shortens its context"
	}
	if !all {
		return ""
	}
	switch e.Kind {
	case agents.Started:
		return safetext.Line(fmt.Sprintf("begins: %s %s  conversation %s", e.Model, e.Version, cmp.Or(e.Conversation, "new")), shownLine)
	case agents.Thinking:
		return safetext.Line("thinks: "+cmp.Or(e.Text, "…"), shownLine)
	case agents.ToolResult:
		switch text := safetext.Line(e.Text, shownLine); {
		case e.Failed:
			return "< failed: " + cmp.Or(text, toolName(e.Tool))
		case text != "":
			return "< " + text
		}
	case agents.Usage:
		return "used: " + spentText(e.Spent)
	case agents.Result:
		if e.Failed {
			return "ends, failed: " + safetext.Line(e.Text, shownLine)
		}
		return "ends"
	}
	return ""
}

// answered puts an answer that was given by a schema into words. Any other text stays as it is.
func answered(text string) string {
	var a struct {
		Done        *bool   `json:"done"`
		Note        *string `json:"note"`
		Ask         string  `json:"ask"`
		TestChange  string  `json:"test_change"`
		NothingLeft string  `json:"nothing_left"`
	}
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &a) != nil || a.Done == nil && a.Note == nil && a.Ask == "" {
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

// spentText is what was used up: "$0.42, 41k tokens".
func spentText(s agents.Spent) string {
	text := ""
	if s.USD > 0 {
		text = fmt.Sprintf("$%.2f, ", s.USD)
	}
	return text + countText(s.Tokens()) + " tokens"
}
