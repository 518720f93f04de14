package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// uninstallJSON is what wfs uninstall removes, or has removed.
type uninstallJSON struct {
	Version int        `json:"version"`
	Removed bool       `json:"removed"`
	Only    []onlyOurs `json:"only,omitempty"` // work that no ref of the user's has
	Backup  string     `json:"backup,omitempty"`
	Restore string     `json:"restore,omitempty"` // command that brings the refs back
	Heads   []headMove `json:"heads,omitempty"`
	Refs    []string   `json:"refs,omitempty"`
	Files   []string   `json:"files,omitempty"` // directories that go, and files that lose what wfs put into them
	Trust   bool       `json:"trust"`           // what is trusted here is forgotten
	Stays   []string   `json:"stays,omitempty"` // directories in which sessions had their documents
	tips    []session.RefMove
	hooks   []string
}

// onlyOurs is work that nothing but refs of wfs holds.
type onlyOurs struct {
	Ref  string `json:"ref"`
	What string `json:"what"`
}

// headMove takes a work tree to a new branch of the user's at the same commit. No file, and nothing that is
// staged, changes.
type headMove struct {
	Path   string `json:"path"`
	From   string `json:"from"`
	To     string `json:"to"`
	New    bool   `json:"new"` // true
	commit session.Commit
}

func (a *app) uninstallCmd() *cobra.Command {
	var yes, dry bool
	var file string
	c := &cobra.Command{
		Use: "uninstall", Short: "remove every trace of wfs from this repository",
		Long: `Uninstall removes all sessions with their branches, histories, backups and operation logs, .git/wfs,
the hooks that wfs put into Claude Code's settings of each work tree, the lines that it put into
.git/info/exclude, and what you have trusted here. .wfs/ is yours and stays, as do your own branches, files, and
what is staged.

Before that it writes all sessions into one git bundle beside the repository, and names the work that no branch
of yours has. A work tree on a session's branch goes to a new branch of yours at the same commit. It refuses
while a session is running. Typed again after it was killed, it completes.`,
		Example: "  wfs uninstall --dry-run\n  wfs uninstall\n  wfs uninstall --yes -o /backup/project.bundle",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.uninstall(c.Context(), file, yes, dry) },
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "remove it without asking")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what would be removed")
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write the bundle to")
	return c
}

func (a *app) uninstall(ctx context.Context, file string, yes, dry bool) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	j, err := a.traces(ctx)
	if err != nil {
		return err
	}
	if err := a.placeBackup(ctx, j, file); err != nil {
		return err
	}
	command := "wfs uninstall --yes"
	if file != "" {
		command += " -o " + shellWord(file)
	}
	if dry || j.nothing() {
		return a.sayUninstall(j, command)
	}
	if !yes {
		if !a.json {
			next := command
			if a.env.StdinTTY { // it asks
				next = ""
			}
			if err := a.sayUninstall(j, next); err != nil {
				return err
			}
		}
		if ok, err := a.ask(ctx, "Remove all of it? [y/N] ", command); err != nil {
			return err
		} else if !ok {
			return exitWith(exitDecision)
		}
	}
	a.Repo = nil // it was opened for reading
	if j, err = a.holdTraces(ctx); err != nil {
		return err
	}
	if err := a.placeBackup(ctx, j, file); err != nil {
		return err
	}
	if err := a.removeTraces(ctx, j); err != nil {
		return err
	}
	j.Removed = true
	return a.sayUninstall(j, "")
}

func (j *uninstallJSON) nothing() bool { return len(j.Refs)+len(j.Heads)+len(j.Files) == 0 && !j.Trust }

// holdTraces takes the locks of all work trees and sessions, and then looks again.
func (a *app) holdTraces(ctx context.Context) (*uninstallJSON, error) {
	const command = "wfs uninstall"
	if err := a.Begin(ctx, command, true); err != nil {
		return nil, err
	}
	ids, err := a.sessionIDs(ctx)
	if err != nil {
		return nil, err
	}
	known, err := a.Clone.Sessions()
	if err != nil {
		return nil, err
	}
	if err := a.Hold(command, append(ids, known...)...); err != nil {
		return nil, err
	}
	for _, id := range ids { // what was interrupted comes to its end, as far as anything of it is to be had
		h, err := a.Take(ctx, id)
		if err != nil && h == nil && ctx.Err() != nil {
			return nil, err
		}
		if err == nil {
			if err := h.KeepJournal(ctx); err != nil {
				return nil, err
			}
		}
	}
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if t.ID == a.Repo.Worktree() {
			continue
		}
		l, err := a.Clone.Worktree(t.ID).Lock(a.Holder(command))
		if err != nil {
			return nil, err
		}
		a.KeepLock(l)
		if id, err := a.Clone.Worktree(t.ID).Claimed(); err != nil {
			return nil, err
		} else if id != "" {
			return nil, session.Refuse(session.RefuseWorktree, fmt.Sprintf("wfs -C %s resume %s", shellWord(t.Path), id),
				"a command of %s was interrupted in %s", id, t.Path)
		}
	}
	return a.traces(ctx)
}

// ourRefs are the directories of all refs of wfs.
func ourRefs() []string {
	return []string{session.BranchPrefix, session.RefPrefix, "refs/wfs-ops/", engine.DeletedPrefix}
}

// ourExcludes are the lines that wfs puts into the clone's own exclude file.
func ourExcludes() []string { return []string{excludeLine, "/" + workspace.LocalPath} }

// traces are everything that wfs has in this repository, and for it.
func (a *app) traces(ctx context.Context) (*uninstallJSON, error) {
	j := &uninstallJSON{Version: jsonVersion}
	for _, dir := range ourRefs() {
		refs, err := a.Repo.RefsBelow(ctx, strings.TrimSuffix(dir, "/"))
		if err != nil {
			return nil, err
		}
		for _, name := range sortedKeys(refs) {
			j.Refs = append(j.Refs, name)
			j.tips = append(j.tips, session.RefMove{Ref: name, Old: refs[name]})
		}
	}
	slices.SortStableFunc(j.tips, func(x, y session.RefMove) int { return cmp.Compare(rankOf(x.Ref), rankOf(y.Ref)) })
	if err := a.onlyOurs(ctx, j); err != nil {
		return nil, err
	}
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	branches, err := a.Repo.Branches(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if err := a.leavesTo(j, t, branches); err != nil {
			return nil, err
		}
		if t.Gone {
			continue
		}
		if dir := filepath.Join(t.Path, ".workflow"); isDir(dir) {
			j.Stays = append(j.Stays, dir)
		}
		path := filepath.Join(t.Path, filepath.FromSlash(localSettings))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		old, err := durable.ReadFile(path, maxSettings)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !strings.Contains(string(old), " hook run ") {
			continue
		}
		text, err := withHooks(old, a.hookProgram(), true)
		if err != nil {
			return nil, a.byHand(path, err)
		}
		if string(text) != string(old) {
			j.hooks, j.Files = append(j.hooks, path), append(j.Files, path)
		}
	}
	for _, line := range ourExcludes() {
		if file, there, err := a.Repo.ExcludedLocally(line); err != nil {
			return nil, err
		} else if there && !slices.Contains(j.Files, file) {
			j.Files = append(j.Files, file)
		}
	}
	if _, err := os.Lstat(a.Repo.StateDir()); err == nil {
		j.Files = append(j.Files, a.Repo.StateDir())
	}
	if dir := a.BaseRuns(workflows.Plan{}).Dir(); isDir(dir) {
		j.Files = append(j.Files, dir)
	}
	store, err := a.TrustStore()
	if err == nil {
		j.Trust, err = store.Any(a.Repo.CommonDir())
	}
	return j, err
}

// onlyOurs finds the work that is lost without the refs of wfs.
func (a *app) onlyOurs(ctx context.Context, j *uninstallJSON) error {
	ids, err := a.sessionIDs(ctx)
	if err != nil {
		return err
	}
	own := map[string]session.Commit{}
	for _, id := range ids {
		refs, err := a.Repo.OwnRefs(ctx, id)
		if err != nil {
			return err
		}
		maps.Copy(own, refs)
		only := func(what string) { j.Only = append(j.Only, onlyOurs{session.BranchOf(id), string(id) + what}) }
		v, err := a.View(ctx, id)
		if err != nil {
			only(" (the session cannot be read)")
			continue
		}
		became, err := a.became(ctx, &v.Session)
		if err != nil {
			return err
		}
		if became.How == handover.FateNowhere {
			at := v.Session.At(v.Session.Current)
			only(fmt.Sprintf(": checkpoint %d (%s)", at.Number, at.Summary))
		}
	}
	for _, m := range j.tips {
		_, ours := own[m.Ref]
		switch {
		case ours, rankOf(m.Ref) > 0: // of a deleted session: its branch says it
		case strings.HasPrefix(m.Ref, session.RefPrefix) && strings.Contains(m.Ref, "/rescue/"):
			state, err := a.Repo.State(ctx, m.Old)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s: uncommitted changes of yours (%s)", m.Ref, state.Why)
			j.Only = append(j.Only, onlyOurs{m.Ref, what})
		case strings.HasPrefix(m.Ref, session.BranchPrefix), strings.HasPrefix(m.Ref, engine.DeletedPrefix):
			if only, err := a.Repo.OnlyOurs(ctx, m.Ref); err != nil {
				return err
			} else if only {
				j.Only = append(j.Only, onlyOurs{m.Ref, m.Ref})
			}
		}
	}
	return nil
}

// leavesTo finds a name for the branch of a work tree that is on one of wfs'.
func (a *app) leavesTo(j *uninstallJSON, t worktree.Worktree, branches map[string]session.Commit) error {
	name, ok := strings.CutPrefix(t.Branch, session.BranchPrefix)
	tip := branches[t.Branch]
	m := headMove{Path: t.Path, From: present.ShortRef(t.Branch), New: true, commit: tip}
	switch {
	case !ok:
		return nil
	case t.Commit != "":
		return session.Refuse(session.RefuseWorktree, fmt.Sprintf("git -C %s rebase --abort", shellWord(t.Path)),
			"%s is being rebased in %s", m.From, t.Path)
	case t.Gone && !t.Locked:
		return nil // its HEAD is detached when the refs go
	case t.Gone:
		return workspace.Gone(session.ID(name), &t)
	case tip == "":
		return session.Refuse(session.RefuseBranch, fmt.Sprintf("git -C %s switch BRANCH", shellWord(t.Path)),
			"HEAD is on %s in %s, and there is no such branch", m.From, t.Path)
	}
	for n := 1; m.To == ""; n++ {
		try := name
		if n > 1 {
			try = fmt.Sprintf("%s-%d", name, n)
		}
		ref := "refs/heads/" + try
		if !slices.ContainsFunc(sortedKeys(branches), func(b string) bool {
			return b == ref || strings.HasPrefix(b, ref+"/") || strings.HasPrefix(ref, b+"/")
		}) {
			m.To, branches[ref] = try, tip
		}
	}
	j.Heads = append(j.Heads, m)
	return nil
}

// placeBackup finds a name for the bundle. One that is there already and has everything, of a command that was killed,
// is taken.
func (a *app) placeBackup(ctx context.Context, j *uninstallJSON, file string) error {
	if len(j.Refs) == 0 {
		return nil
	}
	named := file != ""
	if !named {
		file = a.Repo.Root() + ".wfs.bundle"
	}
	file = a.env.Abs(file)
	j.Backup = file
	for n := 2; ; n++ {
		_, err := os.Lstat(j.Backup)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		if a.Repo.Bundled(ctx, j.Backup, j.tips) {
			break
		}
		if named {
			return usage("wfs uninstall -o ANOTHER-FILE", "%s already exists and is not overwritten", file)
		}
		j.Backup = fmt.Sprintf("%s-%d.bundle", strings.TrimSuffix(file, ".bundle"), n)
	}
	j.Restore = fmt.Sprintf("git fetch %s 'refs/*:refs/*'", shellWord(j.Backup))
	return nil
}

// removeTraces carries it out: first everything is kept, and the directory with the locks goes last.
func (a *app) removeTraces(ctx context.Context, j *uninstallJSON) error {
	if j.Backup != "" {
		_, err := newFile(j.Backup, func(w io.Writer) error { return a.Repo.Bundle(ctx, j.Refs, "", w) })
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if !a.Repo.Bundled(ctx, j.Backup, j.tips) {
			return fmt.Errorf("%s lacks some sessions: nothing was removed", j.Backup)
		}
	}
	for _, m := range j.Heads {
		if err := a.leaveSession(ctx, m); err != nil {
			return err
		}
	}
	for _, path := range j.hooks {
		if _, err := a.editHooks(ctx, path, false, true); err != nil {
			return err
		}
	}
	for _, line := range ourExcludes() {
		if _, _, err := a.Repo.ExcludeLocally(line, true); err != nil {
			return err
		}
	}
	for _, m := range j.tips {
		if strings.HasPrefix(m.Ref, session.BranchPrefix) {
			if _, err := a.Repo.LeaveGone(ctx, m.Ref); err != nil {
				return err
			}
		}
	}
	a.BaseRuns(workflows.Plan{}).Forget()
	settled, err := a.Repo.Settle(ctx, "", session.Turn{Refs: j.tips})
	if err != nil {
		return err
	}
	if len(settled.Foreign) > 0 {
		return session.Refuse(session.RefuseMoved, "wfs uninstall",
			"%s was moved by another process, and is left there", settled.Foreign[0].Ref)
	}
	a.Repo.DropEmpty()
	clean := &search{app: a, before: a.env.Now().Add(time.Hour)}
	if err := clean.cleanTrees(); err != nil {
		return err
	}
	for _, r := range clean.found {
		if err := durable.RemoveTree(r.Paths[0]); err != nil {
			return err
		}
	}
	store, err := a.TrustStore()
	if err != nil {
		return err
	}
	if err := store.Revoke(a.Repo.CommonDir()); err != nil {
		return err
	}
	a.Repo.Quiet()
	return durable.RemoveTree(a.Repo.StateDir())
}

// leaveSession puts the HEAD of a work tree on a branch of the user's.
func (a *app) leaveSession(ctx context.Context, m headMove) error {
	repo := a.Repo
	if m.Path != repo.Root() {
		var err error
		if repo, err = a.RepoAt(ctx, m.Path, true); err != nil {
			return err
		}
		defer repo.Quiet()
	}
	to := "refs/heads/" + m.To
	turn := session.Turn{Worktree: repo.Worktree(), HeadOld: "refs/heads/" + m.From, HeadNew: to,
		Refs: []session.RefMove{{Ref: to, New: m.commit}}}
	settled, err := repo.Settle(ctx, session.ID(strings.TrimPrefix(m.From, "wfs/")), turn)
	if err == nil && (len(settled.Foreign) > 0 || settled.HeadForeign != "") {
		err = session.Refuse(session.RefuseMoved, "wfs uninstall", "another process is using %s", m.Path)
	}
	return err
}

// sayUninstall says what is removed. command removes it; without one a question follows.
func (a *app) sayUninstall(j *uninstallJSON, command string) error {
	if a.json {
		return a.answer(j)
	}
	if j.nothing() {
		a.out("there is nothing of wfs in this repository")
		return nil
	}
	verb := func(would, did string) string {
		if j.Removed {
			return did
		}
		return would
	}
	for i, o := range j.Only {
		if i == 0 {
			a.out("not in your branches, and then only in the backup:")
		}
		a.out("  %s", o.What)
	}
	for _, m := range j.Heads {
		a.out("%s: %s %s, a new branch of yours at %s", m.Path, verb("goes from "+m.From+" to", "is on"), m.To,
			m.commit.Short())
	}
	for _, dir := range ourRefs() {
		n := 0
		for _, ref := range j.Refs {
			if strings.HasPrefix(ref, dir) {
				n++
			}
		}
		if n > 0 {
			a.out("%s %d %s below %s", verb("removes", "removed"), n, plural(n, "ref", "refs"), dir)
		}
	}
	for _, f := range j.Files {
		switch {
		case f == a.Repo.StateDir():
			a.out("%s %s", verb("removes", "removed"), f)
		case slices.Contains(j.hooks, f):
			a.out("%s the hooks in %s", verb("removes", "removed"), f)
		default:
			a.out("%s the lines of wfs in %s", verb("removes", "removed"), f)
		}
	}
	if j.Trust {
		a.out("%s what you have trusted here", verb("forgets", "forgot"))
	}
	for _, dir := range j.Stays {
		a.out("documents of sessions stay, as all files do: %s", shellLine([]string{"rm", "-r", dir}))
	}
	if j.Backup != "" {
		a.out("backup of all sessions: %s", j.Backup)
	}
	switch {
	case j.Removed && j.Backup != "":
		a.out("undo: %s", a.typed(j.Restore))
	case !j.Removed:
		a.out(".wfs/, your branches and your files stay; nothing was removed yet")
		if command != "" {
			a.next([]string{command})
		}
	}
	return nil
}
