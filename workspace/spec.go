package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// maxSpecFile is the maximum size of a specification, in bytes.
const maxSpecFile = 1 << 20

// FindSpec returns a refusal if a spec does not exist. It does nothing if `file` is "".
func (b *Births) FindSpec(file string) error {
	if file == "" {
		return nil
	}
	if _, err := os.Stat(b.w.Env.Abs(file)); errors.Is(err, fs.ErrNotExist) {
		return session.Refuse(session.RefuseUsage, "", "there is no spec %s", file)
	}
	return nil
}

// ReadSpec reads a spec, and stores its text and its open items in `birth`, the data of a new session. It does nothing
// if `file` is "".
func (b *Births) ReadSpec(ctx context.Context, birth *transition.Birth, file string) error {
	if file == "" {
		return nil
	}
	if err := b.FindSpec(file); err != nil {
		return err
	}
	path := b.w.Env.Abs(file)
	text, err := readOr(ctx, path)
	if err != nil {
		return err
	}
	if len(text) > maxSpecFile {
		return session.Refuse(session.RefuseUsage, "", "the spec %s is larger than %d bytes", file, maxSpecFile)
	}
	// the ledger keeps the spec permanently, and each brief contains it
	if keys := b.w.Redactor().Keys(text); len(keys) > 0 {
		return session.Refuse(session.RefuseUsage, "",
			"%s:%d holds what looks like a secret (%s), and a spec is kept in git: take it out of the document",
			file, keys[0].Line, keys[0].Kind)
	}
	birth.Spec, birth.Created.SpecDigest = text, Digest(text)
	if birth.Created.SpecPath, err = b.specPath(ctx, path); err != nil {
		return err
	}
	for _, item := range checklist.Spec(text) {
		if !item.Done {
			birth.Created.Items = append(birth.Created.Items, item.Text)
		}
	}
	return nil
}

// readOr reads a file, which may be a pipe. It reads at most one byte more than the maximum size, so that the caller
// recognises a spec that is too large. It returns early if ctx ends.
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

// specPath returns the path of a spec as its session records it. For a file in the work tree it is relative to the top,
// so that it means the corresponding file in every work tree. For any other file it is relative to the top of the main
// work tree. It returns "" if there is no relative path.
func (b *Births) specPath(ctx context.Context, path string) (string, error) {
	rel, err := filepath.Rel(b.w.Repo.Root(), path)
	if err != nil || !filepath.IsLocal(rel) {
		main, e := b.w.MainRepo(ctx)
		if e != nil {
			return "", e
		}
		if rel, err = filepath.Rel(main.Root(), path); err != nil {
			rel = ""
		}
	}
	return filepath.ToSlash(rel), nil
}

// SpecEdited returns the command that pins a session's spec again if its file was edited since it was pinned, ""
// otherwise. Changed ticks alone do not count as an edit, because agents often set them.
func (b *Births) SpecEdited(ctx context.Context, s *session.Session) string {
	file := b.specFile(ctx, s)
	text, err := durable.ReadFile(file, maxSpecFile)
	if file == "" || err != nil || Digest(text) == s.SpecDigest { // a missing file does not count as an edit
		return ""
	}
	same := func(other []byte, err error) bool {
		return err == nil && other != nil && bytes.Equal(unticked(text), unticked(other))
	}
	repo := b.w.Repo
	tip, err := repo.Ref(ctx, session.LedgerOf(s.ID))
	if err != nil {
		return ""
	}
	pinned, err := repo.File(ctx, tip, session.FileSpec)
	if err != nil || same(pinned, nil) {
		return ""
	}
	if birth := s.At(0); birth != nil && filepath.IsLocal(filepath.FromSlash(s.SpecPath)) &&
		same(repo.Show(ctx, birth.Tree, s.SpecPath)) {
		return "" // the file is still as it was when the session began
	}
	return b.editSpec(s.ID, file)
}

// specFile returns the path of the file with a session's spec. It returns "" if the spec is in the work tree and the
// session is not checked out here: on another branch, the file may differ.
func (b *Births) specFile(ctx context.Context, s *session.Session) string {
	path := filepath.FromSlash(s.SpecPath)
	switch {
	case path == "" || s.Status.Final():
		return ""
	case filepath.IsLocal(path):
		if cur, err := b.w.Current(ctx); err != nil || cur != s.ID {
			return ""
		}
		return filepath.Join(b.w.Repo.Root(), path)
	}
	main, err := b.w.MainRepo(ctx)
	if err != nil {
		return ""
	}
	return filepath.Join(main.Root(), path)
}

var tick = lazyregexp.New(`(?m)^(\s*(?:[-*+]|\d+[.)])\s+)\[[xX]\]`)

func unticked(text []byte) []byte { return tick.ReplaceAll(text, []byte("$1[ ]")) }

// editSpec returns the command that sets a session's spec to a file. The path is relative to the current directory.
func (b *Births) editSpec(id session.ID, file string) string {
	if rel, err := filepath.Rel(b.w.Env.Dir, file); err == nil {
		file = rel
	}
	return fmt.Sprintf("wfs edit %s --spec %s", id, safetext.ShellWord(filepath.ToSlash(file)))
}

// SameGoal returns the session that is named after a goal, if it has this goal and is neither finished nor abandoned;
// else "". Often it was interrupted, and should continue.
func (b *Births) SameGoal(ctx context.Context, goal string) session.ID {
	id := session.Slug(goal, func(session.ID) bool { return false })
	if v, err := b.w.View(ctx, id); err == nil && !v.Session.Status.Final() && v.Session.Goal == goal {
		return id
	}
	return ""
}

// SameSpec finds a session with the same spec that is neither finished nor abandoned. It returns the session's id, a
// message, and the command to type instead of creating another session. All are "" if there is no such session.
func (b *Births) SameSpec(ctx context.Context, c *session.Created, file string) (id session.ID, what, way string,
	err error) {
	all, err := b.w.Repo.Sessions(ctx)
	if err != nil {
		return "", "", "", err
	}
	for _, name := range SortedIDs(all) {
		id := session.ID(name)
		v, err := b.w.View(ctx, id)
		if err != nil || v.Session.Status.Final() { // unreadable sessions are reported elsewhere
			continue
		}
		s := &v.Session
		switch {
		case s.SpecDigest == c.SpecDigest:
			return id, name + " has this spec already", "wfs resume " + name, nil
		case s.SpecPath != "" && s.SpecPath == c.SpecPath:
			return id, name + " has this spec already, as it was before it was edited", b.editSpec(id, b.w.Env.Abs(file)), nil
		}
	}
	return "", "", "", nil
}

// NoItems returns a text that explains why a new session has a spec but no items, or that its items are scenarios. It
// returns "" if it has the items of a checklist or no spec.
func (b *Births) NoItems(s *session.Session, spec []byte, file string) string {
	n := len(checklist.Parse(spec))
	switch {
	case s.SpecDigest == "" || len(s.Items) > 0 && (n > 0 || file == ""):
		return ""
	case len(s.Items) > 0:
		return fmt.Sprintf("the items are the scenarios of %s, because it has no checklist", file)
	}
	why := `no line begins with "- [ ] " or "Scenario: "`
	if n > 0 {
		why = safetext.Word(n, "the only one is ticked", fmt.Sprintf("all %d are ticked", n))
	}
	return fmt.Sprintf("the spec has no open items (%s): the whole goal is one piece of work; "+
		"to have items worked off, write them as \"- [ ] item\", then: %s", why, b.editSpec(s.ID, b.w.Env.Abs(file)))
}

// Uncommitted returns a snapshot of this work tree, made with the exclude rules of a new session, and the paths of the
// uncommitted files.
func (b *Births) Uncommitted(ctx context.Context, birth *transition.Birth) (session.Snapshot, []string, error) {
	file, err := b.w.GuardFile(birth.Exclude)
	if err != nil {
		return session.Snapshot{}, nil, err
	}
	snap, err := b.w.Repo.Snapshot(ctx, file)
	if err != nil || snap.Clean() {
		return snap, nil, err
	}
	changes, err := b.w.Repo.Changes(ctx, snap.HeadTree, snap.Tree)
	var names []string
	for _, c := range changes {
		names = append(names, c.Path)
	}
	return snap, names, err
}
