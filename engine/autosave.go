package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// AutoSaver saves what is in the work tree now. why is for people. It may be called from any goroutine.
type AutoSaver func(ctx context.Context, why string) (session.AutoSaved, error)

// SavingOptions say how often it is saved.
type SavingOptions struct {
	// Once says that nobody works any more, and what is there is being judged: it is saved once, unless the judgement
	// comes at once. With Now it does not wait for that.
	Once, Now bool
	Log       string // file for what fails
}

// Saver saves the work tree beside the checkpoints.
type Saver struct {
	*hand.Hand
	*Engine
	end func() // ends the auto-saves that go on, nil for none
}

// beginSaving saves the work tree every now and then, until endSaving. The session and its journal stay as they
// are meanwhile: what is going on outside is nothing that events are appended about. With snap, somebody has
// looked already.
func (h *Saver) beginSaving(snap *session.Snapshot) error {
	h.endSaving()
	if h.Saving == nil {
		return nil
	}
	d, err := h.autoDraft()
	if err != nil {
		return err
	}
	d.Snapshot, d.Last = snap, snap != nil
	dir, err := h.Files.RunDir(h.S.Open.RunID)
	if err != nil {
		return err
	}
	o := SavingOptions{Once: snap != nil, Log: filepath.Join(dir, "auto-save.log")}
	if o.Once { // what the last one has may be gone by now
		a, err := h.Git.Auto(context.Background(), h.ID)
		o.Now = err == nil && a != nil && a.Ledger == h.Tip
	}
	h.end = h.Saving(func(ctx context.Context, why string) (session.AutoSaved, error) {
		d := d
		d.At, d.Why = h.Clock.Now().Unix(), why
		return h.AutoSaves.AutoSave(ctx, d)
	}, o)
	return nil
}

// endSaving waits until no auto-save goes on any more.
func (h *Saver) endSaving() {
	if h.end != nil {
		h.end()
		h.end = nil
	}
}

func (h *Saver) autoDraft() (session.AutoDraft, error) {
	d := session.AutoDraft{Session: h.ID, Ledger: h.Tip, Tree: h.S.At(h.S.Current).Tree, Exclude: h.Files.ExcludeFile(),
		At: h.Clock.Now().Unix()}
	events, err := codec.EncodeLines(h.Live)
	d.Files = session.Files{session.FileEvents: events}
	return d, err
}

// saveAside saves what is there beside the checkpoints when no checkpoint follows.
func (h *Saver) saveAside(ctx context.Context, why string) (session.AutoSaved, error) {
	h.endSaving()
	d, err := h.autoDraft()
	if err != nil {
		return session.AutoSaved{}, err
	}
	d.Why, d.Anywhere = why, true // no checkpoint follows: work that is gone stays in the one that has it
	return h.AutoSaves.AutoSave(ctx, d)
}

// keepAside saves what is there when it must not become a checkpoint, and says where, for the evidence of a block.
func (h *Saver) keepAside(ctx context.Context, why string) string {
	done, err := h.saveAside(ctx, why)
	switch {
	case err != nil:
		return "could not back up the work tree: " + session.OneLine(err.Error(), 200)
	case done.Commit == "":
		return ""
	}
	saved := "backed up the work tree to " + session.AutoOf(h.ID)
	gone := fmt.Sprintf("edits from %d %s, now gone from the work tree", done.Lost,
		session.Plural(done.Lost, "file", "files"))
	switch {
	case done.Kept != "":
		saved += "; " + gone + ", in " + done.Kept
	case done.Lost > 0:
		saved += ", with " + gone + ": wfs resume --backup"
	}
	return saved
}

// conflict turns a merge or rebase that an agent left unfinished into a block: no branch is moved, nothing is
// touched, and what is there is saved.
func (h *Saver) conflict(ctx context.Context, err error) (bool, error) {
	var r *session.Refusal
	if !errors.As(err, &r) || r.Code != session.RefuseConflict {
		return false, err
	}
	return true, h.block(ctx, session.BlockedBy{Reason: session.BlockConflict, Evidence: []string{r.Message},
		Hint: r.Hint})
}

// block stops the work while its files cannot become a checkpoint, and saves them beside it.
func (h *Saver) block(ctx context.Context, b session.BlockedBy) error {
	if saved := h.keepAside(ctx, "blocked by "+string(b.Reason)); saved != "" {
		b.Evidence = append(b.Evidence, saved)
	}
	return h.Append(b)
}
