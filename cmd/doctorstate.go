package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// What the doctor looks at in the clone's own files, and in sessions.

// files looks at everything below <git common dir>/wfs, and at the marks of trust.
func (e *examination) files() error {
	flaws, err := e.a.clone.Examine()
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err != nil {
		e.add(finding{Level: findBlocks, About: "file", Where: e.a.clone.Dir(), What: "cannot be read: " + err.Error(), Follows: "no session can be used",
			Next: fmt.Sprintf("sudo chown -R \"$(id -u)\" %s", shellWord(e.a.clone.Dir()))})
	}
	left := 0
	for _, f := range flaws {
		if f.Left {
			left++
			continue
		}
		e.flaw(f)
	}
	if left > 0 {
		e.add(finding{Level: findTells, About: "left-over", Where: e.a.clone.Dir(), What: fmt.Sprintf("%d unfinished %s of killed commands", left, plural(left, "file", "files")),
			Follows: "they hold nothing that wfs reported", Next: repairCommand, mend: e.dropUnfinished(flaws)})
	}
	return e.trust()
}

// dropUnfinished removes what killed commands were writing.
func (e *examination) dropUnfinished(flaws []registry.Flaw) func(context.Context) (string, string, error) {
	return func(context.Context) (string, string, error) {
		for _, f := range flaws {
			if !f.Left || f.Session != "" && !e.a.holds(f.Session) && e.a.driven(f.Session) {
				continue
			}
			if _, err := e.a.clone.Mend(f, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", "", err
			}
		}
		return "removed", "", nil
	}
}

// flaw turns one flaw of the clone's files into a finding.
func (e *examination) flaw(f registry.Flaw) {
	out := finding{Level: findBlocks, About: "file", Session: f.Session, Where: f.Path, What: f.Kind.Name + ": " + plainError(f), Follows: f.Kind.Lost, Next: repairCommand}
	if f.Kind.Name == "journal" {
		out.About = "journal"
	}
	if f.Kind.Cache {
		out.Level, out.Follows = findTells, "nothing: it is recreated"
		if f.Wrong {
			out.Level, out.Follows = findWarns, "it cannot be recreated in place"
		}
	}
	switch {
	case errors.Is(f.Err, session.ErrNewer):
		out.What, out.Next = f.Kind.Name+": a newer wfs wrote it", "install a newer wfs; nothing was changed"
	case errors.Is(f.Err, durable.ErrNotPrivate) && !f.Wrong:
		out.What, out.Follows, out.Next = f.Err.Error(), "nothing in it can be trusted", notPrivateHint(f.Path)
	default:
		out.lock, out.free = f.Session, f.Wrong
		out.mend = func(ctx context.Context) (string, string, error) { return e.mendFlaw(ctx, f) }
	}
	e.add(out)
}

// plainError is a flaw's error without the path that is said anyway.
func plainError(f registry.Flaw) string {
	text := f.Err.Error()
	for _, cut := range []string{registry.ErrCorrupt.Error() + ": ", f.Path + ": ", f.Path + ", ", f.Path + " "} {
		text = strings.Replace(text, cut, "", 1)
	}
	return text
}

func notPrivateHint(dir string) string {
	return fmt.Sprintf("chown -R \"$(id -u)\" %s && chmod -R go-w %s", shellWord(dir), shellWord(dir))
}

// mendFlaw moves something aside and says what it was made anew from.
func (e *examination) mendFlaw(ctx context.Context, f registry.Flaw) (done, undo string, err error) {
	keep := 0
	if f.Kind.Name == "journal" && f.Session != "" {
		keep = e.fitting(ctx, f)
	}
	kept, err := e.a.clone.Mend(f, keep)
	if err != nil {
		return "", "", err
	}
	done = "moved to " + filepath.Base(kept)
	switch {
	case f.Kind.Name == "journal":
		done += fmt.Sprintf("; %d %s before the damage %s kept, later ones are lost", keep, plural(keep, "event", "events"), plural(keep, "is", "are"))
		if f.Session != "" {
			more, err := e.completed(ctx, f.Session, f.Path)
			if err != nil {
				return "", "", err
			}
			done += more
		}
	case f.Kind.Name == "claim":
		if id := e.movingHere(ctx, f.Worktree); id != "" {
			if err := e.a.clone.Claim(e.a.repo.Worktree(), id); err != nil {
				return "", "", err
			}
			done += fmt.Sprintf("; it is that of session %s again", id)
		}
	case f.Kind.Name == "exclude rules":
		done += "; the next command that uses the session rewrites them from its history"
	}
	return done, fmt.Sprintf("mv %s %s", shellWord(kept), shellWord(f.Path)), nil
}

// fitting is how many events at the beginning of a damaged journal fit the session at its ledger's tip.
func (e *examination) fitting(ctx context.Context, f registry.Flaw) int {
	tip, err := e.a.repo.Ref(ctx, session.LedgerOf(f.Session))
	if err != nil || tip == "" {
		return len(e.a.clone.Beginning(f.Session, tip))
	}
	if path, err := e.a.clone.JournalPath(f.Session, tip); err != nil || path != f.Path { // of another ledger commit: nothing is known
		return 1 << 30
	}
	s, err := e.a.eng.AtTip(ctx, f.Session, tip)
	if err != nil {
		return 1 << 30
	}
	n, _ := engine.Fitting(s, e.a.clone.Beginning(f.Session, tip))
	return n
}

// movingHere is the session whose journal says that it moves this work tree, "" for none or when there are two.
func (e *examination) movingHere(ctx context.Context, worktree string) session.ID {
	if worktree != filepath.Base(filepath.Dir(e.a.clone.ClaimFile(e.a.repo.Worktree()))) {
		return ""
	}
	all, _ := e.a.repo.Sessions(ctx)
	var found session.ID
	for _, id := range slices.Sorted(maps.Keys(all)) {
		v, err := e.a.eng.Load(ctx, id, all[id])
		if err != nil {
			continue
		}
		if m := v.Session.Moving; v.Session.Deleting != nil || m != nil && m.Turn.Worktree == e.a.repo.Worktree() {
			if found != "" {
				return ""
			}
			found = id
		}
	}
	return found
}

// trust looks at the directory in which this user's permissions are.
func (e *examination) trust() error {
	store, err := e.a.trustStore()
	if err != nil {
		e.add(finding{Level: findWarns, About: "file", Where: "XDG_STATE_HOME", What: err.Error(), Follows: "no trust can be recorded, so no command of the repository runs"})
		return nil
	}
	if _, err := durable.CheckPrivateDir(store.Dir); errors.Is(err, durable.ErrNotPrivate) {
		f := finding{Level: findBlocks, About: "file", Where: store.Dir, What: err.Error(), Follows: "no command of the repository runs", Next: notPrivateHint(store.Dir)}
		if found, err := durable.CheckDir(store.Dir); found && err != nil { // a link or a file
			f.Next, f.free, f.mend = repairCommand, true, moveAside(store.Dir)
		}
		e.add(f)
		return nil
	}
	bad, err := store.Unusable()
	for _, path := range bad {
		e.add(finding{Level: findWarns, About: "file", Where: path, What: "is not a trust record", Follows: "its commands must be trusted again", Next: repairCommand,
			free: true, mend: moveAside(path)})
	}
	if errors.Is(err, fs.ErrPermission) {
		e.add(finding{Level: findBlocks, About: "file", Where: store.Dir, What: err.Error(), Follows: "no command of the repository runs", Next: notPrivateHint(store.Dir)})
		return nil
	}
	return err
}

// moveAside mends by taking out of the way.
func moveAside(path string) func(context.Context) (string, string, error) {
	return func(context.Context) (string, string, error) {
		kept, err := durable.MoveAside(path)
		return "moved to " + filepath.Base(kept), fmt.Sprintf("mv %s %s", shellWord(kept), shellWord(path)), err
	}
}

// allSessions reads every session from its first event to its last.
func (e *examination) allSessions() error {
	for _, id := range slices.Sorted(maps.Keys(e.tips)) {
		e.progress("checking session " + string(id))
		if err := e.session(id, e.tips[id]); err != nil {
			return err
		}
	}
	return nil
}

func (e *examination) session(id session.ID, tip session.Commit) error {
	a := e.a
	audit, err := a.eng.Audit(e.ctx, id, tip)
	if err != nil {
		return err
	}
	e.sessions, e.turns = e.sessions+1, e.turns+audit.Turns
	ledger := session.LedgerOf(id)
	newer := errors.Is(audit.Chain, session.ErrNewer) || errors.Is(audit.Cache, session.ErrNewer)
	switch {
	case newer:
		e.add(finding{Level: findBlocks, About: "ledger", Session: id, Where: ledger, What: "a newer wfs wrote it", Follows: "nothing is written to the session", Next: "install a newer wfs"})
		return nil
	case audit.Chain != nil && audit.Cache != nil:
		e.add(finding{Level: findBlocks, About: "ledger", Session: id, Where: ledger, What: "cannot be read: " + audit.Chain.Error(), Follows: "the session cannot be used; its checkpoints may be intact",
			Next: fmt.Sprintf("git fsck, and git fetch REMOTE '+%s:%s' if another clone has it", ledger, ledger)})
		return nil
	case audit.Chain != nil:
		e.add(finding{Level: findWarns, About: "ledger", Session: id, Where: ledger, What: "its history cannot be read: " + audit.Chain.Error(),
			Follows: "the session continues from session.json, with an incomplete history",
			Next:    fmt.Sprintf("git fsck, and git fetch REMOTE '+%s:%s' if another clone has it", ledger, ledger)})
	case audit.Cache != nil:
		e.add(finding{Level: findTells, About: "ledger", Session: id, Where: ledger + ":" + session.FileSession, What: audit.Cache.Error(),
			Follows: "the session is rebuilt from its events; the next checkpoint repairs it"})
	}
	if audit.Plan != nil {
		e.add(finding{Level: findBlocks, About: "ledger", Session: id, Where: ledger + ":" + session.FilePlan, What: audit.Plan.Error(), Follows: "the session cannot run",
			Next: "wfs export " + string(id) + ", and start another: wfs new GOAL --from " + session.BranchOf(id)})
	}
	e.proof(id)
	if err := e.journal(id, tip); err != nil {
		return err
	}
	if err := e.excludes(id, tip); err != nil {
		return err
	}
	return e.branch(id, tip)
}

// journal looks whether the events since the ledger's tip fit, and for journals that belong to no ledger commit of it.
func (e *examination) journal(id session.ID, tip session.Commit) error {
	a := e.a
	events, torn, err := a.clone.Peek(id, tip)
	path, pathErr := a.clone.JournalPath(id, tip)
	if err != nil || pathErr != nil {
		return pathErr // said among the files
	}
	if err := e.lostJournal(id, tip); err != nil {
		return err
	}
	if torn && !a.driven(id) {
		e.add(finding{Level: findTells, About: "journal", Session: id, Where: path, What: "its last line was being written when the process was killed",
			Follows: "it was never reported; the next command that uses the session removes it"})
	}
	s, err := a.eng.AtTip(e.ctx, id, tip)
	if err != nil {
		return nil // said of the ledger
	}
	if n, why := engine.Fitting(s, events); why != nil {
		flaw, err := a.clone.JournalFlaw(id, tip, fmt.Errorf("event %d of %d does not fit the session: %w", n+1, len(events), why))
		if err != nil {
			return err
		}
		e.flaw(flaw)
	}
	tips, err := a.clone.Tips(id)
	if err != nil {
		return err
	}
	for _, other := range tips {
		if other == tip || other == "" {
			continue
		}
		if known, err := a.repo.IsAncestor(e.ctx, other, tip); err == nil && known {
			continue
		}
		path, err := a.clone.JournalPath(id, other)
		if err != nil {
			return err
		}
		e.add(finding{Level: findWarns, About: "journal", Session: id, Where: path, What: "it extends a history commit that this clone does not have",
			Follows: "the session also ran elsewhere, or its history was reset; the file is not applied", Next: repairCommand,
			lock: id, mend: moveAside(path)})
	}
	return nil
}

// excludes looks whether the session's exclude file still has every rule that its ledger has.
func (e *examination) excludes(id session.ID, tip session.Commit) error {
	want, err := e.a.repo.File(e.ctx, tip, session.FileExclude)
	if err != nil {
		return nil // said of the objects
	}
	missing, err := e.a.clone.MissingRules(id, want)
	if err != nil || len(missing) == 0 {
		return nil //nolint:nilerr // said among the files
	}
	path := e.a.clone.ExcludeFile(id)
	e.add(finding{Level: findBlocks, About: "file", Session: id, Where: path, What: fmt.Sprintf("lacks %d %s of the history", len(missing), plural(len(missing), "rule", "rules")),
		Follows: "files that the session excluded may get into checkpoints", Next: repairCommand, lock: id, mend: func(context.Context) (string, string, error) {
			kept, err := e.a.clone.AddRules(id, missing)
			return "restored", fmt.Sprintf("mv %s %s", shellWord(kept), shellWord(path)), err
		}})
	return nil
}
