package proc

// Process describes a process for messages.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // the command line, shortened; untrusted text
	Child   bool   `json:"-"`       // it is a child of this process
}

// maxCommand is the maximum length of a displayed command line, in characters.
const maxCommand = 100

func shortened(command string) string {
	if runes := []rune(command); len(runes) > maxCommand {
		return string(runes[:maxCommand]) + "…"
	}
	return command
}
