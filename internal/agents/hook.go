package agents

import (
	"encoding/json"
	"io"
)

// Hook is the input of a hook that an agent runs: one action that it is about to do or has done.
type Hook struct {
	Event        string // "PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd"
	Conversation string
	Dir          string // the agent's working directory
	Tool         Tool
	Command      string // the whole command that a tool runs; "" for other tools
	Last         string // the agent's last message, if reported; at most MaxText bytes
	Why          string // why the conversation begins or ends, in the agent's term
	Model        string
}

// maxHook bounds the input of a hook, in bytes: a tool's result may be a large file.
const maxHook = 64 << 20

// ReadHook reads the input that Claude Code gives its hooks. It ignores unknown fields, and fields may be missing.
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
	_ = json.Unmarshal(in.Model, &h.Model) // a name, if there is one
	if in.ToolName != "" {
		var args input
		_ = json.Unmarshal(in.ToolInput, &args) // some tools take other input
		h.Tool = tool(in.ToolID, in.ToolName, args.detail())
		if h.Tool.Action == Runs {
			h.Command, _ = args["command"].(string)
		}
	}
	return h, nil
}
