package agents

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// gemini reads the output of `gemini -o stream-json`. It is written for the output of version 0.61.0.
type gemini struct {
	*run
	message string       // the model's current message, at most MaxText bytes
	shown   int          // length of the part of message that was emitted already
	step    bool         // the model's current answer is counted already
	last    *geminiEvent // the result; nil if the agent continued after it
	problem string       // message of the last error event
}

type geminiEvent struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Role      string `json:"role"`
	Content   string `json:"content"`
	ToolName  string `json:"tool_name"`
	ToolID    string `json:"tool_id"`
	Input     input  `json:"parameters"`
	Status    string `json:"status"`
	Message   string `json:"message"`
	Severity  string `json:"severity"`
	Error     struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Total  int64 `json:"total_tokens"`
		Input  int64 `json:"input_tokens"` // including tokens from a cache
		Output int64 `json:"output_tokens"`
		Cached int64 `json:"cached"`
	} `json:"stats"`
}

func (g *gemini) event(b []byte) {
	var e geminiEvent
	decode(b, &e)
	if e.Type == "message" && e.Role != "user" {
		g.answers()
		g.hear(e.Content)
		return
	}
	g.spoken()
	failed := e.Status != "success"
	switch e.Type {
	case "init":
		g.started(e.SessionID, e.Model, "")
	case "tool_use":
		g.answers()
		g.call(tool(e.ToolID, e.ToolName, e.Input.detail()))
	case "tool_result":
		g.returned(e, failed)
	case "error":
		if e.Severity != "warning" {
			g.problem = oneLine(e.Message+e.Error.Message, maxMessage)
		}
		g.other()
	case "result":
		g.last = &e
		s := e.Stats
		// Tokens in the total that are neither input nor output are for thoughts, which cost as much as output.
		g.used(Spent{Input: max(0, s.Input-s.Cached), CacheRead: s.Cached, Output: max(s.Output, s.Total-s.Input)})
		g.result(g.out.Last, failed)
	default:
		g.other()
	}
}

func (g *gemini) returned(e geminiEvent, failed bool) {
	g.step = false
	if t := g.back(e.ToolID, failed, e.Error.Message); failed && withheld(t, e) {
		g.deny(t)
	}
}

// answers counts the model's answers. Everything that the model writes before it gets the results of its tool calls is
// one answer.
func (g *gemini) answers() {
	if g.last = nil; !g.step {
		g.turns++
	}
	g.step = true
}

// hear adds a piece to the current message, and emits the lines that are complete.
func (g *gemini) hear(piece string) {
	g.message = bounded(g.message+piece, MaxText)
	if i := strings.LastIndexByte(g.message[g.shown:], '\n'); i > 0 {
		g.say(g.message[g.shown : g.shown+i])
		g.shown += i + 1
		return
	}
	g.other()
}

// spoken emits the rest of the current message, and ends it.
func (g *gemini) spoken() {
	if rest := words(g.message[g.shown:]); rest != "" {
		g.say(rest)
	}
	if whole := words(g.message); whole != "" {
		g.out.Last = whole
	}
	g.message, g.shown = "", 0
}

// withheld reports whether a tool call failed for lack of a permission. A tool that gemini does not know may be such a
// case: tools that run commands or write files exist only in modes that approve them.
func withheld(t Tool, e geminiEvent) bool {
	said := strings.ToLower(e.Error.Type + " " + e.Error.Message)
	return strings.Contains(said, "denied by policy") || strings.Contains(said, "policy_violation") ||
		e.Error.Type == "tool_not_registered" && slices.Contains([]Action{Runs, Writes}, t.Action)
}

// geminiExits maps gemini's own exit codes to classes.
var geminiExits = map[int]Class{
	41: Auth, 42: Config, 44: Config, 52: Config, 53: Capped, 55: Config, 130: Interrupted,
}

// conclusion finds the class of the run, first from the result, then from the exit code.
func (g *gemini) conclusion(e Exit) {
	g.spoken()
	switch {
	case g.last != nil && g.last.Status == "success":
		if g.turns == 0 && g.out.Spent == (Spent{}) {
			g.nothing(e)
		}
	case g.last != nil:
		g.failure(e, g.last.Error.Type+" "+g.last.Error.Message, g.last.Error.Message)
	case e.Stopped:
		g.cut(e)
	case e.Code != 0 && g.problem != "":
		g.failure(e, g.problem, g.problem)
	case e.Code != 0 && e.Signal == "":
		g.failure(e, e.Stderr, "")
	default:
		g.ended(e)
	}
}

func (g *gemini) failure(e Exit, said, message string) {
	v := judge(0, said, g.o.Now())
	own := cmp.Or(geminiExits[e.Code], judge(e.Code+256, "", 0).class) // it may exit with the HTTP status modulo 256
	if v.class == "" || own != "" && e.Code < 128 {
		v.class = own
	}
	if message == "" {
		message = telling(said, v.class)
	}
	if strings.Contains(said, "daily quota") { // the message does not say when
		v.at = quotaDay(time.Unix(g.o.Now(), 0))
	}
	g.failed(v, message)
}

// cut finds the class of a run that wfs stopped. If the run was repeating a failed request, the class is that
// failure's. Gemini repeats for minutes, and reports it only on standard error.
func (g *gemini) cut(e Exit) {
	i := strings.LastIndex(e.Stderr, "failed with status ")
	if i < 0 || !strings.Contains(e.Stderr[i:], "Retrying with backoff") {
		g.fail(Interrupted, "")
		return
	}
	line, _, _ := strings.Cut(e.Stderr[i:], "\n")
	g.failed(judge(0, line, g.o.Now()), "a request "+line)
}

// nothing finds the class of a run that reports success, although the model gave no answer. If gemini cannot read a
// setting, it sends no request and exits with 0.
func (g *gemini) nothing(e Exit) {
	if _, said, found := strings.Cut(e.Stderr, "Invalid configuration in "); found {
		said, _, _ = strings.Cut(said, "Please fix")
		g.fail(Config, "Invalid configuration in "+said)
		return
	}
	v := judge(0, e.Stderr, g.o.Now())
	if v.class == "" {
		g.fail(NoResult, "no request reached the model")
		return
	}
	g.failed(v, telling(e.Stderr, v.class))
}
