package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// AgentFile is the file in a run's directory with the name of the agent and the place of its conversation. With it the
// conversation can be resumed even if wfs is killed during the run.
const AgentFile = "agent.json"

// Left reconstructs the usage and the conversation of a run whose wfs was killed. It reads the agent's events or the
// result file of a command. Often they do not say.
func Left(runDir string) session.Remains {
	var left session.Remains
	if text, err := durable.ReadFile(filepath.Join(runDir, EventsFile), 2*maxEvents); err == nil {
		left = leftIn(text)
	}
	if u := &left.Usage; u.USD == 0 {
		u.USD = cost.Dollars(readResult(filepath.Join(runDir, ResultFile), nil, nil).cost)
	}
	left.Usage.Millis = max(left.Usage.Millis, untilLastWord(runDir))
	var who session.Conversation
	text, err := durable.ReadFile(filepath.Join(runDir, AgentFile), 4<<10)
	if err != nil || json.Unmarshal(text, &who) != nil || who.Agent == "" {
		left.Conversation = nil
		return left
	}
	left.Agent = clipped(who.Agent)
	if c := left.Conversation; c != nil {
		c.Agent, c.Place = left.Agent, clipped(who.Place)
	}
	return left
}

// untilLastWord returns the time between a run's brief and its last output, in milliseconds. The run may have worked
// longer.
func untilLastWord(runDir string) int64 {
	brief, err := os.Lstat(filepath.Join(runDir, BriefFile))
	if err != nil {
		return 0
	}
	var longest int64
	for _, name := range []string{OutputFile, ErrorsFile, EventsFile} {
		if info, err := os.Lstat(filepath.Join(runDir, name)); err == nil {
			longest = max(longest, info.ModTime().Sub(brief.ModTime()).Milliseconds())
		}
	}
	return longest
}

// leftIn reconstructs usage and conversation from a run's events. Each process of a run reports its total so far,
// beginning at zero, so the totals of several processes are added. A conversation can be resumed only if the agent has
// done something in it, since otherwise it may not have received the brief.
func leftIn(events []byte) session.Remains {
	var sum, last agents.Spent
	var begun, end int64
	var started agents.Event
	var left session.Remains
	for line := range bytes.Lines(events) {
		r, ok := agents.DecodeRecord(line)
		if !ok {
			continue
		}
		at := r.At.UnixMilli()
		if begun == 0 {
			begun = at
		}
		end = max(end, at)
		switch r.Kind {
		case agents.Usage:
			if r.Spent.Tokens() < last.Tokens() && r.Spent.USD <= last.USD { // a new process began at 0
				sum = sum.Plus(last)
			}
			last = r.Spent
		case agents.Started:
			if r.Conversation != started.Conversation {
				left.Conversation = nil
			}
			started = r.Event
		case agents.Text, agents.Thinking, agents.ToolCall, agents.ToolResult:
			if started.Conversation != "" {
				left.Conversation = &session.Conversation{ID: clipped(started.Conversation), Version: clipped(started.Version),
					Ended: session.OutcomeInterrupted}
			}
		}
	}
	sum = sum.Plus(last)
	left.Model = clipped(started.Model)
	left.Usage = session.RunResult{CostUSD: sum.USD, Tokens: tokensOf(sum), Millis: end - begun}.Usage()
	return left
}
