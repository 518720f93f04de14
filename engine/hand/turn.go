package hand

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/items"
)

// Turn makes a turn: it writes objects, then the journal, then moves the ledger's ref (the commit point), then moves
// the turn's other refs, the index and HEAD. It calls `body` for the turn's event once the ids of the new objects are
// known. It calls `log`, which may be nil, after the commit point and before the new journal begins. `log` must be
// repeatable: if the process dies before the journal begins, recovery calls it again.
func (h *Hand) Turn(ctx context.Context, d session.Draft, body func(session.Made) (session.Body, error),
	log func() error) (session.Made, error) {
	if h.Quiet != nil {
		h.Quiet()
	}
	d.Session, d.Ledger, d.At = h.ID, h.Tip, h.base.Clock.Now().Unix()
	var ev session.Event
	var after session.Session
	var cache []byte
	p, err := h.base.Git.Prepare(ctx, d, func(m session.Made) (session.Files, error) {
		b, err := body(m)
		if err != nil {
			return nil, err
		}
		ev = h.next(b)
		if after, err = fold.Extend(h.S, []session.Event{ev}); err != nil {
			return nil, err
		}
		files, err := h.documents(after, ev)
		cache = files[session.FileSession]
		return files, err
	})
	if err != nil {
		return p.Made, err
	}
	if err := h.Files.Append(ev); err != nil {
		return p.Made, err
	}
	h.base.Hit("checkpoint/journaled")
	settled, err := h.base.Git.Publish(ctx, p)
	if err != nil {
		// Not published: the turn in the journal did not happen, and the next command treats it so.
		return p.Made, errors.Join(err, h.Drop(ev, err))
	}
	h.S, h.kept, h.Tip, h.Live, h.Docs = after, after, p.Ledger, nil, nil
	kept := session.Files{session.FileSession: cache, session.FilePlan: h.PlanText}
	if err := h.base.KeepTip(h.ID, h.Tip, row(&after), kept); err != nil {
		return p.Made, err
	}
	if log != nil {
		if err := log(); err != nil {
			return p.Made, err
		}
	}
	if err := h.Files.Rotate(p.Ledger); err != nil {
		return p.Made, err
	}
	h.tell(ev)
	if len(settled.Foreign) > 0 || settled.HeadForeign != "" || settled.HeadBehind != nil {
		if d.Turn.Tree != "" { // another process has moved HEAD or the branch, so nothing is left to do in this work tree
			if err := h.Files.Unclaim(d.Turn.Worktree); err != nil {
				return p.Made, err
			}
		}
		return p.Made, foreign(settled)
	}
	return p.Made, nil
}

// Drop voids a turn that is in the journal but was not published, by an event with the reason `why`.
func (h *Hand) Drop(turn session.Event, why error) error {
	tip, err := h.base.Git.Ref(context.Background(), session.LedgerOf(h.ID))
	if err != nil || tip != h.Tip {
		return err // the turn was published after all, or that is unknown: recovery will check
	}
	h.S.Seq, h.Live = turn.Seq, append(h.Live, turn)
	return h.Append(session.Dropped{Why: safetext.FirstLine(why.Error())})
}

func foreign(s session.Settled) error {
	if s.HeadForeign != "" {
		return &session.Refusal{Code: session.RefuseMoved,
			Message: fmt.Sprintf("HEAD was moved to %s by another process and was left there; the checkpoint is recorded",
				s.HeadForeign), Hint: "wfs status"}
	}
	if b := s.HeadBehind; b != nil {
		hint := "git switch " + safetext.ShortRef(b.Ref)
		if b.New == "" {
			hint = "git switch -c " + safetext.ShortRef(b.Ref)
		}
		return &session.Refusal{Code: session.RefuseMoved, Message: Behind(b), Hint: hint}
	}
	m := s.Foreign[0]
	return &session.Refusal{Code: session.RefuseMoved,
		Message: fmt.Sprintf("%s was moved to %s by another process and was left there; the checkpoint is recorded",
			m.Ref, m.New.Short()), Hint: "wfs status"}
}

// documents returns the documents of the ledger commit of a turn.
func (h *Hand) documents(after session.Session, turn session.Event) (session.Files, error) {
	files, err := codec.Documents(after, h.kept)
	if err != nil {
		return nil, err
	}
	if files[session.FileEvents], err = codec.EncodeLines(append(h.Live[:len(h.Live):len(h.Live)], turn)); err != nil {
		return nil, err
	}
	for name, data := range h.Docs {
		files[name] = data
	}
	for _, name := range []string{session.FilePlan, session.FileWorkflow, session.FileSpec, session.FileBaseline,
		session.FileLap, session.FileEvidence, session.FileExclude} {
		if _, ok := files[name]; !ok {
			files[name] = nil // unchanged from the previous ledger commit
		}
	}
	return files, nil
}

// KeepJSON stores a value as a JSON document that the next turn writes.
func (h *Hand) KeepJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if h.Docs == nil {
		h.Docs = session.Files{}
	}
	h.Docs[name] = append(data, '\n')
	return nil
}

func decodeEvidence(data []byte) (session.Evidence, error) {
	var ev session.Evidence
	return ev, json.Unmarshal(data, &ev)
}

// LedgerMessage returns the message of a ledger commit. Its subjects make `git log` of a ledger read as a history.
func LedgerMessage(id session.ID, what string) string {
	return fmt.Sprintf("%s: %s\n\nWfs-Session: %s\n", id, safetext.OneLine(what, 72), id.Trailer())
}

// KeepDoc stores the text of a document that the next turn writes.
func (h *Hand) KeepDoc(name string, data []byte) {
	if h.Docs == nil {
		h.Docs = session.Files{}
	}
	h.Docs[name] = data
}

// Behind returns the message that HEAD is detached because its branch was moved or deleted meanwhile, "" if m is nil.
func Behind(m *session.RefMove) string {
	if m == nil {
		return ""
	}
	if m.New == "" {
		return fmt.Sprintf("%s is gone, so HEAD is detached at %s", safetext.ShortRef(m.Ref), m.Old.Short())
	}
	return fmt.Sprintf("%s is in another work tree or now at %s, so HEAD is detached at %s", safetext.ShortRef(m.Ref),
		m.New.Short(), m.Old.Short())
}

// row returns the row of a session in `wfs list`, with the keys of its public JSON.
func row(s *session.Session) map[string]any {
	return map[string]any{"id": s.ID, "title": cmp.Or(s.Title, s.Goal), "status": s.Status, "phase": s.Phase, "lap": s.Lap,
		"items": len(s.Items), "items_done": len(s.Items) - len(items.Open(s)), "agent": s.Agent, "used": s.Used,
		"updated_at": time.Unix(s.UpdatedAt, 0).UTC()}
}
