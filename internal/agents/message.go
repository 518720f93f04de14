package agents

import "encoding/json"

// Message returns a message to an agent that reads messages while it works, as a line for its standard input. The form
// is that of claude, whose decoder emits Taken with the id, a UUID, when the agent has read it. The id may be empty.
func Message(id, text string) []byte {
	m := map[string]any{"type": "user", "message": map[string]string{"role": "user", "content": text}}
	if id != "" {
		m["uuid"] = id
	}
	line, _ := json.Marshal(m) // cannot fail for strings
	return append(line, '\n')
}
