package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// maxSpecFile is the largest specification that is pinned, in bytes.
const maxSpecFile = 1 << 20

// readSpec reads the file that says what is wanted, and its checklist.
func (a *app) readSpec(ctx context.Context, b *engine.Birth, file string) error {
	if file == "" {
		return nil
	}
	path := a.env.Abs(file)
	text, err := readOr(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return &usageError{fmt.Sprintf("there is no spec %s", file), ""}
	}
	if err != nil {
		return err
	}
	if len(text) > maxSpecFile {
		return &usageError{fmt.Sprintf("the spec %s is larger than %d bytes", file, maxSpecFile), ""}
	}
	if keys := a.Redactor().Keys(text); len(keys) > 0 { // the ledger keeps it for good, and every brief has it
		return &usageError{fmt.Sprintf("%s:%d holds what looks like a secret (%s), and a spec is kept in git: take it out of the document",
			file, keys[0].Line, keys[0].Kind), ""}
	}
	b.Spec, b.Created.SpecDigest = text, workspace.Digest(text)
	if b.Created.SpecPath, err = a.specPath(ctx, path); err != nil {
		return err
	}
	for _, item := range workflows.ParseChecklist(text) {
		if !item.Done {
			b.Created.Items = append(b.Created.Items, item.Text)
		}
	}
	return nil
}

// readOr reads a file that may be a pipe, up to one byte more than a spec may have, unless a signal comes first.
func readOr(ctx context.Context, path string) ([]byte, error) {
	var text []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close()
			text, err = io.ReadAll(io.LimitReader(f, maxSpecFile+1))
		}
	}()
	select {
	case <-done:
		return text, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// specPath is how a session names the file of its spec: one of the work tree from its top, so that it is the same file in
// all work trees; another one from the top of the main work tree. It is "" where no path leads from there.
func (a *app) specPath(ctx context.Context, path string) (string, error) {
	if rel, err := filepath.Rel(a.Repo.Root(), path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), nil
	}
	main, err := a.MainRepo(ctx)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(main.Root(), path)
	if err != nil {
		rel = ""
	}
	return filepath.ToSlash(rel), nil
}

// specFile is the file that a session's spec was read from, "" when that cannot be said here: the same file of the work
// tree is another one where another branch is checked out.
func (a *app) specFile(ctx context.Context, s *session.Session) string {
	path := filepath.FromSlash(s.SpecPath)
	switch {
	case path == "":
		return ""
	case filepath.IsLocal(path):
		if cur, err := a.Current(ctx); err != nil || cur != s.ID {
			return ""
		}
		return filepath.Join(a.Repo.Root(), path)
	}
	main, err := a.MainRepo(ctx)
	if err != nil {
		return ""
	}
	return filepath.Join(main.Root(), path)
}

// specEdited is the command that pins the file of a session's spec anew, if it says something else by now. Ticks do not
// count: agents like to set them.
func (a *app) specEdited(ctx context.Context, s *session.Session) string {
	file := a.specFile(ctx, s)
	if file == "" || s.Status.Final() {
		return ""
	}
	text, err := durable.ReadFile(file, maxSpecFile)
	if err != nil || workspace.Digest(text) == s.SpecDigest { // one that is gone is no edit
		return ""
	}
	tip, err := a.Repo.Ref(ctx, session.LedgerOf(s.ID))
	if err != nil {
		return ""
	}
	pinned, err := a.Repo.File(ctx, tip, session.FileSpec)
	if err != nil || bytes.Equal(unticked(text), unticked(pinned)) {
		return ""
	}
	if birth := s.At(0); birth != nil && filepath.IsLocal(filepath.FromSlash(s.SpecPath)) { // pinned, and left where the session was begun
		if born, err := a.Repo.Show(ctx, birth.Tree, s.SpecPath); err == nil && born != nil && bytes.Equal(unticked(text), unticked(born)) {
			return ""
		}
	}
	return a.editSpec(s.ID, file)
}

var tick = lazyregexp.New(`(?m)^(\s*(?:[-*+]|\d+[.)])\s+)\[[xX]\]`)

func unticked(text []byte) []byte { return tick.ReplaceAll(text, []byte("$1[ ]")) }

// editSpec is the command that gives a session a spec, typed where this one was.
func (a *app) editSpec(id session.ID, file string) string {
	if rel, err := filepath.Rel(a.env.Dir, file); err == nil {
		file = rel
	}
	return fmt.Sprintf("wfs edit %s --spec %s", id, shellWord(filepath.ToSlash(file)))
}

// saySpecEdited says that the file of the spec was edited since it was pinned.
func saySpecEdited(say func(string, ...any), command string) {
	if command != "" {
		say("the spec was edited since it was pinned; to use it as it is now: %s", command)
	}
}

// openItems says that a new session has a spec and nothing on its list, and what to do.
func (a *app) openItems(h *engine.Hand, spec []byte, file string) string {
	if h.S.SpecDigest == "" || len(h.S.Items) > 0 {
		return ""
	}
	why := `no line begins with "- [ ] "`
	if n := len(workflows.ParseChecklist(spec)); n > 0 {
		why = plural(n, "the only one is ticked", fmt.Sprintf("all %d are ticked", n))
	}
	return fmt.Sprintf("the spec has no open items (%s): the whole goal is one piece of work; "+
		"to have items worked off, write them as \"- [ ] item\", then: %s", why, a.editSpec(h.ID, a.env.Abs(file)))
}

// resumeInstead is the answer of a person who is asked whether another session shall begin with the same spec.
type resumeInstead session.ID

func (r resumeInstead) Error() string { return "resume " + string(r) }

// sameSpec asks before a second session begins with the spec of one that is not finished.
func (a *app) sameSpec(ctx context.Context, c *session.Created, o newOptions) error {
	if c.SpecDigest == "" || o.again || strings.Contains(o.from, "@") {
		return nil
	}
	ids, err := a.sessionIDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		v, err := a.View(ctx, id)
		if err != nil || v.Session.Status.Final() { // one that cannot be read is told of elsewhere
			continue
		}
		s := &v.Session
		way := "wfs resume " + string(id)
		what := string(id) + " has this spec already"
		switch {
		case s.SpecDigest == c.SpecDigest:
		case s.SpecPath != "" && s.SpecPath == c.SpecPath:
			way, what = a.editSpec(id, a.env.Abs(o.spec)), what+", as it was before it was edited"
		default:
			continue
		}
		if !a.env.StdinTTY || a.json {
			return &session.Refusal{Code: session.RefuseSameSpec, Message: what + "; to begin another session with it: --again", Hint: way}
		}
		a.note("%s", what)
		answer, err := a.promptFor(ctx, "[r]esume "+string(id)+", begin [a]nother one, or [q]uit? ", "wfs new --again",
			"r", "resume", "a", "another", "q", "quit", "")
		if err != nil {
			return err
		}
		switch answer {
		case "r", "resume":
			return resumeInstead(id)
		case "a", "another":
			return nil
		}
		a.note("nothing was begun, and nothing was changed")
		return exitWith(exitDecision)
	}
	return nil
}
