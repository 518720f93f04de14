package agents

import (
	"encoding/json"
	"io"
)

// Hook is the input of a hook: a command that the agent runs when it is about to do something, or has done it.
type Hook struct {
	Event        string // "PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd"
	Conversation string
	Dir          string // the agent's working directory
	Tool         Tool
	Command      string // the whole shell command, if the tool runs one; otherwise ""
	Last         string // the agent's last message, if the agent sends it; at most MaxText bytes
	Why          string // why the conversation begins or ends, in the agent's own term
	Model        string
}

// maxHook is the maximum size of a hook's input, in bytes. It is large, because the input may contain a whole file.
const maxHook = 64 << 20

// ReadHook decodes the input that Claude Code sends to its hooks. It ignores unknown fields; missing fields stay empty.
func ReadHook(r io.Reader) (Hook, error) {
	var in struct {
		Event     string          `json:"hook_event_name"`
		Session   string          `json:"session_id"`
		Dir       string          `json:"cwd"`
		ToolName  string          `json:"tool_name"`
		ToolID    string          `json:"tool_use_id"`
		ToolInput json.RawMessage `json:"tool_input"`
		Last      string          `json:"last_assistant_message"`
		Source    string          `json:"source"`
		Reason    string          `json:"reason"`
		Model     json.RawMessage `json:"model"`
	}
	if err := json.NewDecoder(io.LimitReader(r, maxHook)).Decode(&in); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: in.Event, Conversation: in.Session, Dir: in.Dir, Last: bounded(in.Last, MaxText),
		Why: in.Source + in.Reason}
	_ = json.Unmarshal(in.Model, &h.Model) // stays empty if it is not a string
	if in.ToolName != "" {
		var args input
		_ = json.Unmarshal(in.ToolInput, &args) // the input of some tools has another type
		h.Tool = tool(in.ToolID, in.ToolName, args.detail())
		if h.Tool.Action == Runs {
			h.Command, _ = args["command"].(string)
		}
	}
	return h, nil
}
