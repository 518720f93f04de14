package backup

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// Rescued is a part of a rescue that can be restored separately, such as the files or the staged changes.
type Rescued struct {
	What   string         // name of the part for messages: "the files"
	Name   string         // suffix for the name of a branch with this part: "-staged"
	Commit session.Commit // commit with the part
	At     string         // suffix for the name of the rescue, with which git finds the part: "^2"
	Picks  bool           // `git cherry-pick -n` can restore it, also after the parts before it
}

// RescuedWork returns the parts of a rescue that contain work: the files, the staged changes if the files differ from
// them, and the bytes of files that git converts. Bytes are no part if only documents of a session or line ends differ.
// A part that another part includes is omitted.
func (r *Backups) RescuedWork(ctx context.Context, rescue session.Commit, s State) ([]Rescued, error) {
	info, err := r.Objects.CommitInfo(ctx, rescue)
	if err != nil {
		return nil, err
	}
	var parts []Rescued
	var index session.Commit
	indexAt := ""
	for i, parent := range info.Parents {
		at := "^" + strconv.Itoa(i+1)
		switch {
		case strings.Contains(info.Body, trailerStateCode+string(parent)):
			parts = append(parts, Rescued{What: "the files", Commit: parent, At: at, Picks: true})
		case strings.Contains(info.Body, trailerStateIndex+string(parent)):
			index, indexAt = parent, at
		}
	}
	if index != "" {
		was, picks, err := r.staged(ctx, s)
		if err != nil {
			return nil, err
		}
		if was {
			parts = append(parts, Rescued{"what was staged", "-staged", index, indexAt, picks})
		}
	}
	if s.Raw == "" {
		return parts, nil
	}
	more, err := r.bytesOnly(ctx, s)
	if more {
		parts = append(parts, Rescued{"bytes of files that git converts,", "-bytes", rescue, ":" + DirRaw, false})
	}
	return parts, err
}

// staged reports whether the index of a rescue has changes that its files do not have. picks says whether a cherry-pick
// can restore these changes after the files: it conflicts or does nothing if a file was edited after it was staged.
func (r *Backups) staged(ctx context.Context, s State) (was, picks bool, err error) {
	below := r.Objects.NewObject("tree", nil).ID
	if s.Head.Commit != "" {
		below = string(s.Head.Commit)
	}
	var unlike [3][]string // paths that differ between two trees, for three pairs of trees
	for i, two := range [][]string{{string(s.Tree), string(s.Index)}, {below, string(s.Index)}, {below, string(s.Tree)}} {
		diff := []string{"diff-tree", object.EverySubmodule, "-r", "-z", "--name-only", "--no-renames", two[0], two[1]}
		out, err := r.Git.Ask(ctx, append(diff, handover.WithoutDocuments...)...)
		if err != nil {
			return false, false, err
		}
		unlike[i] = gitcmd.SplitZ(out)
	}
	staged := slices.DeleteFunc(unlike[0], func(name string) bool { return !slices.Contains(unlike[1], name) })
	again := slices.ContainsFunc(staged, func(name string) bool { return slices.Contains(unlike[2], name) })
	return len(staged) > 0, !again, nil
}

// bytesOnly reports whether a rescue has bytes of files that git converts, and these bytes differ in more than a
// session's documents or line ends.
func (r *Backups) bytesOnly(ctx context.Context, s State) (bool, error) {
	out, err := r.Git.Ask(ctx, "ls-tree", "-r", "--name-only", "-z", string(s.Raw))
	for _, name := range gitcmd.SplitZ(out) {
		if strings.HasPrefix(name, handover.WorkDir+"/") {
			continue
		}
		if strings.Contains(name, "\n") { // such a name cannot be looked up
			return true, nil
		}
		got, err := r.Objects.Lookup(ctx, string(s.Raw)+":"+name, string(s.Tree)+":"+name)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(withoutReturns(got[0].Data), withoutReturns(got[1].Data)) {
			return true, nil
		}
	}
	return false, err
}

func withoutReturns(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// RescuedParts returns the parts of a rescue. Their At is a complete name for git commands, such as
// "refs/wfs/x/rescue/1^2". It returns none if the rescue does not exist. If the files are the same as in the commit on
// which HEAD was, it omits them, unless they are the only part.
func (r *Backups) RescuedParts(ctx context.Context, ref string) ([]Rescued, error) {
	tip, err := r.Refs.Ref(ctx, ref)
	if err != nil || tip == "" {
		return nil, err
	}
	state, err := r.State(ctx, tip)
	if err != nil {
		return nil, err
	}
	parts, err := r.RescuedWork(ctx, tip, state)
	if err != nil {
		return nil, err
	}
	if len(parts) > 1 && state.Head.Commit != "" {
		tree, err := r.Objects.TreeOf(ctx, state.Head.Commit)
		if err != nil {
			return nil, err
		}
		if tree == state.Tree {
			parts = parts[1:]
		}
	}
	for i := range parts {
		parts[i].At = ref + parts[i].At
	}
	return parts, nil
}

// bytes reports whether the part consists of exact bytes of files that git converts. A commit on a branch cannot
// contain these bytes, because git would convert them.
func (p Rescued) bytes() bool { return strings.HasSuffix(p.At, ":"+DirRaw) }

// Show returns the git command with which the user can show a part that RescuedParts has returned.
func (p Rescued) Show() string {
	if p.bytes() {
		return "git show " + p.At + "/FILE"
	}
	return fmt.Sprintf("git show %s, or one file: git show %s:FILE", p.At, p.At)
}

// WaysBack returns lines that tell the user how to restore a rescue. The first line has the text `why` and a command,
// and there is a line for each further part. It omits what the branch on which the rescue was made has by now, or the
// work tree.
func (r *Backups) WaysBack(ctx context.Context, ref, why string) []string {
	parts, err := r.RescuedParts(ctx, ref)
	if err != nil || len(parts) == 0 { // the lines are only hints, and the git command will show the problem
		return []string{why + ": git cherry-pick -n " + ref + "^2"}
	}
	if !slices.ContainsFunc(parts, Rescued.bytes) && !r.Lacks(ctx, "", ref) {
		return nil
	}
	var lines []string
	for _, p := range parts {
		if p.Picks && r.here(ctx, p.Commit) { // git would refuse the command
			continue
		}
		how := p.Show()
		if p.Picks {
			how = "git cherry-pick -n " + p.At
		}
		if len(lines) > 0 {
			why = "and " + strings.TrimSuffix(p.What, ",")
		}
		lines = append(lines, why+": "+how)
	}
	return lines
}

// Lacks reports whether the uncommitted work in a rescue is neither in the work tree nor in a branch: the branch has
// neither the same files nor a commit with the same change. "" stands for the branch on which the rescue was made.
func (r *Backups) Lacks(ctx context.Context, branch, ref string) bool {
	rescue, err := r.Refs.Ref(ctx, ref)
	if err != nil || rescue == "" {
		return false // wfs doctor reports unreadable refs
	}
	state, err := r.State(ctx, rescue)
	if err != nil {
		return false
	}
	parts, err := r.RescuedWork(ctx, rescue, state)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(parts, func(p Rescued) bool {
		if p.bytes() {
			return false
		}
		how, err := r.Handover.HasChanges(ctx, p.Commit, cmp.Or(branch, state.Head.Ref))
		return (err != nil || how == handover.FateNowhere) && !r.here(ctx, p.Commit)
	})
}

// here reports whether the work tree has the changes of a part of a rescue, on a branch of the user. On a session's
// branch they are not back: the user's branch does not get them from there.
func (r *Backups) here(ctx context.Context, part session.Commit) bool {
	head, err := r.Refs.Head(ctx)
	if err != nil || strings.HasPrefix(head.Ref, session.BranchPrefix) {
		return false
	}
	info, err := r.Objects.CommitInfo(ctx, part)
	if err != nil {
		return false
	}
	below := session.Tree("")
	if len(info.Parents) > 0 {
		below = session.Tree(info.Parents[0])
	}
	changes, err := r.Objects.DiffTrees(ctx, below, session.Tree(part))
	if err != nil {
		return false
	}
	has, err := r.Files.Holds(ctx, slices.DeleteFunc(changes, func(c object.TreeChange) bool {
		return strings.HasPrefix(c.Path, handover.WorkDir+"/")
	}))
	return err == nil && has
}
