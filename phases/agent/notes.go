package agent

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
)

// ListensFile exists in a run's directory as long as a note that is posted now will be passed to the run's agent.
const ListensFile = "listens"

const (
	// lookForNotes is how often the inbox is read for the agent.
	lookForNotes = 500 * time.Millisecond
	// maxPassed limits the notes for one run: an agent could leave notes for itself without end.
	maxPassed = 20
)

// listens reports whether the agent of a run takes notes while it works. A reviewer gets none, because the agent under
// review may have written one.
func listens(req session.RunRequest) bool {
	return len(req.Plan.Agent.Card.Messages) > 0 && req.Phase.Review == nil
}

// notes passes notes from the inbox to an agent that reads messages while it works. Nothing is removed from the inbox:
// until the journal has a note, the next attempt can still get it. A nil *notes does nothing.
type notes struct {
	*attempt
	in     *messages
	file   string
	mu     sync.Mutex
	passed map[string]string // ids of requests by the ids of their messages
	taken  []string          // ids of requests whose notes the agent has read
	over   bool              // no further note is passed
	ended  chan struct{}
}

// newNotes begins to pass notes to the agent. Its messages begin with the brief.
func (a *attempt) newNotes(brief []byte) (*notes, error) {
	n := &notes{attempt: a, in: newMessages(brief), file: filepath.Join(a.req.RunDir, ListensFile),
		passed: map[string]string{}, ended: make(chan struct{})}
	if err := durable.WriteCache(n.file, nil, 0o600); err != nil {
		return nil, err
	}
	go func() {
		tick := time.NewTicker(lookForNotes)
		defer tick.Stop()
		for {
			select {
			case <-n.ended:
				return
			case <-tick.C:
				n.look()
			}
		}
	}()
	return n, nil
}

// look passes new notes to the agent.
func (n *notes) look() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over {
		return
	}
	n.pass()
	if len(n.passed) >= maxPassed {
		n.last()
	}
}

// pass passes the notes in the inbox that the agent has not got, and returns how many.
func (n *notes) pass() (passed int) {
	if n.Pending == nil {
		return 0
	}
	pending, _ := n.Pending(n.req.Session.ID) // if the inbox cannot be read, the next attempt gets them
	for _, r := range pending {
		id := conversationID(n.req.Started.RunID+r.ID, 0)
		if _, known := n.passed[id]; known || r.Kind != session.RequestNote {
			continue
		}
		n.passed[id] = r.ID
		passed++
		n.in.add(agents.Message(id, n.Secrets.String(brief.Added(n.req, r.Text))))
	}
	return passed
}

// last stops listening. It looks into the inbox after it has removed the file: a note from before then is passed. It
// returns how many notes it has passed.
func (n *notes) last() int {
	n.over = true
	_ = os.Remove(n.file)
	return n.pass()
}

// turnEnded is called when the agent has ended its turn. Without a new note its input then ends, and it exits after it
// has read what it has got. After a failure it gets no further note.
func (n *notes) turnEnded(failed bool) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	more := !n.over && !failed && n.last() > 0
	if more && len(n.passed) < maxPassed && durable.WriteCache(n.file, nil, 0o600) == nil {
		n.over = false
	} else {
		n.over = true
		_ = os.Remove(n.file)
		n.in.end()
	}
}

// read records that the agent has read a message. It returns false if the message is not a note.
func (n *notes) read(message string) bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	request, ok := n.passed[message]
	if ok && !slices.Contains(n.taken, request) {
		n.taken = append(n.taken, request)
	}
	return ok
}

// end ends the passing of notes. It returns the ids of the requests whose notes the agent has read.
func (n *notes) end() []string {
	if n == nil {
		return nil
	}
	close(n.ended)
	n.turnEnded(true)
	return n.taken
}

// messages are the standard input of an agent. A Read waits for the next message, an add waits for nothing.
type messages struct {
	mu    sync.Mutex
	more  sync.Cond
	text  []byte
	ended bool
}

func newMessages(first []byte) *messages {
	m := &messages{text: first}
	m.more.L = &m.mu
	return m
}

func (m *messages) add(text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = append(m.text, text...)
	m.more.Broadcast()
}

func (m *messages) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.more.Broadcast()
}

// Read returns io.EOF after the last message.
func (m *messages) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.text) == 0 && !m.ended {
		m.more.Wait()
	}
	if len(m.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.text)
	m.text = m.text[n:]
	return n, nil
}
