package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/report"
	"github.com/wfs-dev/wfs/cmd/internal/sidebyside"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// writtenJSON says which file a report was written to.
type writtenJSON struct {
	Version  int          `json:"version"`
	File     string       `json:"file"`
	Format   string       `json:"format"`
	Bytes    int          `json:"bytes"`
	Sessions []session.ID `json:"sessions"`
}

type reportVerb struct {
	*app
	file, format string
	all, force   bool
}

const (
	formatHTML     = "html"
	formatMarkdown = "markdown"
)

func (a *reportVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "report [SESSION...]", Short: "one file about a session, to mail or keep: HTML or Markdown",
		Long: `Report says what was requested and what was delivered, the evidence, what happened in which order, what
it cost, and what changed. With several sessions it also compares their agents.

Without -o it prints Markdown. An HTML file needs no network, no script and no other file. Both have the texts
and names of the session's history, and nothing from logs: no prompt and no output of an agent or a gate. Long
sessions are cut, with the command that shows the rest; --json prints the data without limits.

An existing file is overwritten only if it is a report. Report changes nothing else and takes no lock.`,
		Example: `  wfs report
  wfs report csv-export -o report.html
  wfs report -o report.md
  wfs report --all -o sessions.html
  wfs report --json | jq '.sessions[].asked'`,
		RunE: with(a.run),
	}
	f := c.Flags()
	f.StringVarP(&a.file, "output", "o", "", "`file` to write, - for standard output")
	f.StringVar(&a.format, "format", "", "`format`: html or markdown (default: by the name of the file, else markdown)")
	f.BoolVar(&a.all, "all", false, "all sessions")
	f.BoolVar(&a.force, "force", false, "overwrite a file that is not a report")
	return c
}

func (a *reportVerb) run(ctx context.Context, args []string) error {
	if err := a.chooseFormat(); err != nil {
		return err
	}
	if a.all && len(args) > 0 {
		return usage("wfs report --all", "--all and names of sessions exclude each other")
	}
	ids, err := a.chosen(ctx, args)
	if err != nil {
		return err
	}
	file := a.file
	if file == "-" {
		file = ""
	}
	if file != "" {
		file = a.env.Abs(file)
		if err := a.mayWrite(file); err != nil {
			return err
		}
	}
	r, err := a.read(ctx, ids)
	if err != nil {
		return err
	}
	r.Redact(a.Redact)
	if file == "" && a.json {
		return a.answer(r)
	}
	var b bytes.Buffer
	write := r.Markdown
	if a.format == formatHTML {
		write = r.HTML
	}
	if err := write(&b); err != nil {
		return err
	}
	if file == "" {
		a.page(ctx)
		_, err := a.env.Stdout.Write(b.Bytes())
		return err
	}
	if err := durable.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	a.noteInTree(ctx, file)
	if a.json {
		return a.answer(writtenJSON{jsonVersion, file, a.format, b.Len(), ids})
	}
	a.out("%s (%s)", file, present.Bytes(int64(b.Len())))
	return nil
}

// chooseFormat checks the flags, and sets the format.
func (a *reportVerb) chooseFormat() error {
	byName := formatMarkdown
	switch ext := strings.ToLower(filepath.Ext(a.file)); {
	case ext == ".html" || ext == ".htm":
		byName = formatHTML
	case a.format == "" && a.file != "" && a.file != "-" && ext != ".md" && ext != ".markdown":
		return usage("wfs report -o "+shellWord(a.file)+" --format html",
			"the name %s says no format: it ends neither in .html nor in .md", a.file)
	}
	switch a.format {
	case "":
		a.format = byName
	case "md":
		a.format = formatMarkdown
	case formatHTML, formatMarkdown:
	default:
		return usage("wfs report --format html", "--format %q: it is html or markdown", a.format)
	}
	return nil
}

// chosen returns the sessions of the report: all, those with the given names, or the current one.
func (a *reportVerb) chosen(ctx context.Context, names []string) (ids []session.ID, err error) {
	if err := a.Open(ctx); err != nil {
		return nil, err
	}
	if a.all {
		if ids, err = sessionIDs(ctx, a.Repo); err == nil && len(ids) == 0 {
			err = session.Refuse(session.RefuseNoSession, a.newCommand(ctx), "no session yet")
		}
		return ids, err
	}
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		id, err := a.Resolve(ctx, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// mayWrite returns an error if a file must not be written: its directory is missing, or it is there and no report.
func (a *reportVerb) mayWrite(file string) error {
	if dir := filepath.Dir(file); !isDir(dir) {
		return usage("mkdir -p "+shellWord(dir), "there is no directory %s", dir)
	}
	begins, err := durable.ReadBeginning(file, 100)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (a.force || bytes.Contains(begins, []byte(report.Mark))) {
		return nil
	}
	another := "wfs report -o ANOTHER-FILE" + filepath.Ext(file)
	if err != nil {
		return usage(another, "cannot be overwritten: %v", err)
	}
	return usage(another, "%s already exists and is not a report of wfs; --force overwrites it", file)
}

// noteInTree warns of a report in the work tree that the next checkpoint would take for a part of the work.
func (a *reportVerb) noteInTree(ctx context.Context, file string) {
	rel, err := filepath.Rel(a.Repo.Root(), file)
	if err != nil || !filepath.IsLocal(rel) {
		return
	}
	rel = filepath.ToSlash(rel)
	if ignored, err := a.Repo.Ignores(ctx, []string{rel}); err == nil && !ignored[rel] {
		a.note("git does not ignore it: the next checkpoint here will have it")
	}
}

// read reads the sessions. Of several sessions, one that cannot be read is named in the report.
func (a *reportVerb) read(ctx context.Context, ids []session.ID) (*report.Report, error) {
	r := &report.Report{Version: jsonVersion, At: a.env.Now().UTC(), WFS: Version, Sessions: []report.Session{},
		Unreadable: map[string]string{}}
	for _, id := range ids {
		in, err := a.input(ctx, id, len(ids) == 1)
		switch {
		case err == nil:
			r.Add(report.Of(in))
		case len(ids) == 1:
			return nil, err
		default:
			r.Unreadable[string(id)] = safetext.Line(err.Error(), 0)
		}
	}
	if a.all {
		slices.SortStableFunc(r.Sessions, func(x, y report.Session) int {
			return y.Session.UpdatedAt.Compare(x.Session.UpdatedAt)
		})
	}
	return r, nil
}

// input reads what a report says of a session, which may be alone in it. The work tree and this machine are left out:
// the file is for others.
func (a *reportVerb) input(ctx context.Context, id session.ID, alone bool) (in report.Input, err error) {
	v, err := a.View(ctx, id)
	if err != nil {
		return in, err
	}
	s, ledger := &v.Session, addJudged(ctx, a.Workspace, &v)
	if in.Events, err = eventsOf(ctx, a.Workspace, id); err != nil {
		return in, err
	}
	if len(in.Events) == 0 {
		return in, errors.New("its history has no events")
	}
	j, _, err := a.seen(ctx, s)
	if err != nil {
		return in, err
	}
	addTests(ctx, a.Workspace, &j, ledger)
	j.Cost = costOf(ctx, a.Workspace, &v)
	in.Story = present.StoryOf(j, a.env.Now())
	in.Closing = in.Story.Closing(a.env.Facts, a.env.Now(), false)
	if !j.Current {
		in.Story.Ways = nil // they are for the work tree that has the session checked out
	}
	in.Story.Driver, in.Story.Worktree, in.Story.Alive = nil, "", nil
	base, err := a.Repo.TreeOf(ctx, s.Base)
	if err != nil {
		return in, err
	}
	if in.Lines, err = a.Repo.Lines(ctx, report.Pairs(s, base)...); err != nil {
		return in, err
	}
	if c := s.At(s.Current); c != nil && alone && !(a.json && a.file == "") {
		err = a.changes(ctx, &in, s.Base, c.Code)
	}
	return in, err
}

// changes adds the difference between two commits, as the format needs it.
func (a *reportVerb) changes(ctx context.Context, in *report.Input, from, to session.Commit) error {
	if a.format == formatMarkdown {
		patch := &beginning{most: report.MostDiff + 1}
		safe := a.Redactor().Patch(patch)
		err := errors.Join(a.Repo.DiffTo(ctx, string(from), string(to), object.DiffOptions{}, safe), safe.Close())
		in.Diff = patch.String()
		return err
	}
	d, err := sidebyside.Read(ctx, safePatches{a.app}, string(from), string(to), aroundChanges,
		"wfs diff "+string(in.Story.ID))
	if err == nil {
		in.Beside, err = d.HTML()
	}
	return err
}

// safePatches writes patches without secrets.
type safePatches struct{ *app }

func (p safePatches) Patch(ctx context.Context, from, to string, around int, w io.Writer) error {
	safe := p.Redactor().Patch(w)
	return errors.Join(p.Repo.Objects.Patch(ctx, from, to, around, safe), safe.Close())
}

// beginning keeps the first bytes that are written to it.
type beginning struct {
	bytes.Buffer
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	_, err := b.Buffer.Write(p[:min(len(p), b.most-b.Len())])
	return len(p), err
}
