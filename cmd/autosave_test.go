package cmd

import (
	"context"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// A gate that takes no time must not keep what an agent has thrown away from getting a ref: the next attempt's auto-save
// replaces the one that holds it.
func TestSaveOfWhatIsGoneIsNotCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the judgement is over
	saved := false
	s := saver{every: time.Hour, now: time.Now, say: func(string) {}, save: func(ctx context.Context, _ string) (session.AutoSaved, error) {
		saved = ctx.Err() == nil
		return session.AutoSaved{}, ctx.Err()
	}}
	if s.once(ctx, true); !saved {
		t.Error("the save was cut short")
	}
}
