package gitstate

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Rescued is one part of what a rescue keeps.
type Rescued struct {
	What   string         // for people: "the files"
	Name   string         // for a branch that holds it as well, after the rescue's: "-staged"
	Commit session.Commit // that holds it
}

// RescuedWork are the parts of a rescue, those left out that others of them hold: the files; what was staged, if files
// were something else by then; the bytes of files that git converts, but for a session's documents and for ends of lines.
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
			parts = append(parts, Rescued{"the files", "", parent})
		case strings.Contains(info.Body, trailerStateIndex+string(parent)):
			index = parent
		}
	}
	if index != "" {
		unlike := func(tree string) ([]string, error) {
			out, err := r.git(ctx, gitOpts{}, append([]string{"diff-tree", everySubmodule, "-r", "-z", "--name-only", "--no-renames", tree, string(s.Index)}, withoutDocuments...)...)
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
			parts = append(parts, Rescued{"what was staged", "-staged", index})
		}
	}
	if s.Raw == "" {
		return parts, nil
	}
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "-r", "--name-only", "-z", string(s.Raw))
	if err != nil {
		return nil, err
	}
	for _, name := range splitZ(out) {
		if strings.HasPrefix(name, workDir+"/") {
			continue
		}
		kept := Rescued{"bytes of files that git converts,", "-bytes", rescue}
		if strings.Contains(name, "\n") { // which cannot be looked up
			return append(parts, kept), nil
		}
		got, err := r.lookup(ctx, string(s.Raw)+":"+name, string(s.Tree)+":"+name)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(withoutReturns(got[0].data), withoutReturns(got[1].data)) {
			return append(parts, kept), nil
		}
	}
	return parts, nil
}

func withoutReturns(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
