package present

import (
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/session"
)

// Stream is one line of `wfs run --json`: a durable event, an agent event, a line of progress, or the end.
type Stream struct {
	Version int           `json:"version"`
	Type    string        `json:"type"` // event, agent, progress, end
	Seq     int64         `json:"seq,omitempty"`
	At      *time.Time    `json:"at,omitempty"`
	Kind    session.Kind  `json:"kind,omitempty"`
	Data    session.Body  `json:"data,omitempty"`
	Agent   *agents.Event `json:"agent,omitempty"`
	Text    string        `json:"text,omitempty"`
	Session *Session      `json:"session,omitempty"`
	Exit    *int          `json:"exit,omitempty"`
}

// EventLine is a session event as a line of the stream.
func EventLine(e session.Event) Stream {
	return Stream{Version: Version, Type: "event", Seq: e.Seq, At: &e.At, Kind: e.Kind(), Data: e.Body}
}

// Facts looks up facts that a session does not contain.
type Facts interface {
	// FilesBetween names the files that differ between two trees, with counts of added and removed lines.
	FilesBetween(from, to session.Tree) string
	// Permission is the entry for `allow:` that lets an agent run a command, "" if there is none.
	Permission(agent, command string) string
	// Typed is a command as the user has to type it for a session, "" for the session of this command, in the work tree
	// at root.
	Typed(command string, id session.ID, root string) string
	// Answer prints a value as JSON on one line.
	Answer(v any) error
}
