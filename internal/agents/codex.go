package agents

import (
	"strings"
)

// codex reads `codex exec --json`. Written by what 0.169.0 prints.
type codex struct {
	reading
	turns   int
	ends    int    // turns that came to an end
	failed  bool   // the last one
	open    bool   // a turn has begun since
	told    string // what the last error says
	sayings int    // messages of the agent's
}

type codexEvent struct {
	Type     string    `json:"type"`
	ThreadID string    `json:"thread_id"`
	Message  string    `json:"message"` // of an error
	Item     codexItem `json:"item"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Input      int64 `json:"input_tokens"` // with those from a cache
		CacheRead  int64 `json:"cached_input_tokens"`
		CacheWrite int64 `json:"cache_write_input_tokens"`
		Output     int64 `json:"output_tokens"` // with those of reasoning
	} `json:"usage"`
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Command string `json:"command"`
	Exit    *int   `json:"exit_code"`
	Output  string `json:"aggregated_output"`
	Status  string `json:"status"`
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

func newCodex(o Options) Decoder {
	c := &codex{}
	c.start(o, c.object)
	return c
}

func (c *codex) object(b []byte) {
	var e codexEvent
	decode(b, &e)
	switch e.Type {
	case "thread.started":
		c.begin(e.ThreadID, "", "")
	case "turn.started":
		c.turns++
		c.open = true
		c.other()
	case "item.started", "item.completed":
		c.item(e.Item, e.Type == "item.completed")
	case "error":
		c.told = strings.TrimSpace(e.Message)
		if attempt, of, why, ok := reconnecting(e.Message); ok {
			v := judge(0, why, c.o.Now())
			c.retry(Retrying{Attempt: attempt, Of: of, Status: statusIn(strings.ToLower(why)), Error: why}, v.class)
			return
		}
		c.other()
	case "turn.completed":
		c.ends, c.failed, c.open, c.fatal = c.ends+1, false, false, ""
		u := e.Usage
		c.out.Total = Spent{Input: max(0, u.Input-u.CacheRead-u.CacheWrite), Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
		c.out.Spent = less(c.out.Total, c.o.Before)
		c.o.Emit(Event{Kind: Usage, Spent: c.out.Spent})
		c.o.Emit(Event{Kind: Result, Text: c.out.Last})
	case "turn.failed":
		c.ends, c.failed, c.open = c.ends+1, true, false
		if e.Error.Message != "" {
			c.told = strings.TrimSpace(e.Error.Message)
		}
		c.o.Emit(Event{Kind: Result, Text: bounded(c.told, MaxText), Failed: true})
	default:
		c.other()
	}
}

// item reads one thing that the agent did. An item of type error is a warning: what stops a turn is an event of its own.
func (c *codex) item(it codexItem, completed bool) {
	c.fatal = ""
	name, detail := it.Type, ""
	switch it.Type {
	case "agent_message":
		if completed {
			c.sayings++
			c.say(it.Text, true)
		}
		return
	case "reasoning":
		if completed {
			c.think(it.Text)
		}
		return
	case "command_execution":
		detail = unwrapped(it.Command)
	case "file_change":
		for _, ch := range it.Changes {
			if detail += " " + ch.Path; len(detail) > MaxDetail {
				break
			}
		}
	case "mcp_tool_call", "collab_tool_call":
		name, detail = it.Tool, it.Server
	case "web_search":
		detail = it.Query
	default:
		c.other()
		return
	}
	t, begun := c.called(it.ID)
	if !begun {
		t = c.call(it.ID, name, actionOf(name), detail)
	}
	if completed {
		c.back(it.ID, it.Status == "failed" || it.Status == "declined" || it.Exit != nil && *it.Exit != 0, it.Output)
		if it.Status == "declined" {
			c.deny(t)
		}
	}
}

// unwrapped is a command without the shell that codex runs each with.
func unwrapped(s string) string {
	for _, shell := range []string{"/bin/bash -lc ", "/bin/zsh -lc ", "/bin/sh -c ", "bash -lc "} {
		if rest, ok := strings.CutPrefix(s, shell); ok && len(rest) > 1 && (rest[0] == '"' || rest[0] == '\'') && rest[len(rest)-1] == rest[0] {
			return rest[1 : len(rest)-1]
		}
	}
	return s
}

// reconnecting reads "Reconnecting... 1/5 (unexpected status 401 Unauthorized: …)".
func reconnecting(s string) (attempt, of int, why string, ok bool) {
	rest, ok := strings.CutPrefix(s, "Reconnecting... ")
	if !ok {
		return 0, 0, "", false
	}
	count, why, _ := strings.Cut(rest, " ")
	a, b, _ := strings.Cut(count, "/")
	return number(leading(a)), number(leading(b)), strings.TrimSuffix(strings.TrimPrefix(why, "("), ")"), true
}

// End concludes: from the last turn that ended, then from the exit code and standard error.
func (c *codex) End(e Exit) Outcome {
	c.end()
	c.out.Turns = c.turns
	c.out.Class = OK
	switch {
	case c.ends > 0 && !c.open && c.failed:
		c.failure()
	case c.ends > 0 && !c.open:
		c.completed(e)
	case e.Stopped && c.fatal == "":
		c.fail(Interrupted, "")
	case c.fatal == "" && c.told != "" && e.Code != 0:
		c.failure()
	default:
		c.ended(e)
	}
	return c.out
}

func (c *codex) failure() {
	v := judge(0, c.told, c.o.Now())
	if v.class == "" {
		v.class = Crashed
	}
	c.fail(v.class, c.told)
	c.out.RetryAt = v.at
	if v.at%60 == 0 && v.at != 0 && v.class == LimitHit {
		c.out.RetryAt += 60 // "try again at 2:58 PM" leaves the seconds out: the limit ends within that minute
	}
}

// completed looks at a turn that ended in good order. When CODEX_HOME lies below the directory for temporary files, codex
// cannot start its sandbox: every command fails, no event tells of one, and the turn completes. What shows it is that the
// model speaks, does something that is not told, and speaks again.
func (c *codex) completed(e Exit) {
	switch {
	case len(c.out.Denials) > 0:
		c.fail(Denied, "not permitted: "+names(c.out.Denials))
	case c.out.Tools == 0 && c.sayings > 1 && strings.Contains(e.Stderr, "Refusing to create helper binaries under temporary dir"):
		c.fail(Denied, "no command ran: codex cannot start its sandbox while CODEX_HOME is below the directory for temporary files")
	}
}
