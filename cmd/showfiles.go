package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// filesJSON has the files that a session changed.
type filesJSON struct {
	All         []fileJSON        `json:"all"` // by path
	Checkpoints []checkpointFiles `json:"checkpoints"`
}

type fileJSON struct {
	session.FileLines       // between the base and the current checkpoint; the status is "" if they have the same file
	Checkpoints       []int `json:"checkpoints"` // those on the way to the current one that changed the file
}

// checkpointFiles has the files that a checkpoint changed.
type checkpointFiles struct {
	Checkpoint int                 `json:"checkpoint"`
	Phase      session.PhaseName   `json:"phase"`
	Trigger    session.Trigger     `json:"trigger"`
	Left       bool                `json:"left,omitempty"` // the session has gone back since, to before it
	Files      []session.FileLines `json:"files"`
}

// files lists the files that checkpoints changed. Renamed files are listed under both names.
func (v *view) files(ctx context.Context) error {
	s := v.s
	base, err := v.Repo.TreeOf(ctx, s.Base)
	if err != nil {
		return err
	}
	current := s.At(s.Current)
	if current == nil {
		return fmt.Errorf("%s has no checkpoint", s.ID)
	}
	pairs := []session.TreePair{{From: base, To: current.Tree}}
	onWay := views.OnWay(s)
	some := s.Checkpoints
	if n := v.j.Checkpoint; n != nil {
		some = some[*n : *n+1]
	}
	for _, c := range some {
		from := base
		if c.Number > 0 {
			from = s.At(c.On).Tree
		}
		pairs = append(pairs, session.TreePair{From: from, To: c.Tree})
	}
	diffs, err := v.Repo.Lines(ctx, pairs...)
	if err != nil {
		return err
	}
	j := &filesJSON{All: []fileJSON{}, Checkpoints: []checkpointFiles{}}
	v.j.Files = j
	byPath := map[string]*fileJSON{}
	of := func(d session.FileLines) *fileJSON {
		if byPath[d.Path] == nil {
			byPath[d.Path] = &fileJSON{FileLines: d, Checkpoints: []int{}}
		}
		return byPath[d.Path]
	}
	if v.j.Checkpoint == nil {
		for _, d := range diffs[0] {
			of(d)
		}
	}
	for i, c := range some {
		left := !onWay[c.Number]
		j.Checkpoints = append(j.Checkpoints, checkpointFiles{c.Number, c.Phase, c.Trigger, left, list(diffs[i+1])})
		if left && v.j.Checkpoint == nil {
			continue
		}
		for _, d := range diffs[i+1] {
			if v.j.Checkpoint == nil {
				d = session.FileLines{Path: d.Path}
			}
			f := of(d)
			f.Checkpoints = append(f.Checkpoints, c.Number)
		}
	}
	for _, path := range sortedKeys(byPath) {
		j.All = append(j.All, *byPath[path])
	}
	if v.json {
		return nil
	}
	v.tellFiles(j)
	if last := some[len(some)-1]; last.Incomplete {
		v.out("left out of @%d: %s", last.Number, present.Lacks(&last))
	}
	return nil
}

// quoted returns a path as it is or, if it would not be seen as it is, in quotes.
func quoted(path string) string {
	if safetext.Line(path, 0) != path || strings.ContainsAny(path, `"\`) {
		return strconv.Quote(path)
	}
	return path
}

func (v *view) tellFiles(j *filesJSON) {
	if len(j.All) == 0 {
		v.out("no changed files")
		return
	}
	var rows [][]any
	var of present.Parts
	added, removed := 0, 0
	counts := map[string]int{}
	for _, f := range j.All {
		lines := fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		switch {
		case f.Binary:
			lines = "binary"
		case f.Status == "":
			lines = "as on the base"
		}
		counts[f.Status]++
		added, removed = added+f.Added, removed+f.Removed
		rows = append(rows, []any{f.Status, lines, strings.TrimPrefix(numbered(f.Checkpoints), ": "), quoted(f.Path)})
	}
	v.env.WholeTable(rows)
	for _, k := range []struct{ status, word string }{{"A", "added"}, {"M", "modified"}, {"T", "of another type"},
		{"D", "deleted"}, {"", "as on the base again"}} {
		of.Add(counts[k.status] > 0, "%d %s", counts[k.status], k.word)
	}
	v.out("%s: %s; lines +%d -%d", present.N(len(j.All), "file"), strings.Join(of, ", "), added, removed)
}
