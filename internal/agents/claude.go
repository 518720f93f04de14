package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// claude reads the output of `claude -p --output-format stream-json --verbose`, and of `--output-format json`. It is
// written for the output of versions 2.1.197 and 2.1.329.
type claude struct {
	*run
	result   *claudeEvent // the last result; nil if the agent continued after it
	summed   bool         // results report the usage since the previous result, so they are added up
	pending  Spent        // usage of the messages after the last result, as far as reported
	counted  []string     // ids of the last messages whose usage is in pending
	message  string       // id of the main conversation's last message
	stopped  bool         // claude reported that it was interrupted
	rejected Limited      // the provider's limit that was hit, if any
	problem  string       // claude's error code, from a message that claude wrote in place of the model's answer
	told     string       // the text of that message
}

// claudeUsage has the same fields as Spent, so that Go can convert one to the other.
type claudeUsage struct {
	USD        float64 `json:"-"`
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_input_tokens"`
	CacheWrite int64   `json:"cache_creation_input_tokens"`
}

// claudeModels is the usage by model, with the same fields as Spent.
type claudeModels map[string]struct {
	USD        float64 `json:"costUSD"`
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
}

type claudeEvent struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Version   string `json:"claude_code_version"`
	Replay    bool   `json:"isReplay"` // claude has read this message
	UUID      string `json:"uuid"`

	// fields of messages
	Parent     string `json:"parent_tool_use_id"`
	IsAPIError bool   `json:"is_api_error_message"`
	Message    struct {
		ID      string        `json:"id"`
		Model   string        `json:"model"`
		Content claudeContent `json:"content"`
		Usage   claudeUsage   `json:"usage"`
	} `json:"message"`
	Delta struct {
		Type string `json:"type"`
	} `json:"event"`

	// fields of refused calls, failed requests and limits
	ToolName    string  `json:"tool_name"`
	ToolUseID   string  `json:"tool_use_id"`
	Error       string  `json:"error"`
	ErrorStatus int     `json:"error_status"`
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	RetryDelay  float64 `json:"retry_delay_ms"`
	Limit       struct {
		Status   string   `json:"status"`
		ResetsAt float64  `json:"resetsAt"`
		Type     string   `json:"rateLimitType"`
		Used     *float64 `json:"utilization"`
		Windows  map[string]struct {
			Used float64 `json:"utilization"`
		} `json:"unifiedWindows"`
	} `json:"rate_limit_info"`

	// fields of results
	IsError    bool            `json:"is_error"`
	Result     string          `json:"result"`
	Errors     []string        `json:"errors"`
	Reason     string          `json:"terminal_reason"`
	Stop       string          `json:"stop_reason"`
	Status     int             `json:"api_error_status"`
	Turns      int             `json:"num_turns"`
	USD        float64         `json:"total_cost_usd"`
	Usage      claudeUsage     `json:"usage"`
	All        claudeModels    `json:"modelUsage"`
	Since      claudeModels    `json:"model_usage_since_last_result"`
	Index      *int            `json:"result_index"`
	Structured json.RawMessage `json:"structured_output"`
	Denials    []struct {
		Name  string `json:"tool_name"`
		ID    string `json:"tool_use_id"`
		Input input  `json:"tool_input"`
	} `json:"permission_denials"`
}

type claudeBlock struct {
	Type      string        `json:"type"`
	Text      string        `json:"text"`
	Thinking  string        `json:"thinking"`
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Input     input         `json:"input"`
	ToolUseID string        `json:"tool_use_id"`
	IsError   bool          `json:"is_error"`
	Content   claudeContent `json:"content"` // output of the tool, in a tool result
}

// claudeContent is the list of a message's parts. If the JSON is a plain string, it becomes one text part.
type claudeContent []claudeBlock

// UnmarshalJSON decodes a list or a string. JSON of any other type becomes empty content, and no error.
func (c *claudeContent) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*c = make(claudeContent, 1)
		decode(b, &(*c)[0].Text)
		return nil
	}
	decode(b, (*[]claudeBlock)(c))
	return nil
}

func (c claudeContent) text() string {
	var all []string
	for _, part := range c {
		all = append(all, part.Text)
	}
	return strings.Join(all, "\n")
}

func (c *claude) event(b []byte) {
	var e claudeEvent
	decode(b, &e)
	if c.out.Conversation == "" {
		set(&c.out.Conversation, e.SessionID)
	}
	switch e.Type {
	case "system":
		c.system(e)
	case "assistant":
		c.assistant(e)
	case "user":
		c.user(e)
	case "rate_limit_event":
		c.limit(e)
	case "stream_event": // a piece of a message; the whole message follows
		if e.Delta.Type == "content_block_delta" {
			c.think("")
			return
		}
		c.other()
	case "result":
		c.ending(e)
	default:
		c.other()
	}
}

func (c *claude) system(e claudeEvent) {
	switch e.Subtype {
	case "init":
		c.started(e.SessionID, e.Model, e.Version)
	case "api_retry":
		class := claudeErrors[e.Error]
		if e.ErrorStatus == 401 || e.ErrorStatus == 402 {
			class = judge(e.ErrorStatus, "", 0).class
		}
		if class == Auth && c.turns > 0 && e.Attempt < 2 {
			class = "" // the login has worked in this run, so the agent renews it now
		}
		c.retry(Retrying{e.Attempt, e.MaxRetries, e.ErrorStatus, e.Error, int64(e.RetryDelay)}, class)
	case "permission_denied":
		t := tool(e.ToolUseID, e.ToolName, "")
		if i := c.called(e.ToolUseID); i >= 0 {
			t = c.calls[i]
		}
		c.deny(t)
	case "compact_boundary":
		c.o.Emit(Event{Kind: Compaction})
	default:
		c.other()
	}
}

func (c *claude) assistant(e claudeEvent) {
	m := e.Message
	if m.Model == "<synthetic>" || e.IsAPIError { // claude wrote it in place of the model's answer
		c.problem = bounded(e.Error, maxWord)
		c.told = oneLine(m.Content.text(), maxMessage)
		c.other()
		return
	}
	c.fatal, c.result = "", nil
	if c.out.Model == "" {
		set(&c.out.Model, m.Model)
	}
	if e.Parent == "" && (m.ID == "" || m.ID != c.message) {
		c.message = bounded(m.ID, maxWord)
		c.turns++
	}
	for _, b := range m.Content {
		c.block(b, e.Parent)
	}
	if m.ID == "" || slices.Contains(c.counted, m.ID) {
		return
	}
	// Ids of several messages are stored, because several agents may work at the same time and their messages
	// alternate.
	c.counted = append(c.counted[max(0, len(c.counted)-15):], bounded(m.ID, maxWord))
	c.pending = c.pending.Plus(Spent(m.Usage))
	c.o.Emit(Event{Kind: Usage, Spent: c.out.Spent.Plus(c.pending)}) // without the cost, which only a result has
}

// block handles one part of a message. `parent` is not empty if a subagent wrote the message.
func (c *claude) block(b claudeBlock, parent string) {
	switch b.Type {
	case "text", "":
		last := c.out.Last
		if c.say(b.Text); parent != "" { // a subagent's text is not the agent's last message
			c.out.Last = last
		}
	case "thinking", "redacted_thinking":
		c.think(b.Thinking)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		c.call(tool(b.ID, b.Name, b.Input.detail()))
	default:
		c.other()
	}
}

func (c *claude) user(e claudeEvent) {
	if e.Replay {
		c.out.Structured = nil // an answer from before the message is not the last one
		c.o.Emit(Event{Kind: Taken, Message: bounded(e.UUID, maxWord)})
		return
	}
	known := false
	for _, b := range e.Message.Content {
		switch {
		case b.Type == "tool_result":
			c.back(b.ToolUseID, b.IsError, b.Content.text())
			known = true
		case strings.HasPrefix(b.Text, "[Request interrupted by user"):
			c.stopped = true
		}
	}
	if !known {
		c.other()
	}
}

func (c *claude) limit(e claudeEvent) {
	l := e.Limit
	n := Limited{strings.TrimPrefix(bounded(l.Status, maxWord), "allowed_"), int64(l.ResetsAt),
		bounded(l.Type, maxWord), l.Windows[l.Type].Used}
	if l.Used != nil {
		n.Used = *l.Used
	}
	if c.rejected = (Limited{}); n.Status == "rejected" {
		c.rejected = n
	}
	c.o.Emit(Event{Kind: Limit, Limited: n})
}

// ending handles a result. It need not be the last result: a background task can wake the agent again.
func (c *claude) ending(e claudeEvent) {
	set(&c.out.Conversation, e.SessionID)
	c.result, c.pending, c.counted = &e, Spent{}, nil
	if !e.IsError {
		c.fatal, c.problem, c.told = "", "", ""
		c.out.Last = cmp.Or(words(e.Result), c.out.Last)
	}
	if e.Since != nil {
		c.summed = true
		c.out.Spent = c.out.Spent.Plus(e.Since.sum())
	} else if !c.summed {
		c.out.Spent = c.alone(e)
	}
	if e.Index != nil { // a version whose results report the usage of the whole conversation
		c.out.Total = e.All.sum()
		c.out.Total.USD = e.USD
	}
	if c.turns == 0 && !e.IsError {
		c.out.Turns += e.Turns
	}
	if len(e.Structured) > 0 && !bytes.Equal(e.Structured, []byte("null")) {
		c.out.Structured = e.Structured
	}
	for _, d := range e.Denials {
		c.deny(tool(d.ID, d.Name, d.Input.detail()))
	}
	c.used(c.out.Spent)
	c.run.result(e.Result, e.IsError)
}

// alone returns the usage of this process, from a result that does not report the usage since the previous result.
// Later versions report the usage of the whole conversation there; alone subtracts Options.Before from it.
func (c *claude) alone(e claudeEvent) Spent {
	s := e.All.sum()
	if len(e.All) == 0 {
		s = Spent(e.Usage)
	}
	if s.USD = e.USD; e.Index != nil {
		s = s.since(c.o.Before)
	}
	return s
}

func (m claudeModels) sum() Spent {
	var s Spent
	for _, name := range slices.Sorted(maps.Keys(m)) { // sorted, because the sum of fractions depends on the order
		s = s.Plus(Spent(m[name]))
	}
	return s
}

// claudeEnds maps a result's terminal reason, or else its subtype, to a class. The subtype "success" is not in the map,
// because claude reports it for failed requests, too.
var claudeEnds = map[string]Class{
	"max_turns": Capped, "budget_exhausted": Capped, "error_max_turns": Capped, "error_max_budget_usd": Capped,
	"prompt_too_long": TooLong, "blocking_limit": TooLong, "rapid_refill_breaker": TooLong,
	"aborted_streaming": Interrupted, "aborted_tools": Interrupted, "turn_setup_failed": Config,
	"structured_output_retry_exhausted": NoResult, "error_max_structured_output_retries": NoResult,
}

// claudeErrors maps claude's error codes of failed requests to classes. The code max_output_tokens is not in the map,
// because then the agent failed and not the request.
var claudeErrors = map[string]Class{
	"authentication_failed": Auth, "oauth_org_not_allowed": Auth, "account_on_hold": Auth, "verification_required": Auth,
	"cloud_credential_error": Auth, "billing_error": Billing, "rate_limit": RateLimited, "overloaded": Overloaded,
	"server_error": Overloaded, "unknown": Overloaded, "invalid_request": Config, "model_not_found": Config,
}

// conclusion finds the class of the run. It looks at the last result first. It does not trust exit code 0, because an
// interrupted run may exit with it.
func (c *claude) conclusion(e Exit) {
	c.out.Spent = c.out.Spent.Plus(c.pending)
	switch {
	case c.result != nil:
		c.concluded(e, c.result)
	case c.fatal == "" && c.problem != "":
		c.failure(0, c.told)
	case c.fatal == "" && c.rejected.Status != "" && !e.Stopped:
		c.failed(verdict{LimitHit, c.rejected.ResetsAt}, "the "+c.rejected.Window+" limit is reached")
	case c.stopped:
		c.fail(Interrupted, "")
	default:
		c.ended(e)
	}
}

func (c *claude) concluded(e Exit, r *claudeEvent) {
	said := cmp.Or(r.Result, strings.Join(r.Errors, "; "))
	class := cmp.Or(claudeEnds[r.Reason], claudeEnds[r.Subtype])
	switch {
	case class == Interrupted:
		c.fail(class, "")
	case class != "":
		c.fail(class, said)
	case r.IsError && c.fatal != "":
		c.fail(c.fatal, said)
	case r.IsError && e.Stopped && r.Status == 0 && c.problem == "":
		c.fail(Interrupted, "")
	case r.IsError:
		c.failure(r.Status, said)
	case r.Stop == "refusal":
		c.fail(Refused, said)
	}
}

// failure sets the class of a failed request, from its HTTP status, claude's error code, and the error message.
func (c *claude) failure(status int, said string) {
	v := judge(status, said, c.o.Now())
	if c.rejected.Status != "" && (status == 429 || c.problem == "rate_limit" || v.class == LimitHit) {
		v = verdict{LimitHit, c.rejected.ResetsAt}
	}
	if own := claudeErrors[c.problem]; v.class == "" || own == Auth || own == Billing {
		v.class = own
	}
	c.failed(v, said)
}
