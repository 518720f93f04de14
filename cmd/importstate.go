package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/statefile"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/workflows"
)

// imported is the state of another session manager that a new session continues.
type imported struct{ *statefile.State }

// takeOver sets where the session begins: in the phase of the state, or in an earlier one whose document is missing.
func (st imported) takeOver(n *newborn) error {
	c, w := &n.b.Created, &n.b.Plan.Workflow
	path, at, lapped := passing(w, cmp.Or(c.First, c.Start)), -1, -1
	for i, p := range path {
		if string(p.Name) == st.Phase {
			at = i
		}
		if p.On[workflows.Pass] == workflows.NextLap {
			lapped = i
		}
	}
	if at < 0 {
		return usage("wfs new "+shellWord(n.o.goal), "the workflow %s has no phase %s here", w.Name, st.Phase)
	}
	if lapped >= 0 && at > lapped && len(c.Items) > 0 {
		n.note("%s is open in the specification: the session begins with the laps, not in %s", c.Items[0], st.Phase)
		at = 0
	}
	for i, p := range path[:at] {
		if name := lacks(p, path[at:], st.Documents); name != "" {
			n.note("%s is missing: the session begins in %s, which writes it, not in %s", name, p.Name, st.Phase)
			at = i
			break
		}
	}
	i := session.Imported{From: st.File, ID: safetext.Line(n.Redact(st.ID), 80), Phase: path[at].Name}
	for _, p := range path[:at] {
		if p.Approves == "" {
			i.Unjudged = append(i.Unjudged, p.Name)
		}
	}
	i.Note = fmt.Sprintf("This continues session %s of another tool (%s). wfs has not judged what was done there.",
		i.ID, i.From)
	for _, line := range st.Note {
		i.Note += "\n" + safetext.Line(n.Redact(line), 200)
	}
	c.Imported = &i
	for _, own := range st.Own {
		if path, err := filepath.Rel(n.Repo.Root(), own); err == nil && filepath.IsLocal(path) {
			n.b.Exclude = append([]byte(codec.ExcludeRule(filepath.ToSlash(path))+"\n"), n.b.Exclude...)
		}
	}
	return nil
}

// passing returns the phases that work goes through from `name` on, if every phase passes, each once.
func passing(w *workflows.Workflow, name session.PhaseName) (path []*workflows.Phase) {
	for p := w.Phase(name); p != nil && !slices.Contains(path, p); p = w.Phase(name) {
		path = append(path, p)
		if name = p.On[workflows.Pass]; name == workflows.NextLap {
			name = w.AfterLaps()
		}
	}
	return path
}

// lacks returns the name of a document that a phase writes, one of `later` needs, and `there` does not have. It returns
// "" if there is none.
func lacks(p *workflows.Phase, later []*workflows.Phase, there []statefile.Document) string {
	for _, g := range p.Gates {
		has := slices.ContainsFunc(there, func(d statefile.Document) bool { return d.Name == g.Document })
		if g.Document != "" && !has && slices.ContainsFunc(later, func(l *workflows.Phase) bool {
			return slices.ContainsFunc(l.Gates, func(x workflows.Gate) bool { return x.Document == g.Document })
		}) {
			return g.Document
		}
	}
	return ""
}

// bringDocuments writes the documents of the state where the session has its documents.
func (st imported) bringDocuments(n *newborn) error {
	if st.State == nil || len(st.Documents) == 0 {
		return nil
	}
	root, err := os.OpenRoot(n.Repo.Root()) // no link leads out of the work tree
	if err != nil {
		return err
	}
	defer root.Close()
	dir := brief.DocumentsDir(n.h.ID)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var names []string
	for _, d := range st.Documents {
		f, err := root.OpenFile(dir+"/"+d.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			n.note("%s/%s exists, and stays as it is", dir, d.Name)
			continue
		}
		if err == nil {
			_, err = f.Write(d.Text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
		names = append(names, d.Name)
	}
	n.note("taken over into %s: %s", dir, strings.Join(names, ", "))
	return nil
}
