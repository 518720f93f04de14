package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// sayNew prints what was created. runs says that a run follows, so that there is nothing to type.
func (a *app) sayNew(ctx context.Context, h *engine.Hand, r *engine.Relocated, saved *session.Checkpoint, runs bool) error {
	s := &h.S
	var ready *gitstate.ReadyError
	if err := a.Repo.Identified(ctx); errors.As(err, &ready) {
		a.note("%v: checkpoints are made without your name; before wfs finish: %s", ready, readyHints[ready.Code])
	}
	if a.json {
		return a.sayMoved(h, r, saved)
	}
	a.About = h.ID
	a.saySaved(saved)
	base := baseName(s)
	if short := s.Base.Short(); base != short {
		base += " (" + short + ")"
	}
	a.out("%s  on %s, from %s%s", s.ID, strings.TrimPrefix(s.Branch(), "refs/heads/"), base, a.InTree())
	if s.Fork != nil {
		a.out("%s", goesOn(s))
	} else if n := len(s.Items); n > 0 {
		a.out("%d %s; first: %s", n, plural(n, "item", "items"), s.Items[0])
	}
	if n := len(s.Carried); n > 0 && s.Fork == nil {
		a.out("%d uncommitted %s carried along, in checkpoint 0", n, plural(n, "file", "files"))
	}
	if n := len(s.Left); n > 0 {
		a.out("%d uncommitted %s left on your branch; to get them back: %s", n, plural(n, "file", "files"), a.typed("wfs switch "+a.Engine.SwitchName(ctx, r.Event.Turn.HeadOld)))
	}
	if s.Base0 != nil && s.Fork == nil {
		a.sayBaseline(s.Base0)
	}
	a.sayLacks(s.At(s.Current), "")
	a.sayIgnoredBefore(ctx, s)
	if n := len(r.Changes); n > 0 {
		a.out("%d %s changed here", n, plural(n, "file", "files"))
	}
	if len(s.Carried)+len(s.Left) == 0 || s.Fork != nil || len(r.Rescued) > 1 { // what became of them has been said
		a.sayKept(wasThere, r.Rescued, a.out)
	}
	if r.Note != "" {
		a.out("%s", r.Note)
	}
	a.out("undo: %s", a.typed("wfs undo"))
	if !runs {
		a.next(a.nextFor(s))
	}
	return nil
}

// goesOn says where a fork stands.
func goesOn(s *session.Session) string {
	if s.Phase == workflows.Done {
		return "the work is completed there"
	}
	at := "continues in " + string(s.Phase)
	if lap := s.LapName(s.Lap); lap != "" {
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
	if s.BaseRef != "" {
		return strings.TrimPrefix(s.BaseRef, "refs/heads/")
	}
	return s.Base.Short()
}

func (a *app) sayBaseline(b *session.Baseline) {
	var red []session.TestID
	for _, g := range b.Gates {
		cached := ""
		if g.Cached {
			cached = " (cached)"
		}
		a.out("%s before: %s%s", g.Gate, baseText(g), cached)
		if g.Counts.Total() > 0 {
			red = append(red, g.KnownRed...)
		}
	}
	if len(red) > 0 {
		a.out("  already failing before this session; ignored: %s", testNames(red))
	}
	if b.Holdout != nil {
		a.out("%s", holdoutBaseLine(b.Holdout))
	}
	if n := len(b.Flaky); n > 0 {
		a.out("  flaky before this session; ignored: %s", testNames(b.Flaky))
	}
}

// sayFlaky names tests that nothing is concluded from.
func (a *app) sayFlaky(tests []session.TestID) {
	if len(tests) > 0 {
		a.out("flaky, and ignored: %s", testNames(tests))
	}
}

// baseText is what a gate said on the base.
func baseText(g session.GateResult) string {
	switch {
	case g.Counts.Total() > 0:
		parts := []string{}
		for _, c := range []struct {
			n    int
			word string
		}{{g.Counts.Passed, "passed"}, {g.Counts.Failed + g.Counts.Errors, "failed"}, {g.Counts.Skipped, "skipped"}, {g.Counts.Flaky, "flaky"}} {
			if c.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
			}
		}
		return strings.Join(parts, ", ")
	case g.Class == session.ClassNoTests:
		return "no tests yet"
	case g.Exit != 0:
		return g.Reason
	}
	return "passes"
}

func testNames(ids []session.TestID) string {
	var list []string
	for _, id := range ids[:min(len(ids), 5)] {
		list = append(list, string(id))
	}
	if len(ids) > 5 {
		list = append(list, fmt.Sprintf("and %d more", len(ids)-5))
	}
	return strings.Join(list, ", ")
}
