package agents

import (
	"encoding/json"
	"io"
)

// Hook is what an agent tells a program that it calls while it works: one thing that it is about to do or has done.
type Hook struct {
	Event        string // "PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd"
	Conversation string
	Dir          string // where the agent works
	Tool         Tool
	Command      string // all of the command that a tool runs, "" for other tools
	Last         string // what the agent said at last, where it tells; at most MaxText bytes
	Why          string // why the conversation began or ends, in the agent's word
	Model        string
}

// maxHook bounds what is read of a hook, in bytes: what a tool answered may be a large file.
const maxHook = 64 << 20

// ReadHook reads what Claude Code gives its hooks. Fields that it does not know pass; those that it knows may
// be missing.
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
	_ = json.Unmarshal(in.Model, &h.Model) // a name, where there is one
	if in.ToolName != "" {
		var args input
		_ = json.Unmarshal(in.ToolInput, &args) // of a tool that takes something else
		h.Tool = tool(in.ToolID, in.ToolName, args.detail())
		if h.Tool.Action == Runs {
			h.Command, _ = args["command"].(string)
		}
	}
	return h, nil
}
