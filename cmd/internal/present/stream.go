package present

import (
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/session"
)

// Stream is one line of `wfs run --json`: an event that is durable, a line of progress, or the end.
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

// EventLine is an event of a session in a stream.
func EventLine(e session.Event) Stream {
	return Stream{Version: Version, Type: "event", Seq: e.Seq, At: &e.At, Kind: e.Kind(), Data: e.Body}
}

// Facts is what showing a session needs to look up.
type Facts interface {
	// FilesBetween names the files that differ between two trees, with the lines that came and went.
	FilesBetween(from, to session.Tree) string
	// Permission is the word of allow that lets an agent run a command, "" when there is none.
	Permission(agent, command string) string
	// Typed is a command as it has to be typed for a session, "" for the one that this is about, in the work tree at root.
	Typed(command string, id session.ID, root string) string
	// Answer prints a value as JSON on one line.
	Answer(v any) error
}
