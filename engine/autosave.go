package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workflows"
)

// AutoSaver saves the current work tree. It may be called from any goroutine.
type AutoSaver func(ctx context.Context, why session.Reason) (session.AutoSaved, error)

// SavingOptions control how often the work tree is saved.
type SavingOptions struct {
	// Once makes a single save instead of regular ones. It protects the files that the agent has left while they are
	// judged, and is skipped if judging ends quickly. With Now, that save is made immediately and never skipped.
	Once, Now bool
	Log       string // path of the file that errors are written to
	// whose documents are watched for ticked tasks
	Session  *session.Session
	Workflow *workflows.Workflow
}

// Saver saves the work tree between checkpoints.
type Saver struct {
	*hand.Hand
	*Engine
	end func() // ends the auto-saves in progress, nil for none
}

// beginSaving saves the work tree regularly until endSaving is called. If it gets a snapshot, which was just taken, it
// makes only one save, of that snapshot. Meanwhile the session and its journal do not change: no events are appended
// while an agent or a gate runs.
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
	o := SavingOptions{Once: snap != nil, Log: filepath.Join(dir, "auto-save.log"), Session: &h.S,
		Workflow: &h.Plan.Workflow}
	// the last auto-save may contain files that are gone now; a save detects and keeps them, so make it at once
	if o.Once {
		a, err := h.Git.Auto(context.Background(), h.ID)
		o.Now = err == nil && a != nil && a.Ledger == h.Tip
	}
	h.end = h.Saving(func(ctx context.Context, why session.Reason) (session.AutoSaved, error) {
		d := d
		d.At, d.Reason = h.Clock.Now().Unix(), why
		return h.AutoSaves.AutoSave(ctx, d)
	}, o)
	return nil
}

// endSaving ends the auto-saves, and waits for one in progress.
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

// saveAside makes one auto-save of the work tree, when no checkpoint of the files follows.
func (h *Saver) saveAside(ctx context.Context, why string) (session.AutoSaved, error) {
	h.endSaving()
	d, err := h.autoDraft()
	if err != nil {
		return session.AutoSaved{}, err
	}
	// save wherever HEAD is, since no checkpoint follows; an earlier auto-save keeps work that is gone
	d.Reason, d.Anywhere = session.Reason{Trigger: "stopped", Why: why}, true
	return h.AutoSaves.AutoSave(ctx, d)
}

// keepAside makes an auto-save of files that must not become a checkpoint. It returns one line about where they are, or
// why they could not be saved, for the evidence of a block; "" if nothing had to be saved.
func (h *Saver) keepAside(ctx context.Context, why string) string {
	done, err := h.saveAside(ctx, why)
	switch {
	case err != nil:
		return "could not back up the work tree: " + safetext.OneLine(err.Error(), 200)
	case done.Commit == "":
		return ""
	}
	saved := "backed up the work tree to " + session.AutoOf(h.ID)
	gone := fmt.Sprintf("edits from %d %s, now gone from the work tree", done.Lost,
		safetext.Word(done.Lost, "file", "files"))
	switch {
	case done.Kept != "":
		saved += "; " + gone + ", in " + done.Kept
	case done.Lost > 0:
		saved += ", with " + gone + ": wfs resume --backup"
	}
	return saved
}

// conflict blocks the session if `err` is the refusal because of a merge or rebase that an agent has left unfinished.
// It saves the work tree as an auto-save, moves no branch and changes no file. For any other `err`, nil included, it
// returns false and `err`.
func (h *Saver) conflict(ctx context.Context, err error) (bool, error) {
	var r *session.Refusal
	if !errors.As(err, &r) || r.Code != session.RefuseConflict {
		return false, err
	}
	return true, h.block(ctx, session.BlockedBy{Reason: session.BlockConflict, Evidence: []string{r.Message},
		Hint: r.Hint})
}

// block blocks the session, and makes an auto-save of the files, because they cannot become a checkpoint now.
func (h *Saver) block(ctx context.Context, b session.BlockedBy) error {
	if saved := h.keepAside(ctx, "blocked by "+string(b.Reason)); saved != "" {
		b.Evidence = append(b.Evidence, saved)
	}
	return h.Append(b)
}
