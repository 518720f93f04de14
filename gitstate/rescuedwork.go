package gitstate

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Rescued is one part of what a rescue keeps.
type Rescued struct {
	What   string         // for people: "the files"
	Commit session.Commit // that holds it
}

// RescuedWork are the parts of a rescue, those left out that others of them hold: the files; what was staged, if files
// were something else by then; the bytes of files that git converts, but for a session's documents.
func (r *Repo) RescuedWork(ctx context.Context, rescue session.Commit, s State) ([]Rescued, error) {
	info, err := r.CommitInfo(ctx, rescue)
	if err != nil {
		return nil, err
	}
	var parts []Rescued
	var index session.Commit
	for _, parent := range info.Parents {
		switch {
		case strings.Contains(info.Body, trailerStateCode+string(parent)):
			parts = append(parts, Rescued{"the files", parent})
		case strings.Contains(info.Body, trailerStateIndex+string(parent)):
			index = parent
		}
	}
	if index != "" {
		unlike := func(tree string) ([]string, error) {
			out, err := r.git(ctx, gitOpts{}, append([]string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, string(s.Index)}, withoutDocuments...)...)
			return splitZ(out), err
		}
		files, err := unlike(string(s.Tree))
		if err != nil {
			return nil, err
		}
		below := r.newObject("tree", nil).id
		if s.Head.Commit != "" {
			below = string(s.Head.Commit)
		}
		head, err := unlike(below)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(files, func(name string) bool { return slices.Contains(head, name) }) {
			parts = append(parts, Rescued{"what was staged", index})
		}
	}
	if s.Raw == "" {
		return parts, nil
	}
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "--name-only", "-z", string(s.Raw))
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(splitZ(out), func(name string) bool { return name != workDir }) {
		parts = append(parts, Rescued{"bytes of files that git converts,", rescue})
	}
	return parts, nil
}
