package gitstate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// moveAll moves the ledger and then, of a turn that only moves one branch as every checkpoint's does, the branch and the
// operation log, in one git process. between is called when the first move is true, before the second is begun. It reports false when it
// did not come to the end; then nothing, the first, or both may have moved, and who calls goes on step by step, which
// finds out.
func (r *Repo) moveAll(ctx context.Context, ledger session.RefMove, p session.Prepared, between func() error) bool {
	t := p.Turn
	if !movesTwo(ledger, t) {
		return false
	}
	m := r.mover.Swap(nil)
	if m == nil {
		m = r.startMover(ctx, r.refsMoved(p)...)
	}
	moved := m.move(ledger) && between() == nil && m.move(t.Refs[0])
	if moved {
		durable.Hit(durable.SettleBranch)
	}
	if l := p.Logged; moved && l != nil {
		moved = m.move(session.RefMove{Ref: l.Ref, Old: session.Commit(cmp.Or(string(l.Old), r.zero())), New: l.New}, "option no-deref") && r.syncRef(l.Ref, l.Old == "") == nil
	}
	err := m.end()
	return err == nil && moved && r.syncRef(t.Refs[0].Ref, false) == nil
}

// readyMover starts the process that moveAll needs for what was prepared. Until it is told something, it does nothing.
func (r *Repo) readyMover(ctx context.Context, p session.Prepared) {
	ledger := session.RefMove{Ref: LedgerRef(p.Session), Old: p.LedgerOld, New: p.Ledger}
	if movesTwo(ledger, p.Turn) {
		r.mover.Store(r.startMover(ctx, r.refsMoved(p)...))
	}
}

// dismissMover ends it, if nothing came of what was prepared.
func (r *Repo) dismissMover() {
	if m := r.mover.Swap(nil); m != nil {
		_ = m.end()
	}
}

// refsMoved are the refs that the moves of a turn of one branch are about.
func (r *Repo) refsMoved(p session.Prepared) []string {
	refs := []string{LedgerRef(p.Session), p.Turn.Refs[0].Ref}
	if p.Logged != nil {
		refs = append(refs, p.Logged.Ref)
	}
	return refs
}

func movesTwo(ledger session.RefMove, t session.Turn) bool {
	return len(t.Refs) == 1 && t.Index == "" && t.HeadNew == "" && t.Refs[0].Old != "" && t.Refs[0].New != "" && ledger.Old != ""
}

// mover is a `git update-ref --stdin` that waits to be told what to move. Its streams are files: nobody must wait for
// it when it ends early.
type mover struct {
	in, out *os.File
	ended   chan error
}

func (r *Repo) startMover(ctx context.Context, refs ...string) *mover {
	m := &mover{ended: make(chan error, 1)}
	stdin, in, err := os.Pipe()
	if err != nil {
		m.ended <- err
		return m
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		stdin.Close()
		in.Close()
		m.ended <- err
		return m
	}
	m.in, m.out = in, out
	go func() {
		err := r.gitStream(ctx, gitOpts{write: true, refs: refs}, stdin, stdout, "update-ref", "-m", "wfs: ledger", "--stdin")
		stdin.Close()
		stdout.Close()
		m.ended <- err
	}()
	return m
}

// move makes one move, and reports whether git said that it did.
func (m *mover) move(to session.RefMove, options ...string) bool {
	const answer = "start: ok\nprepare: ok\ncommit: ok\n"
	if m.in == nil {
		return false
	}
	how := strings.Join(append(options, "update"), "\n")
	if _, err := fmt.Fprintf(m.in, "start\n%s %s %s %s\nprepare\ncommit\n", how, to.Ref, to.New, to.Old); err != nil {
		return false
	}
	said := make([]byte, len(answer))
	_, err := io.ReadFull(m.out, said)
	return err == nil && string(said) == answer
}

func (m *mover) end() error {
	if m.in != nil {
		m.in.Close()
		defer m.out.Close()
	}
	return <-m.ended
}
