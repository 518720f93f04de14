package session

import (
	"cmp"
	"time"
)

// Row is what a list prints of a session, under the names that the JSON of a session has for people.
func (s *Session) Row() map[string]any {
	return map[string]any{"id": s.ID, "title": cmp.Or(s.Title, s.Goal), "status": s.Status, "phase": s.Phase, "lap": s.Lap,
		"items": len(s.Items), "items_done": len(s.Items) - len(s.OpenItems()), "updated_at": time.Unix(s.UpdatedAt, 0).UTC()}
}
