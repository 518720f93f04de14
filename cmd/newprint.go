package cmd

import (
	"cmp"
	"context"
	"errors"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// say prints the new session. It also prints the next commands, unless a run follows.
func (a *newborn) say(ctx context.Context) error {
	h, r, saved := a.h, a.r, a.saved
	s := &h.S
	var ready *gitcmd.ReadyError
	if err := a.Repo.Identified(ctx); errors.As(err, &ready) {
		a.note("%v: checkpoints are made without your name; before wfs finish: %s", ready, readyHints[ready.Code])
	}
	if a.json {
		return moved{a.app, h, r, saved}.say()
	}
	a.About = h.ID
	saySaved(a.out, saved)
	base := baseName(s)
	if s.Fork != nil {
		base = s.Parent
	} else if short := s.Base.Short(); base != short {
		base += " (" + short + ")"
	}
	a.out("%s  on %s, from %s%s", s.ID, present.ShortRef(s.Branch()), base, a.InTree())
	if i := s.Imported; i != nil {
		a.out("%s; session %s of %s", goesOn(s), i.ID, i.From)
		if len(i.Unjudged) > 0 {
			a.out("not judged by wfs: %s", safetext.First(i.Unjudged, 10, ", "))
		}
	}
	if s.Fork != nil {
		a.out("%s", goesOn(s))
	} else if n := len(s.Items); n > 0 {
		a.out("%s; first: %s", present.N(n, "item"), s.Items[0])
	}
	if n := len(s.Carried); n > 0 && s.Fork == nil {
		a.out("%s carried along, in checkpoint 0", present.N(n, "uncommitted file"))
	}
	if n := len(s.Left); n > 0 {
		a.out("%s saved, not in this session; to get %s back: %s", present.N(n, "uncommitted file"), plural(n, "it", "them"),
			a.typed("wfs switch "+a.Engine.SwitchName(ctx, r.Event.Turn.HeadOld)))
	}
	if s.Base0 != nil && s.Fork == nil {
		a.sayBaseline(s.Base0)
	}
	a.env.Lacks(s.At(s.Current), "")
	if s.Imported == nil { // else the state itself is left out
		a.sayIgnoredBefore(ctx, s)
	}
	if n := len(r.Changes); n > 0 {
		a.out("wfs changed %s in this work tree, to match %s", present.N(n, "file"), base)
	}
	if len(s.Carried)+len(s.Left) == 0 || s.Fork != nil || len(r.Rescued) > 1 { // else printed above
		sayKept(a.Repo, wasThere, r.Rescued, a.out)
	}
	if r.Note != "" {
		a.out("%s", r.Note)
	}
	a.out("undo: %s", a.typed("wfs undo"))
	if !a.o.runs {
		a.next(a.nextFor(s))
	}
	return nil
}

// goesOn says in which phase, lap and item a fork continues.
func goesOn(s *session.Session) string {
	if s.Phase == workflows.Done {
		return "the work is completed there"
	}
	at := "continues in " + string(s.Phase)
	if lap := items.LapName(s, s.Lap); lap != "" {
		at += ", " + lap
	}
	if item := s.Item(); item != "" {
		at += ": " + item
	}
	return at
}

func baseName(s *session.Session) string {
	if s.Parent != "" {
		return s.Parent
	}
	return present.ShortRef(cmp.Or(s.BaseRef, string(s.Base)))
}

func (a *newborn) sayBaseline(b *session.Baseline) {
	for _, g := range b.Gates {
		cached := ""
		if g.Cached {
			cached = " (cached)"
		}
		a.out("%s before: %s%s", g.Gate, present.BaseText(g), cached)
		sayRed(a.out, g)
	}
	if b.Holdout != nil {
		a.out("%s", present.HoldoutBaseLine(b.Holdout))
	}
	if n := len(b.Flaky); n > 0 {
		a.out("  flaky before this session; ignored: %s", safetext.First(b.Flaky, 5, ", "))
	}
}
