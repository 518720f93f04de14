package agents

import (
	"slices"
	"strings"
)

// gemini reads `gemini -o stream-json`. Written by what 0.61.0 prints.
type gemini struct {
	reading
	words   []byte // of the present message, at most MaxText
	shown   int    // how much of them is passed on
	speaks  bool
	step    bool // the present answer of the model is counted
	turns   int
	result  *geminiEvent // the last one
	busy    bool         // since then
	problem string       // what an error event says
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
		Input  int64 `json:"input_tokens"` // with those from a cache
		Output int64 `json:"output_tokens"`
		Cached int64 `json:"cached"`
	} `json:"stats"`
}

func newGemini(o Options) Decoder {
	g := &gemini{}
	g.start(o, g.object)
	return g
}

func (g *gemini) object(b []byte) {
	var e geminiEvent
	decode(b, &e)
	if e.Type != "message" {
		g.spoken()
	}
	switch e.Type {
	case "init":
		g.begin(e.SessionID, e.Model, "")
	case "message":
		if e.Role == "user" {
			g.spoken()
			g.other()
			return
		}
		g.model()
		g.hear(e.Content)
	case "tool_use":
		g.model()
		g.call(e.ToolID, e.ToolName, actionOf(e.ToolName), e.Input.detail())
	case "tool_result":
		g.step = false
		t := g.back(e.ToolID, e.Status != "success", e.Error.Message)
		if e.Status != "success" && withheld(t, e) {
			g.deny(t)
		}
	case "error":
		if e.Severity != "warning" {
			g.problem = oneLine(e.Message+e.Error.Message, maxMessage)
		}
		g.other()
	case "result":
		g.result, g.busy = &e, false
		s := e.Stats
		// What is beyond input and output are thoughts, which cost as much as output.
		g.out.Spent = Spent{Input: max(0, s.Input-s.Cached), CacheRead: s.Cached, Output: max(s.Output, s.Total-s.Input)}
		g.o.Emit(Event{Kind: Usage, Spent: g.out.Spent})
		g.o.Emit(Event{Kind: Result, Text: g.out.Last, Failed: e.Status != "success"})
	default:
		g.other()
	}
}

// model counts the answers of the model: what it says and calls up to the results.
func (g *gemini) model() {
	g.busy = true
	if !g.step {
		g.turns++
	}
	g.step = true
}

// hear puts a message together, which comes in pieces, and passes on its lines.
func (g *gemini) hear(piece string) {
	if !g.speaks {
		g.words, g.shown, g.speaks = g.words[:0], 0, true
	}
	if room := MaxText - len(g.words); len(piece) > room {
		piece = piece[:room]
	}
	g.words = append(g.words, piece...)
	if i := strings.LastIndexByte(string(g.words[g.shown:]), '\n'); i > 0 {
		g.say(string(g.words[g.shown:g.shown+i]), true)
		g.shown += i + 1
		return
	}
	g.other()
}

// spoken ends the present message.
func (g *gemini) spoken() {
	if !g.speaks {
		return
	}
	g.speaks = false
	if rest := strings.TrimSpace(string(g.words[g.shown:])); rest != "" {
		g.say(rest, true)
	}
	if whole := strings.TrimSpace(bounded(string(g.words), MaxText)); whole != "" {
		g.out.Last = whole
	}
}

// withheld tells a call that was not permitted: without a mode that approves them, the tools that run commands or write
// files do not exist.
func withheld(t Tool, e geminiEvent) bool {
	said := strings.ToLower(e.Error.Type + " " + e.Error.Message)
	if strings.Contains(said, "denied by policy") || strings.Contains(said, "policy_violation") {
		return true
	}
	acts := slices.Contains([]Action{Runs, Writes}, t.Action)
	return acts && e.Error.Type == "tool_not_registered"
}

// End concludes: from the result, then from the exit code, in which gemini puts the status of a failed request modulo 256.
func (g *gemini) End(e Exit) Outcome {
	g.end()
	g.spoken()
	g.out.Turns = g.turns
	g.out.Class = OK
	switch {
	case g.result != nil && !g.busy && g.result.Status == "success":
		switch {
		case len(g.out.Denials) > 0:
			g.fail(Denied, "not permitted: "+names(g.out.Denials))
		case g.turns == 0 && g.out.Spent == Spent{}:
			g.nothing(e)
		}
	case g.result != nil && !g.busy:
		g.failure(e, g.result.Error.Type+" "+g.result.Error.Message, g.result.Error.Message)
	case e.Stopped:
		g.cut(e)
	case g.problem != "" && e.Code != 0:
		g.failure(e, g.problem, g.problem)
	case e.Code != 0 && e.Signal == "":
		g.failure(e, e.Stderr, "")
	default:
		g.ended(e)
	}
	return g.out
}

// geminiCodes are its own exit codes.
func geminiCode(code int) Class {
	switch code {
	case 41:
		return Auth
	case 42, 44, 52, 55: // input, sandbox, settings, folder that is not trusted
		return Config
	case 53:
		return Capped
	case 130:
		return Interrupted
	}
	for _, status := range []int{400, 401, 403, 404, 429, 500, 502, 503, 504} {
		if code == status%256 {
			return judge(status, "", 0).class
		}
	}
	return ""
}

func (g *gemini) failure(e Exit, said, message string) {
	v := judge(0, said, g.o.Now())
	if own := geminiCode(e.Code); v.class == "" || own != "" && e.Code < 128 {
		v.class = own
	}
	if message == "" {
		message = telling(said, v.class)
	}
	if strings.Contains(said, "daily quota") { // it tells no time
		v.at = quotaDay(g.o.Now())
	}
	switch {
	case strings.Contains(strings.ToLower(said), "max session turns") || strings.Contains(said, "maximum session turns"):
		v = verdict{class: Capped}
	case v.class == "":
		v.class = Crashed
	}
	g.fail(v.class, message)
	g.out.RetryAt = v.at
}

// cut looks at a run that we stopped. Requests that fail are repeated for minutes, and only standard error tells of it.
func (g *gemini) cut(e Exit) {
	i := strings.LastIndex(e.Stderr, "failed with status ")
	if i < 0 || !strings.Contains(e.Stderr[i:], "Retrying with backoff") {
		g.fail(Interrupted, "")
		return
	}
	line, _, _ := strings.Cut(e.Stderr[i:], "\n")
	v := judge(0, line, g.o.Now())
	g.fail(v.class, "a request "+line)
	g.out.RetryAt = v.at
}

// nothing looks at a run that is told to be a success and in which the model did not say a word: with a setting that gemini
// cannot read it asks nobody, and ends with 0.
func (g *gemini) nothing(e Exit) {
	v := judge(0, e.Stderr, g.o.Now())
	at := strings.Index(e.Stderr, "Invalid configuration in ")
	switch {
	case at >= 0:
		v = verdict{class: Config}
		said, _, _ := strings.Cut(e.Stderr[at:], "Please fix")
		g.fail(Config, said)
	case v.class != "":
		g.fail(v.class, telling(e.Stderr, v.class))
	default:
		g.fail(NoResult, "no request reached the model")
	}
	g.out.RetryAt = v.at
}
