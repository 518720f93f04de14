package agents

import (
	"cmp"
	"strings"
)

// opencode reads the output of `opencode run --format json`. The stream has no final event. The run is complete if the
// last step stopped for another reason than a tool call. It is written for the output of version 1.18.33.
type opencode struct {
	*run
	open    bool           // a step has begun but not ended
	reason  string         // why the last step ended
	problem *opencodeError // the last error since the last step
}

type opencodeEvent struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionID"`
	Part      struct {
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		Reason string `json:"reason"`
		State  struct {
			Status string `json:"status"`
			Error  string `json:"error"`
			Input  input  `json:"input"`
		} `json:"state"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error opencodeError `json:"error"`
}

type opencodeError struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
		Status  int    `json:"statusCode"`
		Headers struct {
			RetryAfter string `json:"retry-after"`
		} `json:"responseHeaders"`
		Body string `json:"responseBody"`
	} `json:"data"`
}

func (c *opencode) event(b []byte) {
	var e opencodeEvent
	decode(b, &e)
	if e.SessionID != "" && e.SessionID != c.out.Conversation {
		c.started(e.SessionID, "", "")
	}
	p := e.Part
	switch e.Type {
	case "step_start":
		c.turns++
		c.open, c.problem = true, nil
		c.other()
	case "text":
		c.say(p.Text)
	case "reasoning":
		c.think(p.Text)
	case "tool_use": // sent when the call has ended
		c.ran(e)
	case "step_finish":
		c.open, c.reason = false, p.Reason
		t := p.Tokens
		c.used(c.out.Spent.Plus(Spent{p.Cost, t.Input, t.Output + t.Reasoning, t.Cache.Read, t.Cache.Write}))
		if c.reason != "tool-calls" {
			c.result(c.out.Last, c.reason != "stop")
		}
	case "error":
		c.problem = &e.Error
		c.result(e.Error.Data.Message, true)
	default:
		c.other()
	}
}

func (c *opencode) ran(e opencodeEvent) {
	p := e.Part
	c.call(tool(p.CallID, p.Tool, p.State.Input.detail()))
	failed, low := p.State.Status == "error", strings.ToLower(p.State.Error)
	if !failed && p.State.Status != "completed" {
		return
	}
	t := c.back(p.CallID, failed, p.State.Error)
	if failed && (strings.Contains(low, "rejected permission") || strings.Contains(low, "prevents you from using")) {
		c.deny(t)
	}
}

// conclusion finds the class of the run, first from the last error, then from the reason why the last step ended.
func (c *opencode) conclusion(e Exit) {
	switch {
	case c.problem != nil:
		c.failure(*c.problem, e)
	case c.turns == 0 && e.Code == 1 && strings.HasPrefix(strings.TrimSpace(e.Stderr), "opencode run [message..]"):
		c.fail(Config, "it does not know a flag or its value, and printed its help")
	case c.turns == 0 || c.open || c.reason == "tool-calls":
		c.ended(e)
	case c.reason == "content-filter":
		c.fail(Refused, c.reason)
	case c.reason != "stop":
		c.fail(Crashed, "the last step ended with "+c.reason)
	}
}

// opencodeErrors maps error names to classes, where the name says more than the error's message.
var opencodeErrors = map[string]Class{
	"MessageAbortedError": Interrupted, "ContextOverflowError": TooLong, "MessageOutputLengthError": Crashed,
}

func (c *opencode) failure(p opencodeError, e Exit) {
	d := p.Data
	if p.Name == "UnknownError" { // its message says only "Check server logs for details."
		for line := range strings.Lines(e.Stderr) {
			if strings.Contains(line, " message=failed ") {
				d.Message = logged(line, "error")
			}
		}
	}
	said := p.Name + " " + d.Message + " " + d.Body
	if d.Headers.RetryAfter != "" {
		said += " retry-after: " + d.Headers.RetryAfter
	}
	v := judge(d.Status, said, c.o.Now())
	if own := opencodeErrors[p.Name]; own != "" {
		v = verdict{class: own}
	}
	c.failed(v, cmp.Or(d.Message, p.Name))
}
