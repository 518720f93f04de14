package agents

import "strings"

// opencode reads `opencode run --format json`, which has no last event: a step that stops for no tool is the end. Written by
// what 1.18.33 prints.
type opencode struct {
	reading
	steps   int
	open    bool           // a step has begun and not ended
	reason  string         // of the last step's end
	problem *opencodeError // the last one, since the last step
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

func newOpencode(o Options) Decoder {
	c := &opencode{}
	c.start(o, c.object)
	return c
}

func (c *opencode) object(b []byte) {
	var e opencodeEvent
	decode(b, &e)
	if e.SessionID != "" && e.SessionID != c.out.Conversation {
		c.begin(e.SessionID, "", "")
	}
	switch e.Type {
	case "step_start":
		c.steps++
		c.open, c.problem = true, nil
		c.other()
	case "text":
		c.say(e.Part.Text, true)
	case "reasoning":
		c.think(e.Part.Text)
	case "tool_use":
		c.tool(e)
	case "step_finish":
		c.open, c.reason = false, e.Part.Reason
		t := e.Part.Tokens
		c.out.Spent = add(c.out.Spent, Spent{USD: e.Part.Cost, Input: t.Input, Output: t.Output + t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write})
		c.o.Emit(Event{Kind: Usage, Spent: c.out.Spent})
		if c.reason != "tool-calls" {
			c.o.Emit(Event{Kind: Result, Text: c.out.Last, Failed: c.reason != "stop"})
		}
	case "error":
		c.problem = &e.Error
		c.o.Emit(Event{Kind: Result, Text: bounded(e.Error.Data.Message, MaxText), Failed: true})
	default:
		c.other()
	}
}

// tool tells of a call, which comes when it is over.
func (c *opencode) tool(e opencodeEvent) {
	p := e.Part
	failed := p.State.Status == "error"
	t, begun := c.called(p.CallID)
	if !begun {
		t = c.call(p.CallID, p.Tool, actionOf(p.Tool), p.State.Input.detail())
	}
	if p.State.Status != "completed" && !failed {
		return
	}
	c.back(p.CallID, failed, p.State.Error)
	if low := strings.ToLower(p.State.Error); failed && (strings.Contains(low, "rejected permission") || strings.Contains(low, "prevents you from using")) {
		c.deny(t)
	}
}

// End concludes: from an error or from why the last step ended, then from the exit code and standard error.
func (c *opencode) End(e Exit) Outcome {
	c.end()
	c.out.Turns = c.steps
	c.out.Class = OK
	switch {
	case c.problem != nil:
		c.failure(*c.problem, e)
	case c.steps == 0 && e.Code == 1 && strings.HasPrefix(strings.TrimSpace(e.Stderr), "opencode run [message..]"):
		c.fail(Config, "it does not know a flag or its value, and printed its help")
	case c.steps == 0 || c.open || c.reason == "tool-calls":
		c.ended(e)
	case c.reason == "content-filter":
		c.fail(Refused, c.reason)
	case c.reason != "stop":
		c.fail(Crashed, "the last step ended with "+c.reason)
	case len(c.out.Denials) > 0:
		c.fail(Denied, "not permitted: "+names(c.out.Denials))
	}
	return c.out
}

func (c *opencode) failure(p opencodeError, e Exit) {
	if p.Name == "UnknownError" { // "Check server logs for details."
		for line := range strings.Lines(e.Stderr) {
			if strings.Contains(line, " message=failed ") {
				p.Data.Message = logged(strings.TrimSpace(line), "error")
			}
		}
	}
	said := p.Name + " " + p.Data.Message + " " + p.Data.Body
	if p.Data.Headers.RetryAfter != "" {
		said += " retry-after: " + p.Data.Headers.RetryAfter
	}
	v := judge(p.Data.Status, said, c.o.Now())
	switch {
	case p.Name == "MessageAbortedError":
		v = verdict{class: Interrupted}
	case p.Name == "ContextOverflowError":
		v = verdict{class: TooLong}
	case p.Name == "MessageOutputLengthError" || v.class == "":
		v.class = Crashed
	}
	message := p.Data.Message
	if message == "" {
		message = p.Name
	}
	c.fail(v.class, message)
	c.out.RetryAt = v.at
}
