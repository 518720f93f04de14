package proc

// Process describes a process for display.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // its command line, shortened; untrusted text
	Child   bool   `json:"-"`       // of this process
}

// maxCommand bounds the displayed command line, in runes.
const maxCommand = 100

func shortened(command string) string {
	if runes := []rune(command); len(runes) > maxCommand {
		return string(runes[:maxCommand]) + "…"
	}
	return command
}
