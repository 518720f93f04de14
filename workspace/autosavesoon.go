package workspace

import (
	"regexp"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
)

const (
	saveEveryCalls = 20               // tool calls
	saveAfterWrite = 10 * time.Second // from one file that was written to the next that counts
)

// overwrites is a redirection into a file.
var overwrites = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^>&\d-])>\s*[^>&\s|]`) })

// risky tells commands that may throw work away. All others are saved with everything else, when it is time.
func risky(command string) bool {
	return agents.Risk(command) != "" || overwrites().MatchString(command)
}

// watchful asks for auto-saves by what an agent does. A call of a tool is told when it begins, so that a save before a
// command that throws work away is a race: mostly won, because the command has to be started first, and never promised.
type watchful struct {
	mu    sync.Mutex
	now   func() time.Time
	calls int
	saved time.Time // when the files were safe, as far as is known here
	soon  func(why string)
}

// saving says whom to ask from now on; nil: nobody saves.
func (w *watchful) saving(soon func(why string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon, w.calls, w.saved = soon, 0, w.now() // what is there now is in a checkpoint
}

func (w *watchful) event(e agents.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why := w.reason(e); why != "" && w.soon != nil {
		w.calls, w.saved = 0, w.now()
		w.soon(why)
	}
}

func (w *watchful) reason(e agents.Event) string {
	switch e.Kind {
	case agents.ToolCall:
		w.calls++
		if e.Tool.Action == agents.Runs && risky(e.Tool.Detail) {
			return "before a command that may throw work away"
		}
		if w.calls >= saveEveryCalls {
			return "after 20 tool calls"
		}
	case agents.ToolResult:
		if e.Tool.Action == agents.Writes && !e.Failed && w.now().Sub(w.saved) >= saveAfterWrite {
			return "after a file was written"
		}
	}
	return ""
}
