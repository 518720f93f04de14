package present

import (
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/session"
)

// Stream is one line of the output of `wfs run --json`: an event of the session, an event of the agent, a line of
// progress, or the end.
type Stream struct {
	Version int           `json:"version"`
	Type    string        `json:"type"` // event, agent, progress or end
	Seq     int64         `json:"seq,omitempty"`
	At      *time.Time    `json:"at,omitempty"`
	Kind    session.Kind  `json:"kind,omitempty"`
	Data    session.Body  `json:"data,omitempty"`
	Agent   *agents.Event `json:"agent,omitempty"`
	Text    string        `json:"text,omitempty"`
	Session *Session      `json:"session,omitempty"`
	Exit    *int          `json:"exit,omitempty"`
}

// EventLine returns a session's event as a line of the JSON stream.
func EventLine(e session.Event) Stream {
	return Stream{Version: Version, Type: "event", Seq: e.Seq, At: &e.At, Kind: e.Kind(), Data: e.Body}
}

// Facts looks up facts that are not part of a session, and prints JSON. Package cmd implements it.
type Facts interface {
	// FilesBetween describes in one line the files that differ between two trees, with the numbers of added and removed
	// lines.
	FilesBetween(from, to session.Tree) string
	// Permission returns the entry for `allow:` in the configuration that lets an agent run a command. It returns "" if
	// there is no such entry.
	Permission(agent, command string) string
	// Typed returns a wfs command in the form in which the user has to type it: with the session's name, and with the
	// work tree at `root` if needed. An empty id stands for the session that this command line is about.
	Typed(command string, id session.ID, root string) string
	// Answer prints a value as JSON on one line.
	Answer(v any) error
}
