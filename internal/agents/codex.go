package agents

import (
	"cmp"
	"strings"
)

// codex reads the output of `codex exec --json`. It is written for the output of version 0.169.0.
type codex struct {
	*run
	settled bool   // the last turn ended, and no other turn has begun
	failing bool   // the last turn failed
	told    string // message of the last error
	sayings int    // number of messages from the agent
}

type codexEvent struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"` // the error message, in an error
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Item  codexItem `json:"item"`
	Usage struct {
		Input      int64 `json:"input_tokens"` // including tokens from a cache
		CacheRead  int64 `json:"cached_input_tokens"`
		CacheWrite int64 `json:"cache_write_input_tokens"`
		Output     int64 `json:"output_tokens"` // including tokens for reasoning
	} `json:"usage"`
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Command string `json:"command"`
	Exit    int    `json:"exit_code"`
	Output  string `json:"aggregated_output"`
	Status  string `json:"status"`
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

var reconnecting = lazy(`^Reconnecting\.\.\. (\d+)/(\d+) \(?((?s:.*?))\)?$`)

func (c *codex) event(b []byte) {
	var e codexEvent
	decode(b, &e)
	switch e.Type {
	case "thread.started":
		c.started(e.ThreadID, "", "")
	case "turn.started":
		c.turns++
		c.settled = false
		c.other()
	case "item.started", "item.completed":
		c.fatal = ""
		c.item(e.Item, e.Type == "item.completed")
	case "error":
		c.told = strings.TrimSpace(e.Message)
		if found := reconnecting().FindStringSubmatch(e.Message); found != nil {
			why := found[3]
			c.retry(Retrying{number(found[1]), number(found[2]), statusIn(strings.ToLower(why)), why, 0}, judge(0, why, 0).class)
			return
		}
		c.other()
	case "turn.completed":
		c.settled, c.failing, c.fatal = true, false, ""
		u := e.Usage
		c.out.Total = Spent{Input: max(0, u.Input-u.CacheRead-u.CacheWrite), Output: u.Output, CacheRead: u.CacheRead,
			CacheWrite: u.CacheWrite}
		c.used(c.out.Total.since(c.o.Before))
		c.result(c.out.Last, false)
	case "turn.failed":
		c.settled, c.failing = true, true
		c.told = cmp.Or(strings.TrimSpace(e.Error.Message), c.told)
		c.result(c.told, true)
	default:
		c.other()
	}
}

var wrapped = lazy(`^(?:/bin/(?:ba|z)sh -lc|/bin/sh -c|bash -lc) (?:"((?s:.*))"|'((?s:.*))')$`)

// item handles one item, such as a message or a command. An item of type error is only a warning; the error that ends a
// turn is an event of its own.
func (c *codex) item(it codexItem, completed bool) {
	switch it.Type {
	case "agent_message", "reasoning":
		if completed {
			c.speak(it)
		}
	case "command_execution":
		detail := it.Command
		if found := wrapped().FindStringSubmatch(detail); found != nil { // without codex's shell around it
			detail = found[1] + found[2]
		}
		c.use(it, it.Type, detail, completed)
	case "file_change":
		detail := ""
		for _, ch := range it.Changes {
			if len(detail) < MaxDetail {
				detail += " " + ch.Path
			}
		}
		c.use(it, it.Type, detail, completed)
	case "mcp_tool_call", "collab_tool_call":
		c.use(it, it.Tool, it.Server, completed)
	case "web_search":
		c.use(it, it.Type, it.Query, completed)
	default:
		c.other()
	}
}

func (c *codex) speak(it codexItem) {
	if it.Type == "reasoning" {
		c.think(it.Text)
		return
	}
	c.sayings++
	c.say(it.Text)
}

// use reports a tool call, and its result if the item is completed.
func (c *codex) use(it codexItem, name, detail string, completed bool) {
	c.call(tool(it.ID, name, detail))
	if !completed {
		return
	}
	declined := it.Status == "declined"
	if t := c.back(it.ID, declined || it.Status == "failed" || it.Exit != 0, it.Output); declined {
		c.deny(t)
	}
}

// conclusion finds the class of the run from the last turn that ended. One failure is not in the stream: if CODEX_HOME
// is below the directory for temporary files, codex cannot start its sandbox. Then every command fails, no event
// reports it, and the turn completes. The signs are two or more messages of the model without any tool call, and a
// warning on standard error.
func (c *codex) conclusion(e Exit) {
	switch {
	case c.settled && !c.failing:
		if c.out.Tools == 0 && c.sayings > 1 &&
			strings.Contains(e.Stderr, "Refusing to create helper binaries under temporary dir") {
			c.fail(Denied, "no command ran: codex cannot start its sandbox while CODEX_HOME is below the directory for temporary files")
		}
	case c.settled || c.fatal == "" && c.told != "" && e.Code != 0 && !e.Stopped:
		v := judge(0, c.told, c.o.Now())
		if v.at%60 == 0 && v.at != 0 && v.class == LimitHit {
			v.at += 60 // "try again at 2:58 PM" names a minute: the limit ends within it
		}
		c.failed(v, c.told)
	default:
		c.ended(e)
	}
}
