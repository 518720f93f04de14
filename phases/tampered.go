package phases

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/tamper"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// tampered compares the tests that are frozen with those that an attempt left. An error means that a tree could not be read.
func (j *Judge) tampered(ctx context.Context, r session.JudgeRequest) (tamper.Report, error) {
	if r.Frozen == "" || r.Frozen == r.Tree || j.Show == nil || j.Changes == nil {
		return tamper.Report{}, nil
	}
	changes, err := j.Changes(ctx, r.Frozen, r.Tree)
	if err != nil {
		return tamper.Report{}, err
	}
	changes = slices.DeleteFunc(changes, func(c session.Change) bool {
		return strings.HasPrefix(c.Path, ".wfs/") || strings.HasPrefix(c.Path, ".workflow/")
	})
	slices.SortStableFunc(changes, func(a, b session.Change) int { return weight(a) - weight(b) })
	req := tamper.Request{MayRemove: mayRemove(r), Target: target(r)}
	for _, p := range r.Plan.Workflow.Phases {
		for _, g := range p.Gates {
			if g.Runs() {
				req.Gates = append(req.Gates, g.Run.Text())
			}
		}
	}
	var links map[string]string
	if j.Links != nil {
		if links, err = j.Links(ctx, r.Frozen); err != nil {
			return tamper.Report{}, err
		}
	}
	files, own, err := j.linked(ctx, r, changes, links)
	if err != nil {
		return tamper.Report{}, err
	}
	req.Files = files
	size := 0
	for _, c := range changes {
		f, read := tamper.File{Path: c.Path}, j.side
		if links[c.Path] != "" {
			read = j.behind
		}
		if c.Status != "A" {
			if f.Before, err = read(ctx, r.Frozen, c.Path); err != nil {
				return tamper.Report{}, err
			}
		}
		if c.Status != "D" {
			if f.After, err = read(ctx, r.Tree, c.Path); err != nil {
				return tamper.Report{}, err
			}
		}
		if size += len(f.Before) + len(f.After); size > tamper.MaxBytes {
			size -= len(f.Before) + len(f.After)
			f = f.Without()
		}
		req.Files = append(req.Files, f)
	}
	done := make(chan tamper.Report, 1)
	go func() { done <- tamper.Compare(req) }()
	select {
	case rep := <-done:
		for i, f := range rep.Findings {
			if file := own[f.Path]; file != "" {
				rep.Findings[i].Path = file
			}
		}
		return rep, nil
	case <-ctx.Done(): // what goes on changes nothing, and ends with the process
		return tamper.Report{}, ctx.Err()
	}
}

// side is a file of a tree. One that is there and empty is not nil.
func (j *Judge) side(ctx context.Context, tree session.Tree, path string) ([]byte, error) {
	data, err := j.Show(ctx, tree, path)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// weight puts what there was before what is new, and of both what is about tests first: nothing that is added keeps a test
// from being read.
func weight(c session.Change) int {
	w := 0
	if c.Status == "A" {
		w = 2
	}
	if !tamper.AboutTests(c.Path) {
		w++
	}
	return w
}

// mayRemove reports whether tests may go together with what they test: not in the phase that makes new tests pass.
func mayRemove(r session.JudgeRequest) bool {
	red := r.Plan.Workflow.Red()
	return red == nil || red.On[workflows.Pass] != r.Phase.Name
}

// target tells the lap's tests by the names that they are declared by.
func target(r session.JudgeRequest) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(r.Targets, func(id session.TestID) bool { return matches(id, name) || leaf(id) == name || isMethod(id, name) }) ||
			slices.ContainsFunc(r.Expected, func(e string) bool {
				return e == name || strings.HasSuffix(e, "."+name) || strings.HasSuffix(e, inSuite+name)
			})
	}
}

// isMethod reports whether a test of Go is a method of a suite of this name.
func isMethod(id session.TestID, name string) bool {
	pkg, _ := goTest(id)
	return pkg != "" && strings.HasSuffix(string(id), "/"+name)
}

// noteTampering enters into a judgement what was done to tests. It reports whether that is held against the attempt
// unless experiments acquit it.
func (j *Judge) noteTampering(out *session.Judgement, rep tamper.Report, r session.JudgeRequest) bool {
	for _, f := range rep.Findings[:min(len(rep.Findings), session.MaxNamed)] {
		line := func(s string) string { return safetext.Line(j.Secrets.String(s), maxShown) }
		out.Tampered = append(out.Tampered, session.Tampering{Kind: string(f.Kind), Path: f.Path, Test: line(f.Test), Line: f.Line, Before: line(f.Before), After: line(f.After), Grave: f.Grave})
	}
	grave := out.Grave()
	policy := r.Plan.Workflow.TamperIn(&r.Phase)
	if len(grave) == 0 || r.Approved || policy != workflows.TamperStrict && policy != workflows.TamperReview {
		return false
	}
	return true
}

// tamperText is the first finding in a few words, and how many there are.
func tamperText(list []session.Tampering) string {
	f := list[0]
	text := strings.ReplaceAll(f.Kind, "_", " ") + " in " + f.Path
	if f.Test != "" {
		text += " (" + f.Test + ")"
	}
	if n := len(list) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// withoutCode is the judge of a gate that expects red after the work went back to change a test: the code that was written
// for the test before would make the changed one pass at once. So the tests of now are run over what the lap began with. The
// judge itself, where there is no place for that.
func (j *Judge) withoutCode(ctx context.Context, g workflows.Gate, r session.JudgeRequest) (*Judge, error) {
	if !r.TestChange || g.Expect != workflows.ExpectRed || j.Overlay == nil || j.Clean == nil || r.LapTree == "" {
		return j, nil
	}
	var paths []string
	for _, c := range r.Changed {
		if tamper.AboutTests(c.Path) {
			paths = append(paths, c.Path)
		}
	}
	tree, err := j.Overlay(ctx, r.LapTree, r.Tree, paths)
	if err != nil {
		return nil, err
	}
	at, c, err := j.in(ctx, tree)
	if err != nil || c.LeadsBack != nil {
		return j, ctx.Err()
	}
	return at, nil
}
