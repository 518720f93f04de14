package handover

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// Fate says where the work of a session is now.
type Fate struct {
	How    FateHow `json:"how"`
	Branch string  `json:"branch,omitempty"` // short name of the branch that has the work
}

// FateHow is the kind of a Fate.
type FateHow string

const (
	FateMerged   FateHow = "merged"   // a branch other than that of the handover has the commit itself
	FateSquashed FateHow = "squashed" // a branch has the changes in other commits: squashed, rebased, cherry-picked
	FateHeld     FateHow = "held"     // only the branch of the handover has it
	FateNothing  FateHow = "nothing"  // the session has changed nothing
	FateNowhere  FateHow = "nowhere"  // only the session's own refs have it
)

// Work is the result of a session.
type Work struct {
	Commit session.Commit
	Base   string // full name of the branch on which the session was started, "" for none
	Handed string // full name of the branch of the handover, "" if there was none
}

// Fate finds out where the work of a session is now. It searches the user's branches, remote-tracking branches and
// tags. It also recognises work that was squashed, rebased or cherry-picked.
func (r *Handover) Fate(ctx context.Context, w Work) (Fate, error) {
	out, err := r.Git.Ask(ctx, "for-each-ref", "--contains", string(w.Commit), "--format=%(refname)",
		"refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return Fate{}, err
	}
	held := ""
	for _, ref := range preferred(strings.Fields(string(out)), w.Base) {
		if sameBranch(ref, w.Handed) && !ofSession(ref) {
			held = ref
		} else if !ofSession(ref) {
			return Fate{FateMerged, shortRef(ref)}, nil
		}
	}
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return Fate{}, err
	}
	candidates, err := r.counterparts(ctx, w.Base, head.Ref)
	if err != nil {
		return Fate{}, err
	}
	if w.Handed != "" && held == "" { // for example because it was amended
		candidates = append(candidates, w.Handed)
	}
	for _, ref := range candidates {
		in, err := r.HasChanges(ctx, w.Commit, ref)
		if err != nil {
			return Fate{}, err
		}
		if in != FateNowhere && !sameBranch(ref, w.Handed) {
			return Fate{in, shortRef(ref)}, nil
		}
		if in != FateNowhere { // the branch of the handover: HEAD is on it, or it was amended
			held = ref
		}
	}
	if held != "" {
		return Fate{FateHeld, shortRef(held)}, nil
	}
	return Fate{How: FateNowhere}, nil
}

// ofSession reports whether a ref is the branch of a session, in this repository or in a remote.
func ofSession(ref string) bool {
	return strings.HasPrefix(ref, refs.BranchPrefix) ||
		strings.HasPrefix(ref, "refs/remotes/") && strings.Contains(ref, "/wfs/")
}

// preferred sorts refs: the branch `first`, then its remote-tracking branches, then all others.
func preferred(refs []string, first string) []string {
	rank := func(ref string) int {
		switch {
		case ref == first:
			return 0
		case sameBranch(ref, first):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(refs, func(a, b string) int { return rank(a) - rank(b) })
	return refs
}

// sameBranch reports whether a ref is the given branch or one of its remote-tracking branches.
func sameBranch(ref, branch string) bool {
	if ref == branch || branch == "" {
		return ref == branch
	}
	rest, remote := strings.CutPrefix(ref, "refs/remotes/")
	_, name, ok := strings.Cut(rest, "/")
	return remote && ok && name == strings.TrimPrefix(branch, "refs/heads/")
}

func shortRef(ref string) string {
	for _, p := range []string{"refs/heads/", "refs/remotes/", "refs/"} {
		if rest, ok := strings.CutPrefix(ref, p); ok {
			return rest
		}
	}
	return ref
}

// counterparts returns those of the named branches that exist, and their remote-tracking branches.
func (r *Handover) counterparts(ctx context.Context, names ...string) ([]string, error) {
	remotes, err := r.Refs.RefsBelow(ctx, "refs/remotes")
	if err != nil {
		return nil, err
	}
	var list []string
	add := func(ref string) {
		if !slices.Contains(list, ref) {
			list = append(list, ref)
		}
	}
	for _, name := range names {
		if name == "" || strings.HasPrefix(name, refs.BranchPrefix) {
			continue
		}
		if tip, err := r.Refs.Ref(ctx, name); err != nil {
			return nil, err
		} else if tip != "" {
			add(name)
		}
		for ref := range remotes {
			if sameBranch(ref, name) {
				add(ref)
			}
		}
	}
	return list, nil
}

// WithoutDocuments is a pathspec for everything except a session's documents, which a handover leaves out.
var WithoutDocuments = []string{"--", ".", ":(exclude)" + WorkDir}

// HasChanges reports whether a branch has the changes that a commit made since the merge base of the two. The result is
// FateNothing if there are no changes, FateSquashed if the branch has the same files now or a commit with the same
// patch, and otherwise FateNowhere.
func (r *Handover) HasChanges(ctx context.Context, work session.Commit, branch string) (FateHow, error) {
	tip, err := r.Refs.Ref(ctx, branch)
	if err != nil || tip == "" {
		return FateNowhere, err
	}
	base, err := r.Objects.MergeBase(ctx, tip, work)
	if err != nil || base == "" {
		return FateNowhere, err
	}
	changed, err := r.namesBetween(ctx, append([]string{string(base), string(work)}, WithoutDocuments...)...)
	if err != nil {
		return "", err
	}
	if len(changed) == 0 {
		return FateNothing, nil
	}
	differ, err := r.namesBetween(ctx, string(work), string(tip)) // sorted by bytes, as BinarySearch needs
	if err != nil {
		return "", err
	}
	isDifferent := func(name string) bool { _, is := slices.BinarySearch(differ, name); return is }
	if !slices.ContainsFunc(changed, isDifferent) {
		return FateSquashed, nil
	}
	patch := []string{"-p", object.EverySubmodule, "--no-renames", "--full-index", "--binary", "--no-color",
		"--no-ext-diff",
		"--no-textconv"}
	ours, err := r.patchIDs(ctx, slices.Concat([]string{"diff-tree"}, patch, []string{string(base), string(work)},
		WithoutDocuments))
	if err != nil || len(ours) == 0 {
		return FateNowhere, err
	}
	// A commit with the same patch changes all of the files, so it is enough to read the commits that change the first
	// one.
	theirs, err := r.patchIDs(ctx, slices.Concat([]string{"log", "--full-diff", "--format=commit %H"}, patch,
		[]string{string(base) + ".." + string(tip), "--", ":(literal)" + changed[0]}))
	if err != nil {
		return "", err
	}
	if slices.Contains(theirs, ours[0]) {
		return FateSquashed, nil
	}
	return FateNowhere, nil
}

// namesBetween returns the paths that differ between two commits. args may also have a pathspec.
func (r *Handover) namesBetween(ctx context.Context, args ...string) ([]string, error) {
	diff := []string{"diff-tree", object.EverySubmodule, "-r", "-z", "--name-only", "--no-renames"}
	out, err := r.Git.Ask(ctx, append(diff, args...)...)
	return gitcmd.SplitZ(out), err
}

// patchIDs returns the ids (git patch-id) of the patches that a git command prints. They do not depend on line numbers
// and white space.
func (r *Handover) patchIDs(ctx context.Context, args []string) ([]string, error) {
	in, out := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		err := r.Git.Stream(ctx, gitcmd.Opts{}, nil, out, args...)
		out.CloseWithError(err)
		failed <- err
	}()
	var ids bytes.Buffer
	err := r.Git.Stream(ctx, gitcmd.Opts{}, in, &ids, "patch-id", "--stable")
	in.Close()
	if err2 := <-failed; err == nil {
		err = err2
	}
	var list []string
	for line := range strings.Lines(ids.String()) {
		id, _, _ := strings.Cut(line, " ")
		list = append(list, id)
	}
	return list, err
}
