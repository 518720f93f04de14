package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// modelServer plays the model for real agent programs, in their four API dialects. It has no state of its own: its
// answer depends only on the newest brief in the conversation and on the number of tool calls since, so that a killed
// run and its continuation get the answers that a model would give.
type modelServer struct {
	play func(where modelAt) reply
	// hear gets each request that has tools, before it is answered. May be nil.
	hear func(where modelAt, body jsonMap)

	mu   sync.Mutex
	seen []modelAt
}

// modelAt is the position in a conversation.
type modelAt struct {
	Lap, Phase, Attempt string
	Step                int // tool calls since the brief
	Briefs              int // in this conversation
}

// key returns the position as "1/GREEN/2".
func (p modelAt) key() string { return p.Lap + "/" + p.Phase + "/" + p.Attempt }

// reply is one turn of the model: a tool call, a text, or a failure.
type reply struct {
	Text    string
	Tool    string
	Input   map[string]any
	Status  int     // HTTP status, instead of an answer
	Body    jsonMap // of that response, instead of one made of Text
	Headers map[string]string
	Hang    bool
}

// fillIn adds to a structured answer the required texts that the play does not have.
func (r *reply) fillIn(tools []any) {
	for _, t := range tools {
		tool, _ := t.(jsonMap)
		form, _ := tool["input_schema"].(jsonMap)
		properties, _ := form["properties"].(jsonMap)
		if r.Tool != "StructuredOutput" || tool["name"] != r.Tool {
			continue
		}
		filled := maps.Clone(r.Input)
		for name, of := range properties {
			if kind, _ := of.(jsonMap); kind["type"] == "string" && filled[name] == nil {
				filled[name] = ""
			}
		}
		r.Input = filled
	}
}

// said is one message to the model.
type said struct {
	tool bool // the result of a tool
	text string
}

type jsonMap = map[string]any

var briefHead = regexp.MustCompile(`(?m)^# ([A-Z]+)(?:, lap ([0-9]+)[^,\n]*)?, attempt ([0-9]+)`)

// standingIn returns the position in a conversation, from its messages. The lap stays "0" in a workflow without laps.
func standingIn(all []said) modelAt {
	p := modelAt{Lap: "0"}
	for _, s := range all {
		if s.tool {
			p.Step++
			continue
		}
		for _, m := range briefHead.FindAllStringSubmatch(s.text, -1) {
			if m[2] != "" {
				p.Lap = m[2]
			}
			p.Phase, p.Attempt, p.Step = m[1], m[3], 0
			p.Briefs++
		}
	}
	return p
}

func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body jsonMap
	_ = json.NewDecoder(r.Body).Decode(&body)
	tools, _ := body["tools"].([]any)
	path := r.URL.Path
	turn := func(all []said) (reply, bool) {
		a := reply{Text: `{"title":"aside"}`} // a request without tools is about something else, such as a title
		if len(tools) > 0 {
			where := standingIn(all)
			s.mu.Lock()
			s.seen = append(s.seen, where)
			s.mu.Unlock()
			if s.hear != nil {
				s.hear(where, body)
			}
			a = s.play(where)
			a.fillIn(tools)
		}
		if a.Hang {
			<-r.Context().Done()
			return a, false
		}
		for k, v := range a.Headers {
			w.Header().Set(k, v)
		}
		if a.Status != 0 && a.Body != nil {
			answerJSON(w, a.Status, a.Body)
			return a, false
		}
		if a.Status != 0 {
			answerJSON(w, a.Status, jsonMap{"type": "error", "error": jsonMap{"type": "rate_limit_error", "code": a.Status, "status": "RESOURCE_EXHAUSTED", "message": a.Text}})
			return a, false
		}
		return a, true
	}
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		answerJSON(w, 200, jsonMap{"input_tokens": 10})
	case strings.HasSuffix(path, ":countTokens"):
		answerJSON(w, 200, jsonMap{"totalTokens": 10})
	case strings.HasSuffix(path, "/messages"):
		if a, ok := turn(anthropicSaid(body)); ok {
			anthropicAnswer(w, body, a)
		}
	case strings.HasSuffix(path, "/responses"):
		if a, ok := turn(responsesSaid(body)); ok {
			responsesAnswer(w, body, a)
		}
	case strings.HasSuffix(path, "/chat/completions"):
		if a, ok := turn(chatSaid(body)); ok {
			chatAnswer(w, body, a)
		}
	case strings.Contains(path, "/models/") && strings.Contains(path, ":"):
		if a, ok := turn(geminiSaid(body)); ok {
			geminiAnswer(w, path, a)
		}
	default:
		answerJSON(w, 404, jsonMap{"error": jsonMap{"message": "no such thing here: " + path}})
	}
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// stream returns a function that sends one server-sent event.
func stream(w http.ResponseWriter) func(name string, v any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(200)
	return func(name string, v any) {
		data, _ := json.Marshal(v)
		if name != "" {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
}

func itemsOf(v any) []any { l, _ := v.([]any); return l }

func field(v any, key string) any { m, _ := v.(jsonMap); return m[key] }

// textOf joins the texts of a content, which is one text or a list of parts.
func textOf(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var b strings.Builder
	for _, part := range itemsOf(content) {
		if s, ok := field(part, "text").(string); ok {
			b.WriteString(s + "\n")
		}
	}
	return b.String()
}

// The Messages API of Anthropic.

func anthropicSaid(body jsonMap) (all []said) {
	for _, m := range itemsOf(body["messages"]) {
		if field(m, "role") != "user" {
			continue
		}
		text := textOf(field(m, "content"))
		for _, part := range itemsOf(field(m, "content")) {
			if field(part, "type") == "tool_result" {
				all = append(all, said{tool: true})
			}
		}
		all = append(all, said{text: text})
	}
	return all
}

func anthropicAnswer(w http.ResponseWriter, body jsonMap, a reply) {
	usage := jsonMap{"input_tokens": 1000, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	block, stop := jsonMap{"type": "text", "text": a.Text}, "end_turn"
	if a.Tool != "" {
		block, stop = jsonMap{"type": "tool_use", "id": unique("toolu"), "name": a.Tool, "input": a.Input}, "tool_use"
	}
	message := jsonMap{"id": unique("msg"), "type": "message", "role": "assistant", "model": body["model"], "content": []any{block}, "stop_reason": stop, "usage": usage}
	if body["stream"] != true {
		answerJSON(w, 200, message)
		return
	}
	send := stream(w)
	message["content"], message["stop_reason"] = []any{}, nil
	send("message_start", jsonMap{"type": "message_start", "message": message})
	begin, delta := jsonMap{"type": "text", "text": ""}, jsonMap{"type": "text_delta", "text": a.Text}
	if a.Tool != "" {
		input, _ := json.Marshal(a.Input)
		begin, delta = jsonMap{"type": "tool_use", "id": block["id"], "name": a.Tool, "input": jsonMap{}}, jsonMap{"type": "input_json_delta", "partial_json": string(input)}
	}
	send("content_block_start", jsonMap{"type": "content_block_start", "index": 0, "content_block": begin})
	send("content_block_delta", jsonMap{"type": "content_block_delta", "index": 0, "delta": delta})
	send("content_block_stop", jsonMap{"type": "content_block_stop", "index": 0})
	send("message_delta", jsonMap{"type": "message_delta", "delta": jsonMap{"stop_reason": stop}, "usage": usage})
	send("message_stop", jsonMap{"type": "message_stop"})
}

// The Responses API of OpenAI.

func responsesSaid(body jsonMap) (all []said) {
	for _, item := range itemsOf(body["input"]) {
		switch {
		case strings.HasSuffix(fmt.Sprint(field(item, "type")), "_call_output"):
			all = append(all, said{tool: true})
		case field(item, "role") == "user":
			all = append(all, said{text: textOf(field(item, "content"))})
		}
	}
	return all
}

func responsesAnswer(w http.ResponseWriter, body jsonMap, a reply) {
	item := jsonMap{"type": "message", "id": unique("msg"), "role": "assistant", "status": "completed",
		"content": []any{jsonMap{"type": "output_text", "text": a.Text, "annotations": []any{}}}}
	if a.Tool != "" {
		input, _ := json.Marshal(a.Input)
		item = jsonMap{"type": "function_call", "id": unique("fc"), "call_id": unique("call"), "name": a.Tool, "arguments": string(input), "status": "completed"}
		if space, name, is := strings.Cut(a.Tool, "."); is { // a tool of an MCP server
			item["namespace"], item["name"] = space, name
		}
	}
	id := unique("resp")
	send := stream(w)
	send("response.created", jsonMap{"type": "response.created", "response": jsonMap{"id": id, "object": "response", "status": "in_progress", "output": []any{}}})
	send("response.output_item.added", jsonMap{"type": "response.output_item.added", "output_index": 0, "item": item})
	send("response.output_item.done", jsonMap{"type": "response.output_item.done", "output_index": 0, "item": item})
	send("response.completed", jsonMap{"type": "response.completed", "response": jsonMap{"id": id, "object": "response", "status": "completed", "model": body["model"],
		"output": []any{item}, "usage": jsonMap{"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}}})
}

// The Chat API of OpenAI.

func chatSaid(body jsonMap) (all []said) {
	for _, m := range itemsOf(body["messages"]) {
		switch field(m, "role") {
		case "tool":
			all = append(all, said{tool: true})
		case "user":
			all = append(all, said{text: textOf(field(m, "content"))})
		}
	}
	return all
}

func chatAnswer(w http.ResponseWriter, body jsonMap, a reply) {
	id, finish, delta := unique("chat"), "stop", jsonMap{"role": "assistant", "content": a.Text}
	if a.Tool != "" {
		input, _ := json.Marshal(a.Input)
		finish, delta = "tool_calls", jsonMap{"role": "assistant", "tool_calls": []any{jsonMap{"index": 0, "id": unique("call"), "type": "function",
			"function": jsonMap{"name": a.Tool, "arguments": string(input)}}}}
	}
	usage := jsonMap{"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
	if body["stream"] != true {
		answerJSON(w, 200, jsonMap{"id": id, "object": "chat.completion", "model": body["model"], "choices": []any{jsonMap{"index": 0, "message": delta, "finish_reason": finish}}, "usage": usage})
		return
	}
	send := stream(w)
	chunk := func(delta jsonMap, finish any) jsonMap {
		return jsonMap{"id": id, "object": "chat.completion.chunk", "model": body["model"], "choices": []any{jsonMap{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	send("", chunk(delta, nil))
	last := chunk(jsonMap{}, finish)
	last["usage"] = usage
	send("", last)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// The API of Gemini.

func geminiSaid(body jsonMap) (all []said) {
	for _, c := range itemsOf(body["contents"]) {
		for _, part := range itemsOf(field(c, "parts")) {
			switch {
			case field(part, "functionResponse") != nil:
				all = append(all, said{tool: true})
			case field(c, "role") == "user":
				all = append(all, said{text: fmt.Sprint(field(part, "text"))})
			}
		}
	}
	return all
}

func geminiAnswer(w http.ResponseWriter, path string, a reply) {
	part := jsonMap{"text": a.Text}
	if a.Tool != "" {
		part = jsonMap{"functionCall": jsonMap{"id": unique("fc"), "name": a.Tool, "args": a.Input}}
	}
	v := jsonMap{"candidates": []any{jsonMap{"content": jsonMap{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": jsonMap{"promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 1050}, "modelVersion": "played"}
	if strings.HasSuffix(path, ":streamGenerateContent") {
		stream(w)("", v)
		return
	}
	answerJSON(w, 200, v)
}
