package hand

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// KeepExclude writes the session's exclude file anew, from the ledger when the clone has lost it, and when a
// process died between an allowance and the rules that follow from it.
func (h *Hand) KeepExclude(ctx context.Context) error {
	text, err := h.Files.Exclude()
	if err != nil {
		return err
	}
	rules, guard := codec.SplitGuard(text)
	if text != nil && slices.Equal(guard.Allowed, h.S.Allowed) {
		return nil
	}
	if text == nil {
		if text, err = h.base.Git.File(ctx, h.Tip, session.FileExclude); err != nil {
			return err
		}
		rules, guard = codec.SplitGuard(text)
	}
	return h.SetExclude(rules, h.S.Guarding(guard))
}

// Snapshot is the store's, by this session's rules.
func (h *Hand) Snapshot(ctx context.Context) (session.Snapshot, error) {
	snap, err := h.base.Git.Snapshot(ctx, h.Files.ExcludeFile())
	if err != nil {
		return snap, err
	}
	return snap, h.KeepFound(snap.Staged)
}

// KeepFound remembers what was held out, and what was found to be ignored: both stay out for the session.
func (h *Hand) KeepFound(found session.Staged) error {
	if len(found.HeldOut) == 0 && len(found.Ignored) == 0 {
		return nil
	}
	text, err := h.Files.Exclude()
	if err != nil {
		return err
	}
	rules, guard := codec.SplitGuard(text)
	more, grown := guard.Hold(found.HeldOut)
	all := AddExcludes(rules, found.Ignored)
	if !grown && len(all) == len(rules) {
		return nil
	}
	return h.SetExclude(all, more)
}

// SetExclude replaces the session's exclude rules, in the clone now and in the ledger with the next turn.
func (h *Hand) SetExclude(rules []byte, g session.Guard) error {
	text := codec.WithGuard(rules, g)
	h.KeepDoc(session.FileExclude, text)
	return h.Files.SetExclude(text)
}

// GrowExclude adds what is ignored now to the session's exclude rules: what was ignored once stays ignored for the
// session, or going back to before a .gitignore existed would commit what it hid.
func (h *Hand) GrowExclude(ctx context.Context) error {
	ignored, err := h.base.Git.Ignored(ctx)
	if err != nil {
		return err
	}
	text, err := h.Files.Exclude()
	if err != nil {
		return err
	}
	rules, guard := codec.SplitGuard(text)
	grown := AddExcludes(rules, ignored)
	if string(grown) == string(rules) {
		return nil
	}
	return h.SetExclude(grown, guard)
}

// AddExcludes appends anchored, escaped patterns for paths that the rules do not name yet.
func AddExcludes(rules []byte, paths []string) []byte {
	have := map[string]bool{}
	for line := range strings.Lines(string(rules)) {
		have[strings.TrimSuffix(line, "\n")] = true
	}
	out := rules[:len(rules):len(rules)]
	for _, p := range paths {
		if line := codec.ExcludeRule(p); line != "" && !have[line] {
			have[line] = true
			out = append(out, line+"\n"...)
		}
	}
	return out
}

// LimitsDiffer reports whether the session's guard has other limits.
func (h *Hand) LimitsDiffer(other session.Guard) (bool, error) {
	text, err := h.Files.Exclude()
	_, g := codec.SplitGuard(text)
	return g.MaxFileSize != other.MaxFileSize || g.MaxNewFiles != other.MaxNewFiles, err
}

// Limit gives the session's guard other limits. What is held out stays so.
func (h *Hand) Limit(other session.Guard) error {
	text, err := h.Files.Exclude()
	if err != nil {
		return err
	}
	rules, g := codec.SplitGuard(text)
	g.MaxFileSize, g.MaxNewFiles = other.MaxFileSize, other.MaxNewFiles
	return h.SetExclude(rules, g)
}
