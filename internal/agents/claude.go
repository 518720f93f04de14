package agents

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// claude reads `claude -p --output-format stream-json --verbose`, and what `--output-format json` prints. Written by what
// 2.1.197 and 2.1.329 print.
type claude struct {
	reading
	results  int
	result   claudeResult // the last one
	busy     bool         // since then
	summed   bool         // results tell what was used since the one before
	spent    Spent        // by the results
	pending  Spent        // by messages after the last result, as far as it is known
	message  string       // id of the last message of the main conversation
	turns    int          // messages of the main conversation
	stopped  bool         // it says that it was interrupted
	rejected Limited      // the limit that is hit
	problem  string       // its word for an error that it met in place of an answer
	told     string       // and what it says about it
	counted  []string     // ids of the last messages whose usage is in pending
}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

type claudeModelUsage struct {
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
	USD        float64 `json:"costUSD"`
}

type claudeEvent struct {
	Type         string        `json:"type"`
	Subtype      string        `json:"subtype"`
	SessionID    string        `json:"session_id"`
	Parent       string        `json:"parent_tool_use_id"`
	Model        string        `json:"model"`
	Version      string        `json:"claude_code_version"`
	Message      claudeMessage `json:"message"`
	Error        string        `json:"error"`
	IsAPIError   bool          `json:"is_api_error_message"`
	ToolName     string        `json:"tool_name"`
	ToolUseID    string        `json:"tool_use_id"`
	Attempt      int           `json:"attempt"`
	MaxRetries   int           `json:"max_retries"`
	RetryDelay   float64       `json:"retry_delay_ms"`
	ErrorStatus  int           `json:"error_status"`
	Limit        claudeLimit   `json:"rate_limit_info"`
	StreamedKind struct {
		Type string `json:"type"`
	} `json:"event"`
}

type claudeLimit struct {
	Status   string   `json:"status"`
	ResetsAt float64  `json:"resetsAt"`
	Type     string   `json:"rateLimitType"`
	Used     *float64 `json:"utilization"`
	Windows  map[string]struct {
		Used float64 `json:"utilization"`
	} `json:"unifiedWindows"`
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Usage   claudeUsage     `json:"usage"`
}

type claudeBlock struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Input     input  `json:"input"`
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`

	Content json.RawMessage `json:"content"` // of a tool's result
}

// said is the text of a tool's result.
func (b claudeBlock) said() string {
	if !b.IsError {
		return ""
	}
	var all []string
	for _, part := range blocks(b.Content) {
		all = append(all, part.Text)
	}
	return strings.Join(all, "\n")
}

type claudeResult struct {
	Subtype    string                      `json:"subtype"`
	IsError    bool                        `json:"is_error"`
	Result     string                      `json:"result"`
	Errors     []string                    `json:"errors"`
	Reason     string                      `json:"terminal_reason"`
	Stop       string                      `json:"stop_reason"`
	Status     int                         `json:"api_error_status"`
	Turns      int                         `json:"num_turns"`
	USD        float64                     `json:"total_cost_usd"`
	Usage      claudeUsage                 `json:"usage"`
	All        map[string]claudeModelUsage `json:"modelUsage"`
	Since      map[string]claudeModelUsage `json:"model_usage_since_last_result"`
	Index      *int                        `json:"result_index"`
	Structured json.RawMessage             `json:"structured_output"`
	Denials    []struct {
		Name  string `json:"tool_name"`
		ID    string `json:"tool_use_id"`
		Input input  `json:"tool_input"`
	} `json:"permission_denials"`
}

func newClaude(o Options) Decoder {
	c := &claude{}
	c.start(o, c.object)
	return c
}

func (c *claude) object(b []byte) {
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
		c.limit(e.Limit)
	case "stream_event": // pieces of messages that come as a whole as well
		if e.StreamedKind.Type == "content_block_delta" {
			c.think("")
			return
		}
		c.other()
	case "result":
		set(&c.out.Conversation, e.SessionID)
		c.ending(b)
	default:
		c.other()
	}
}

func (c *claude) system(e claudeEvent) {
	switch e.Subtype {
	case "init":
		c.begin(e.SessionID, e.Model, e.Version)
	case "api_retry":
		class := claudeWord(e.Error)
		if e.ErrorStatus == 401 || e.ErrorStatus == 402 {
			class = judge(e.ErrorStatus, "", 0).class
		}
		if class == Auth && c.turns > 0 && e.Attempt < 2 {
			class = "" // a login that worked so far is renewed after a refusal
		}
		c.retry(Retrying{Attempt: e.Attempt, Of: e.MaxRetries, Status: e.ErrorStatus, Error: e.Error, DelayMillis: int64(e.RetryDelay)}, class)
	case "permission_denied":
		t, ok := c.called(e.ToolUseID)
		if !ok {
			t.Name, t.Action = bounded(e.ToolName, maxWord), actionOf(e.ToolName)
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
	if m.Model == "<synthetic>" || e.IsAPIError { // what it says in place of an answer
		c.problem = bounded(e.Error, maxWord)
		for _, b := range blocks(m.Content) {
			c.told = oneLine(b.Text, maxMessage)
		}
		c.other()
		return
	}
	c.fatal, c.busy = "", true
	if c.out.Model == "" {
		set(&c.out.Model, m.Model)
	}
	if e.Parent == "" && (m.ID == "" || m.ID != c.message) {
		c.message = bounded(m.ID, maxWord)
		c.turns++
	}
	for _, b := range blocks(m.Content) {
		switch b.Type {
		case "text":
			c.say(b.Text, e.Parent == "")
		case "thinking", "redacted_thinking":
			c.think(b.Thinking)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			c.call(b.ID, b.Name, actionOf(b.Name), b.Input.detail())
		default:
			c.other()
		}
	}
	c.use(m)
}

// use counts what a message used up, once for all of its blocks. Only the result knows what it cost.
func (c *claude) use(m claudeMessage) {
	if m.ID == "" || slices.Contains(c.counted, m.ID) {
		return
	}
	if len(c.counted) == 16 { // agents that work at the same time
		c.counted = append(c.counted[:0], c.counted[1:]...)
	}
	c.counted = append(c.counted, bounded(m.ID, maxWord))
	c.pending = add(c.pending, m.Usage.spent())
	c.o.Emit(Event{Kind: Usage, Spent: add(c.spent, c.pending)})
}

// blocks are the parts of a message, which may be a plain string.
func blocks(content json.RawMessage) []claudeBlock {
	var s string
	if bytes.HasPrefix(content, []byte{'"'}) {
		decode(content, &s)
		return []claudeBlock{{Type: "text", Text: s}}
	}
	var list []claudeBlock
	decode(content, &list)
	return list
}

func (c *claude) user(e claudeEvent) {
	known := false
	for _, b := range blocks(e.Message.Content) {
		switch {
		case b.Type == "tool_result":
			c.back(b.ToolUseID, b.IsError, b.said())
			known = true
		case strings.HasPrefix(b.Text, "[Request interrupted by user"):
			c.stopped = true
		}
	}
	if !known {
		c.other()
	}
}

func (c *claude) limit(l claudeLimit) {
	n := Limited{Status: bounded(l.Status, maxWord), ResetsAt: int64(l.ResetsAt), Window: bounded(l.Type, maxWord)}
	if l.Used != nil {
		n.Used = *l.Used
	} else {
		n.Used = l.Windows[l.Type].Used
	}
	n.Status = strings.TrimPrefix(n.Status, "allowed_")
	if c.rejected = (Limited{}); n.Status == "rejected" {
		c.rejected = n
	}
	c.o.Emit(Event{Kind: Limit, Limited: n})
}

// ending reads a result. There may be more to come: a task in the background wakes the agent again.
func (c *claude) ending(b []byte) {
	var r claudeResult
	decode(b, &r)
	c.results++
	c.result, c.busy, c.pending, c.counted = r, false, Spent{}, nil
	if !r.IsError {
		c.fatal, c.problem, c.told = "", "", ""
	}
	if r.Since != nil {
		c.summed = true
		c.spent = add(c.spent, sum(r.Since))
	} else if !c.summed {
		c.spent = c.alone(r)
	}
	if r.Index != nil { // since then it counts whole conversations
		c.out.Total = sum(r.All)
		c.out.Total.USD = r.USD
	}
	if c.turns == 0 && !r.IsError {
		c.out.Turns += r.Turns
	}
	if len(r.Structured) > 0 && !bytes.Equal(r.Structured, []byte("null")) {
		c.out.Structured = bytes.Clone(r.Structured)
	}
	for _, d := range r.Denials {
		c.deny(Tool{ID: bounded(d.ID, maxWord), Name: bounded(d.Name, maxWord), Action: actionOf(d.Name), Detail: oneLine(d.Input.detail(), MaxDetail)})
	}
	if !r.IsError {
		if s := strings.TrimSpace(bounded(r.Result, MaxText)); s != "" {
			c.out.Last = s
		}
	}
	c.o.Emit(Event{Kind: Usage, Spent: c.spent})
	c.o.Emit(Event{Kind: Result, Text: strings.TrimSpace(bounded(r.Result, MaxText)), Failed: r.IsError})
}

// alone is what a process used up by a result that does not tell what is new. Later versions count the conversation.
func (c *claude) alone(r claudeResult) Spent {
	s := sum(r.All)
	if len(r.All) == 0 {
		s = r.Usage.spent()
	}
	s.USD = r.USD
	if r.Index != nil {
		s = less(s, c.o.Before)
	}
	return s
}

func (u claudeUsage) spent() Spent {
	return Spent{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}

func sum(models map[string]claudeModelUsage) Spent {
	var s Spent
	for _, name := range slices.Sorted(maps.Keys(models)) { // in order: sums of fractions depend on it
		u := models[name]
		s = add(s, Spent{USD: u.USD, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	return s
}
