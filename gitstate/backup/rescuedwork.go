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

// Rescued is one part of what a rescue keeps.
type Rescued struct {
	What   string         // for people: "the files"
	Name   string         // for a branch that holds it as well, after the rescue's: "-staged"
	Commit session.Commit // that holds it
	At     string         // what git calls it: "^2", after the name of the rescue
	Picks  bool           // git cherry-pick -n brings it back, after the parts before it as well
}

// RescuedWork are the parts of a rescue, those left out that others of them hold: the files; what was staged,
// if files were something else by then; the bytes of files that git converts, but for a session's documents and
// for ends of lines.
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

// staged reports whether the index of a rescue has changes that its files have not. picks says that a
// cherry-pick brings them back upon the files': where a file was edited after it had been staged, it meets a
// conflict, or does nothing.
func (r *Backups) staged(ctx context.Context, s State) (was, picks bool, err error) {
	below := r.Objects.NewObject("tree", nil).ID
	if s.Head.Commit != "" {
		below = string(s.Head.Commit)
	}
	var unlike [3][]string // names by which two of them differ
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

// bytesOnly reports whether a rescue has bytes of files that git converts, but for a session's documents and
// for ends of lines.
func (r *Backups) bytesOnly(ctx context.Context, s State) (bool, error) {
	out, err := r.Git.Ask(ctx, "ls-tree", "-r", "--name-only", "-z", string(s.Raw))
	for _, name := range gitcmd.SplitZ(out) {
		if strings.HasPrefix(name, handover.WorkDir+"/") {
			continue
		}
		if strings.Contains(name, "\n") { // which cannot be looked up
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

// RescuedParts are the parts of a rescue, by what git calls them wherever it is typed
// ("refs/wfs/x/rescue/1^2"); none when there is no such rescue. Files that are as in the commit below are left
// out where there is another part.
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

// bytes reports whether a part is the bytes of files that git converts: no branch ever has these.
func (p Rescued) bytes() bool { return strings.HasSuffix(p.At, ":"+DirRaw) }

// Show is the command that shows a part of RescuedParts, for people.
func (p Rescued) Show() string {
	if p.bytes() {
		return "git show " + p.At + "/FILE"
	}
	return fmt.Sprintf("git show %s, or one file: git show %s:FILE", p.At, p.At)
}

// WaysBack are lines that say how to have back what a rescue keeps: why with a command, and one for each further part.
// There are none once the branch that it was left on has it all.
func (r *Backups) WaysBack(ctx context.Context, ref, why string) []string {
	parts, err := r.RescuedParts(ctx, ref)
	if err != nil || len(parts) == 0 { // this is a reminder; git says what is wrong with it
		return []string{why + ": git cherry-pick -n " + ref + "^2"}
	}
	if !slices.ContainsFunc(parts, Rescued.bytes) && !r.Lacks(ctx, "", ref) {
		return nil
	}
	var lines []string
	for i, p := range parts {
		how := p.Show()
		if p.Picks {
			how = "git cherry-pick -n " + p.At
		}
		if i > 0 {
			why = "and " + strings.TrimSuffix(p.What, ",")
		}
		lines = append(lines, why+": "+how)
	}
	return lines
}

// Lacks reports whether a branch, or "" for the one that a rescue was left on, has not by now what the rescue keeps of
// uncommitted work: neither the same files nor a commit that made the same change.
func (r *Backups) Lacks(ctx context.Context, branch, ref string) bool {
	rescue, err := r.Refs.Ref(ctx, ref)
	if err != nil || rescue == "" {
		return false // what cannot be read is named by wfs doctor
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
		return err != nil || how == handover.FateNowhere
	})
}
