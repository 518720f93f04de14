package proc

// Process is a process as people know it.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // as its command line says, shortened; of unknown origin
	Child   bool   `json:"-"`       // of this process
}

// maxCommand bounds what is shown of a command line, in runes.
const maxCommand = 100

func shortened(command string) string {
	if runes := []rune(command); len(runes) > maxCommand {
		return string(runes[:maxCommand]) + "…"
	}
	return command
}
