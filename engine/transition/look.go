package transition

import (
	"context"

	"github.com/wfs-dev/wfs/session"
)

// Look is a session opened for reading, to preview how a command would change the files of this work tree. It takes no
// lock, recovers nothing, and writes only unreferenced objects.
type Look struct {
	*Undoing
	Exclude string // path of the session's exclude file, "" for none
}

// Preview describes the result of a command that was not run.
type Preview struct {
	What string // summary of its operation
	Head string // full name of the branch that HEAD would move to, "" if HEAD stays
	At   int    // checkpoint whose files would be checked out, -1: none
	Move session.Move
	Tree session.Tree // of finish: the tree of the commit that it would make
}

// Look opens a session for reading. `exclude` is the path of the session's exclude file, which lists the paths that its
// snapshots leave out; "" if it has none.
func (e *Kit) Look(ctx context.Context, id session.ID, exclude string) (*Look, error) {
	h, err := e.Reading(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Look{Of(h, e).Undoing, exclude}, nil
}

func (l *Look) preview(ctx context.Context, r Relocation) (Preview, error) {
	p := Preview{What: r.Summary, Head: r.Head, At: r.To}
	snap, err := l.Git.Snapshot(ctx, l.Exclude)
	if err != nil {
		return p, err
	}
	if r.Head == snap.Head.Name() {
		p.Head = ""
	}
	p.Move, err = l.Git.PlanMove(ctx, snap, r.Tree, r.raw)
	return p, err
}

// Enter returns what Hand.Enter would change.
func (l *Look) Enter(ctx context.Context) (Preview, error) {
	r, needed, err := l.entering(ctx)
	if err != nil || !needed {
		return Preview{At: l.S.Current}, err
	}
	r.To = l.S.Current
	return l.preview(ctx, r)
}

// Leave returns what Hand.Leave would change.
func (l *Look) Leave(ctx context.Context, branch string) (Preview, error) {
	r, _, needed, err := l.leaving(ctx, branch)
	if err != nil || !needed {
		return Preview{At: -1}, err
	}
	return l.preview(ctx, r)
}

// Resume returns what Hand.Resume would change.
func (l *Look) Resume(ctx context.Context, at int) (Preview, error) {
	if at < 0 && l.S.Status.Final() && l.S.Status != session.StatusAbandoned {
		return Preview{}, l.isFinal()
	}
	if at < 0 {
		return l.Enter(ctx)
	}
	r, err := l.resumeAt(ctx, at)
	if err != nil {
		return Preview{}, err
	}
	return l.preview(ctx, r)
}

// ResumeAuto returns what Hand.ResumeAuto would change.
func (l *Look) ResumeAuto(ctx context.Context, a *AutoFound) (Preview, error) {
	r, err := l.resumeAuto(ctx, a)
	if err != nil {
		return Preview{}, err
	}
	return l.preview(ctx, r)
}
