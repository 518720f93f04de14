package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// State is the content of the file state.json in a state commit: files, index, HEAD and refs at the time of the commit.
type State struct {
	Version int          `json:"version"` // session.FormatVersion
	Why     string       `json:"why"`
	Trigger string       `json:"trigger,omitempty"` // of an auto-save, see session.Reason
	Head    session.Head `json:"head"`
	Tree    session.Tree `json:"tree"`            // files in the work tree
	Index   session.Tree `json:"index,omitempty"` // content of the user's index
	// the files in Tree whose exact bytes a checkout of Tree would not write
	Raw     session.Tree              `json:"raw,omitempty"`
	Skipped []session.Skip            `json:"skipped,omitempty"`
	HeldOut []session.Held            `json:"held_out,omitempty"`
	Refs    map[string]session.Commit `json:"refs"` // every session branch, and the session's own refs

	// In auto-saves: the number of paths that differ from the present checkpoint, and the first of these.
	Changes int              `json:"changes,omitempty"`
	Changed []session.Change `json:"changed,omitempty"`
}

// FileState is the name of the file with a State in the tree of a state commit. DirRaw is the name of the tree with raw
// bytes there, if there is one.
const (
	FileState = "state.json"
	DirRaw    = "raw"
)

// Rescue keeps a snapshot durably as a new rescue, and returns the name of its ref, refs/wfs/<id>/rescue/<n>. at is in
// Unix seconds. The parents of the state commit are the newest ledger commit (if there is one), a commit of the
// snapshot's files, and a commit of the index (if that differs from HEAD). Trailers name the latter two.
func (r *Backups) Rescue(ctx context.Context, id session.ID, why string, s session.Snapshot, at int64) (string, error) {
	ident, err := r.Git.Answers.Identity(ctx)
	if err != nil {
		return "", err
	}
	for {
		own, err := r.refsOf(ctx, id)
		if err != nil {
			return "", err
		}
		objects, err := r.StateCommit(StateOf(why, s, own), s, own[refs.LedgerRef(id)], "before "+why, nil, ident, at)
		if err != nil {
			return "", err
		}
		if err := r.Objects.WriteObjects(ctx, append(r.Objects.LooseBelow(s.Tree, s.Index), objects...)...); err != nil {
			return "", err
		}
		ref := refs.RescuePrefix(id) + strconv.Itoa(nextRescue(own, refs.RescuePrefix(id)))
		state := session.Commit(objects[len(objects)-1].ID)
		err = r.Refs.Move(ctx, session.RefMove{Ref: ref, New: state}, "wfs: backup before "+why)
		if errors.Is(err, refs.ErrMoved) {
			continue // another rescue took the number
		}
		if err != nil {
			return "", err
		}
		r.Objects.LetGo(true)
		durable.Hit(durable.RescueWritten)
		return ref, nil
	}
}

// Rescued returns the ref of the newest rescue that has the same reason and the same content as a snapshot, "" if there
// is none. It reads only the newest few rescues.
func (r *Backups) Rescued(ctx context.Context, id session.ID, why string, s session.Snapshot) (string, error) {
	const looked = 3 // a move that fails makes two rescues
	own, err := r.refsOf(ctx, id)
	if err != nil {
		return "", err
	}
	newest := nextRescue(own, refs.RescuePrefix(id)) - 1
	for n := newest; n > max(0, newest-looked); n-- {
		ref := refs.RescuePrefix(id) + strconv.Itoa(n)
		if own[ref] == "" {
			continue
		}
		then, err := r.State(ctx, own[ref])
		if err == nil && then.Why == why && then.Head == s.Head && then.Tree == s.Tree && then.Index == s.Index &&
			then.Raw == s.Raw {
			return ref, nil
		}
	}
	return "", nil
}

// StateOf returns the State for a snapshot. `own` has the refs to record.
func StateOf(why string, s session.Snapshot, own map[string]session.Commit) State {
	return State{Version: session.FormatVersion, Why: why, Head: s.Head, Tree: s.Tree, Index: s.Index, Raw: s.Raw,
		Skipped: s.Skipped, HeldOut: s.HeldOut, Refs: own}
}

// StateCommit returns the objects of a state commit; the commit is the last of them. `when` says in its message when it
// was made. `files` are additional files for its tree.
func (r *Backups) StateCommit(state State, s session.Snapshot, ledger session.Commit, when string, files session.Files,
	ident string, at int64) ([]object.Object, error) {
	var below []session.Commit
	if s.Head.Commit != "" {
		below = []session.Commit{s.Head.Commit}
	}
	var parents []session.Commit
	if ledger != "" {
		parents = append(parents, ledger)
	}
	code := r.Objects.NewCommit(string(s.Tree), below, ident, at, "wfs: files "+when)
	objects := []object.Object{code}
	parents = append(parents, session.Commit(code.ID))
	trailers := []string{trailerStateCode + code.ID}
	if s.Index != "" && s.Index != s.HeadTree {
		index := r.Objects.NewCommit(string(s.Index), below, ident, at, "wfs: index "+when)
		objects = append(objects, index)
		parents = append(parents, session.Commit(index.ID))
		trailers = append(trailers, trailerStateIndex+index.ID)
	}
	if state.Trigger != "" {
		trailers = append(trailers, trailerTrigger+state.Trigger)
	}
	data, err := json.MarshalIndent(state, "", "\t")
	if err != nil {
		return nil, err
	}
	docs := maps.Clone(files)
	if docs == nil {
		docs = session.Files{}
	}
	docs[FileState] = append(data, '\n')
	var entries []object.Entry
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		doc := r.Objects.NewObject("blob", docs[name])
		objects, entries = append(objects, doc), append(entries, object.Entry{Mode: object.ModeFile, Name: name, ID: doc.ID})
	}
	if s.Raw != "" {
		entries = append(entries, object.Entry{Mode: object.ModeTree, Name: DirRaw, ID: string(s.Raw)})
	}
	tree, err := r.Objects.NewTree(entries)
	if err != nil {
		return nil, err
	}
	message := object.WithTrailers("wfs: state "+when, trailers...)
	return append(objects, tree, r.Objects.NewCommit(tree.ID, parents, ident, at, message)), nil
}

// refsOf returns the branches of all sessions and the refs of one session. It omits damaged refs, which must not
// prevent a rescue of intact files.
func (r *Backups) refsOf(ctx context.Context, id session.ID) (map[string]session.Commit, error) {
	all := func(string) bool { return true }
	own := map[string]session.Commit{}
	for _, dir := range []string{strings.TrimSuffix(refs.BranchPrefix, "/"), refs.RefsPrefix + string(id)} {
		some, err := r.Refs.List(ctx, dir, all)
		if err != nil && !errors.Is(err, refs.ErrBrokenRef) {
			return nil, err
		}
		maps.Copy(own, some)
	}
	return own, nil
}

// nextRescue returns the number of the next rescue.
func nextRescue(own map[string]session.Commit, prefix string) int {
	highest := 0
	for name := range own {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, prefix)); err == nil {
			highest = max(highest, n)
		}
	}
	return highest + 1
}

// State reads the State in a state commit, such as a rescue.
func (r *Backups) State(ctx context.Context, c session.Commit) (State, error) {
	text, err := r.Objects.File(ctx, c, FileState)
	if err != nil {
		return State{}, err
	}
	return parseState(c, text)
}

func parseState(c session.Commit, text []byte) (State, error) {
	var s State
	if text == nil {
		return s, fmt.Errorf("%s is not a state commit", c.Short())
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s of %s: %w", FileState, c.Short(), err)
	}
	if s.Version > session.FormatVersion {
		return s, fmt.Errorf("%s of %s: %w", FileState, c.Short(), session.ErrNewer)
	}
	return s, nil
}
