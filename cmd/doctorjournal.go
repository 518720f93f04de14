package cmd

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

// What the doctor says and does about journals of which an auto-save has more than they have.

// lostJournal looks whether a journal is not there, and the newest auto-save holds what it said.
func (e *examination) lostJournal(id session.ID, tip session.Commit) error {
	a := e.a
	path, err := a.clone.JournalPath(id, tip)
	if err != nil || a.clone.Begun(id, tip) {
		return err
	}
	saved, err := a.eng.SavedEvents(e.ctx, id, tip)
	if err != nil || len(saved) == 0 {
		return nil //nolint:nilerr // said of the objects
	}
	e.add(finding{Level: findWarns, About: "journal", Session: id, Where: path,
		What:    fmt.Sprintf("is missing; the latest backup holds %d %s of it", len(saved), plural(len(saved), "event", "events")),
		Follows: "the next command that uses the session restores them; later ones are lost", Next: repairCommand,
		lock: id, mend: func(ctx context.Context) (string, string, error) {
			n, err := e.giveBack(ctx, id, tip)
			return fmt.Sprintf("%d %s restored", n, plural(n, "event is", "events are")), "", err
		}})
	return nil
}

// giveBack completes a session's journal from its newest auto-save. The caller has the session's lock.
func (e *examination) giveBack(ctx context.Context, id session.ID, tip session.Commit) (int, error) {
	j, err := e.a.clone.Journal(id, tip)
	if err != nil {
		return 0, err
	}
	defer j.Close()
	return e.a.eng.GiveBack(ctx, id, tip, j)
}

// completed completes a damaged journal that was cut back to its beginning, and says so.
func (e *examination) completed(ctx context.Context, id session.ID, path string) (string, error) {
	tip, err := e.a.repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip == "" {
		return "", nil //nolint:nilerr // said of the ref
	}
	if p, err := e.a.clone.JournalPath(id, tip); err != nil || p != path {
		return "", err
	}
	n, err := e.giveBack(ctx, id, tip)
	if err != nil || n == 0 {
		return "", err
	}
	return fmt.Sprintf("; %d more %s restored from the latest backup", n, plural(n, "is", "are")), nil
}
