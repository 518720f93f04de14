package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// SessionOf returns the session that a branch or another ref of wfs belongs to, "" for none.
func SessionOf(ref string) session.ID {
	name, ok := strings.CutPrefix(ref, session.BranchPrefix)
	if !ok {
		rest, below := strings.CutPrefix(ref, session.RefPrefix)
		if !below {
			return ""
		}
		name, _, _ = strings.Cut(rest, "/")
	}
	id, err := session.ParseID(name)
	if err != nil || string(id) != name {
		return ""
	}
	return id
}

// ourRefs reads all refs of wfs, and reports broken refs and missing ledgers.
func (r *Report) ourRefs() error {
	refs, broken, err := r.Repo.OurRefs(r.ctx)
	if err != nil {
		return err
	}
	r.refs, r.Count = refs, len(refs)
	for name, tip := range refs {
		if id := SessionOf(name); id != "" && name == session.LedgerOf(id) {
			r.tips[id] = tip
		}
	}
	for _, b := range broken {
		r.brokenRef(b)
	}
	return r.lostLedgers()
}

// effects has the consequence of a broken ref, by a part of the ref's name. The first match applies.
var effects = []struct{ part, follows string }{
	{"refs/wfs-deleted/", "that deleted session cannot be restored"},
	{"/ledger", "the session cannot be used"},
	{session.BranchPrefix, "the session's branch is not there"},
	{"/rescue/", "that backup cannot be restored by its name"},
	{"refs/wfs-ops/", "wfs undo has no history for that work tree"},
	{"", "git warns about it, and its objects may be lost at the next git gc"},
}

func (r *Report) brokenRef(b refs.BrokenRef) {
	id := SessionOf(b.Ref)
	i := slices.IndexFunc(effects, func(e struct{ part, follows string }) bool { return strings.Contains(b.Ref, e.part) })
	f := r.add(Blocks, "ref", id, b.Ref, strings.TrimPrefix(b.Err.Error(), b.Ref+": "), effects[i].follows, "")
	to, from := r.formerly(b.Ref)
	switch {
	case to == "" && b.File == "": // the ref can be read, but its object is missing: the object may still be restored
		f.Next = fmt.Sprintf("git fsck, and git fetch REMOTE '+%s:%s' if another clone has it", b.Ref, b.Ref)
	case to == "" && id != "" && !strings.Contains(b.Ref, "/rescue/"):
		f.Next = "git fsck --lost-found, then git update-ref " + b.Ref + " COMMIT"
	default:
		f.by(func(ctx context.Context) (string, string, error) {
			kept, err := r.Repo.Replant(ctx, b, to, filepath.Join(r.Files.Dir(), "refs"))
			did := fmt.Sprintf("it is at %s again, %s", to.Short(), from)
			switch {
			case b.File == "":
				return did, "git update-ref -d " + b.Ref, err
			case to == "":
				did = "its file is kept as " + kept
			default:
				did += "; its file is kept as " + kept
			}
			return did, moveBack(kept, b.File), err
		})
	}
}

// formerly returns the last known commit of a ref, and the source of that knowledge as text. Both are "" if nothing is
// known.
func (r *Report) formerly(ref string) (to session.Commit, from string) {
	id := SessionOf(ref)
	if id != "" && ref == session.LedgerOf(id) {
		return r.newestLedger(id), "the latest history commit that this clone's files and backups name"
	}
	if c := r.Repo.Formerly(r.ctx, ref); c != "" {
		return c, "as its log says"
	}
	if tip := r.tips[id]; id != "" && ref == session.BranchOf(id) && tip != "" {
		if v, err := r.Engine.Load(r.ctx, id, tip); err == nil && v.Session.At(v.Session.Current) != nil {
			return v.Session.At(v.Session.Current).Code, "the session's current checkpoint"
		}
	}
	return "", ""
}

// newestLedger returns the newest commit of a session's ledger, found without the ledger's ref: the names of the
// session's journals and its rescues refer to such commits. It returns "" if none is found.
func (r *Report) newestLedger(id session.ID) session.Commit {
	tips, err := r.Files.Session(id).Tips()
	if err != nil {
		return ""
	}
	known := slices.DeleteFunc(tips, func(c session.Commit) bool { return c == "" })
	for name, c := range r.refs {
		if strings.HasPrefix(name, session.RefPrefix+string(id)+"/rescue/") {
			if info, err := r.Repo.CommitInfo(r.ctx, c); err == nil && len(info.Parents) > 0 {
				known = append(known, info.Parents[0])
			}
		}
	}
	newest, err := r.Repo.NewestLedger(r.ctx, id, known)
	if err != nil {
		return ""
	}
	return newest
}

// lostLedgers reports sessions whose ledger is missing, although this clone has journals or other refs of them. The
// user may have removed the ledger on purpose, so there is no repair, only a command that restores it.
func (r *Report) lostLedgers() error {
	driven, err := r.Files.Sessions()
	if err != nil {
		return nil //nolint:nilerr // reported among the files
	}
	known := slices.Clone(driven)
	for name := range r.refs { // a session may have only a branch or a rescue
		if id := SessionOf(name); id != "" && !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	for _, id := range known {
		ledger := session.LedgerOf(id)
		said := slices.ContainsFunc(r.Findings, func(f *Finding) bool { return f.Where == ledger })
		if r.tips[id] != "" || said || r.Deleted(r.ctx, id) {
			continue
		}
		// if only rescues exist, the session was deleted permanently
		if !slices.Contains(driven, id) && r.refs[session.BranchOf(id)] == "" {
			continue
		}
		if newest := r.newestLedger(id); newest != "" {
			r.add(Warns, "ledger", id, ledger, "is missing, but its commits exist", "there is no session of that name",
				fmt.Sprintf("git update-ref %s %s", ledger, newest))
		}
	}
	return nil
}

// loggedRefs reports refs that have a reflog but do not exist. git removes the reflog of a ref that it deletes, so such
// a ref was lost. Refs of sessions are left to other checks.
func (r *Report) loggedRefs() error {
	gone := r.Repo.LoggedRefs(r.ctx)
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		if SessionOf(name) == "" {
			r.add(Warns, "ref", "", name, "is missing, but its reflog exists",
				"commits that only it refers to are lost at the next git gc",
				fmt.Sprintf("git update-ref %s %s", name, gone[name]))
		}
	}
	return nil
}

// objects checks that all objects reachable from refs of wfs exist and are readable.
func (r *Report) objects() error {
	names := slices.Sorted(maps.Keys(r.refs))
	lost, err := r.Repo.Lost(r.ctx, names)
	if err != nil || lost == "" {
		return err
	}
	for _, name := range names {
		r.progress("checking the objects of " + name)
		if lost, err = r.Repo.Lost(r.ctx, []string{name}); err != nil {
			return err
		}
		if lost != "" {
			r.add(Blocks, "objects", SessionOf(name), name, "objects of it are missing or damaged: "+lost,
				"those checkpoints are incomplete",
				fmt.Sprintf("git fsck, and git fetch --refetch REMOTE '+%s:%s' if another clone has them", name, name))
		}
	}
	return nil
}

// operations checks that this work tree's operation log can be read.
func (r *Report) operations() error {
	_, damage, err := r.Repo.OpLog(r.ctx, r.Repo.Worktree())
	where := "refs/wfs-ops/" + r.Repo.Worktree()
	switch {
	case errors.Is(err, session.ErrNewer):
		r.add(Warns, "ref", "", where, "a newer wfs wrote it", "wfs undo does not work here", "install a newer wfs")
	case err != nil:
		return err
	case damage != nil && !errors.Is(damage, refs.ErrBrokenRef): // a broken ref was reported before
		r.add(Warns, "ref", "", where, "cannot be read: "+damage.Error(),
			"wfs undo has no earlier history; the next operation starts a new log on top of this one", "")
	}
	return nil
}
