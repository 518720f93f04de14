package hand

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// KeepExclude restores the session's exclude file, which lists the paths that the session's snapshots leave out, from
// the ledger if the clone has lost the file. It also updates the file if a process died after a path was allowed and
// before the rules were written.
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

// Snapshot writes the work tree as a tree object, without the paths that the session's exclude file leaves out, and
// adds further paths that the snapshot had to leave out to that file.
func (h *Hand) Snapshot(ctx context.Context) (session.Snapshot, error) {
	snap, err := h.base.Git.Snapshot(ctx, h.Files.ExcludeFile())
	if err != nil {
		return snap, err
	}
	return snap, h.KeepFound(snap.Staged)
}

// KeepFound adds paths that a snapshot left out to the exclude file, so that all later snapshots of the session leave
// them out, too: paths that git ignores, and paths that the guard held out, such as keys and large files.
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

// SetExclude replaces the session's exclude rules: in the clone now, in the ledger with the next turn.
func (h *Hand) SetExclude(rules []byte, g session.Guard) error {
	text := codec.WithGuard(rules, g)
	h.KeepDoc(session.FileExclude, text)
	return h.Files.SetExclude(text)
}

// GrowExclude adds all files that git ignores now to the session's exclude rules. Files that were ignored once stay
// ignored for the session. Otherwise, after a move to a checkpoint without a certain .gitignore, the next checkpoint
// would commit the files that this .gitignore hid.
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

// AddExcludes returns the rules with a pattern added for each path that they do not contain yet. The patterns are
// anchored and escaped, so that each matches its path only.
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

// LimitsDiffer reports whether the session's guard and the guard `other` have different limits on file size and on the
// number of new files.
func (h *Hand) LimitsDiffer(other session.Guard) (bool, error) {
	text, err := h.Files.Exclude()
	_, g := codec.SplitGuard(text)
	return g.MaxFileSize != other.MaxFileSize || g.MaxNewFiles != other.MaxNewFiles, err
}

// Limit replaces the limits of the session's guard by those of the guard `other`. Files that are held out already stay
// held out.
func (h *Hand) Limit(other session.Guard) error {
	text, err := h.Files.Exclude()
	if err != nil {
		return err
	}
	rules, g := codec.SplitGuard(text)
	g.MaxFileSize, g.MaxNewFiles = other.MaxFileSize, other.MaxNewFiles
	return h.SetExclude(rules, g)
}
