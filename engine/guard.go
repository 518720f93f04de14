package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// snapshot is the store's, by this session's rules.
func (h *Hand) snapshot(ctx context.Context) (session.Snapshot, error) {
	snap, err := h.e.Store.Snapshot(ctx, h.j.ExcludeFile())
	if err != nil {
		return snap, err
	}
	return snap, h.keepFound(snap.Staged)
}

// keepFound remembers what was held out, and what was found to be ignored: both stay out for the session.
func (h *Hand) keepFound(found session.Staged) error {
	if len(found.HeldOut) == 0 && len(found.Ignored) == 0 {
		return nil
	}
	text, err := h.j.Exclude()
	if err != nil {
		return err
	}
	rules, guard := session.SplitGuard(text)
	more, grown := guard.Hold(found.HeldOut)
	all := AddExcludes(rules, found.Ignored)
	if !grown && len(all) == len(rules) {
		return nil
	}
	return h.setExclude(all, more)
}

// setExclude replaces the session's exclude rules, in the clone now and in the ledger with the next turn.
func (h *Hand) setExclude(rules []byte, g session.Guard) error {
	text := session.WithGuard(rules, g)
	h.keepDoc(session.FileExclude, text)
	return h.j.SetExclude(text)
}

// named is the part of a list that an event holds.
func named(held []session.Held) []session.Held { return held[:min(len(held), session.MaxNamed)] }

// Allow lets paths into checkpoints that are held out, or would be, with everything below them; revoke takes that back.
// It returns what of them was held out until now, or is allowed no more.
func (h *Hand) Allow(ctx context.Context, paths []string, revoke bool) ([]string, error) {
	since := h.S.Seq
	text, err := h.j.Exclude()
	if err != nil {
		return nil, err
	}
	rules, guard := session.SplitGuard(text)
	var done []string
	for _, p := range paths {
		if revoke {
			if !slices.Contains(h.S.Allowed, p) {
				return nil, session.Refuse(session.RefuseUsage, "wfs allow --list",
					"%s is not on the list of allowed paths", p)
			}
			guard = guard.Revoke(p)
			done = append(done, p)
			continue
		}
		for _, k := range guard.Held {
			if session.IsWithin(strings.TrimSuffix(k.Path, "/"), p) {
				done = append(done, k.Path)
			}
		}
		guard = guard.Allow(p)
	}
	// The event first: what it says is put into the rules again by whoever finds them older.
	if err := h.append(session.Allowed{Paths: paths, Revoked: revoke}); err != nil {
		return nil, err
	}
	h.e.hit("paths/allowed")
	if err := h.setExclude(rules, guard); err != nil {
		return nil, err
	}
	return done, h.logAnswer(ctx, since)
}
