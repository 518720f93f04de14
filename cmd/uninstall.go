package cmd

import (
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
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// uninstallJSON lists everything that wfs uninstall removes, or has removed.
type uninstallJSON struct {
	Version int        `json:"version"`
	Removed bool       `json:"removed"`
	Only    []onlyOurs `json:"only,omitempty"` // work that was not handed over
	Backup  string     `json:"backup,omitempty"`
	Restore string     `json:"restore,omitempty"` // command that restores the refs from the backup
	Refs    []string   `json:"refs,omitempty"`
	Files   []string   `json:"files,omitempty"` // directories to remove, and files that lose the lines of wfs
	Trust   bool       `json:"trust"`           // the user has trusted files or commands here
	Stays   []string   `json:"stays,omitempty"` // directories with session documents, which remain

	tips  []session.RefMove  // the ledgers are last: sessions stay readable until then
	hooks []string           // settings files of agents
	leave []*session.Refusal // what users must do in work trees before
	dirs  []string           // those of Files that are directories
}

// onlyOurs is work that may be in no branch of the user's, so that only the backup has it after wfs uninstall.
type onlyOurs struct {
	Ref  string `json:"ref"`
	What string `json:"what"`
}

type uninstallVerb struct {
	*app
	yes, dry bool
	file     string
}

func (a *uninstallVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "uninstall", Short: "remove every trace of wfs from this repository",
		Long: `Uninstall removes all sessions with their branches, histories, backups and operation logs, .git/wfs,
the hooks that wfs put into Claude Code's settings of each work tree, the lines that it put into
.git/info/exclude, and what you have trusted here. .wfs/ is yours and stays, as do your own branches, files, and
what is staged.

Before that it writes all sessions into one git bundle beside the repository, and names what was not handed
over. It refuses while a session is running, or while a work tree is on a session's branch. Typed again after it
was killed, it completes.`,
		Example: "  wfs uninstall --dry-run\n  wfs uninstall\n  wfs uninstall --yes -o /backup/project.bundle",
		Args:    noArgs,
		RunE:    with(a.run),
	}
	c.Flags().BoolVarP(&a.yes, "yes", "y", false, "remove it without asking")
	c.Flags().BoolVar(&a.dry, "dry-run", false, "only show what would be removed")
	c.Flags().StringVarP(&a.file, "output", "o", "", "`file` to write the bundle to")
	return c
}

func (a *uninstallVerb) run(ctx context.Context, _ []string) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	j, err := a.traces(ctx)
	if err != nil {
		return err
	}
	command := "wfs uninstall --yes"
	if a.file != "" {
		command += " -o " + shellWord(a.file)
	}
	if a.dry || j.nothing() {
		return a.say(j, command)
	}
	if err := a.NoneDriven("wfs uninstall"); err != nil {
		return err
	}
	if ok, err := a.agreed(ctx, j, command); err != nil {
		return err
	} else if !ok {
		return exitWith(exitDecision)
	}
	a.Repo = nil // open it again for writing
	return a.carryOut(ctx)
}

// carryOut takes all locks, searches again under the locks, makes the backup, and removes everything.
func (a *uninstallVerb) carryOut(ctx context.Context) error {
	if err := a.holdAll(ctx); err != nil {
		return err
	}
	j, err := a.traces(ctx)
	if err != nil {
		return err
	}
	if err := j.onOwnBranch(); err != nil {
		return err
	}
	if err := a.bundle(ctx, j); err != nil {
		return err
	}
	if err := a.remove(ctx, j); err != nil {
		return err
	}
	j.Removed = true
	return a.say(j, "")
}

func (j *uninstallJSON) nothing() bool { return len(j.Refs)+len(j.Files) == 0 && !j.Trust }

// agreed prints what would be removed, and asks the user. It returns the answer; with --yes it does not ask.
func (a *uninstallVerb) agreed(ctx context.Context, j *uninstallJSON, command string) (bool, error) {
	if a.yes {
		return true, nil
	}
	if !a.json {
		next := command
		if a.env.StdinTTY { // a question follows instead
			next = ""
		}
		if err := a.say(j, next); err != nil {
			return false, err
		}
	}
	if err := j.onOwnBranch(); err != nil {
		return false, err
	}
	return a.ask(ctx, "Remove all of it? [y/N] ", command)
}

// onOwnBranch returns an error if a work tree is on a branch that would be removed.
func (j *uninstallJSON) onOwnBranch() error {
	if len(j.leave) == 0 {
		return nil
	}
	return j.leave[0]
}

// mustLeave returns a refusal whose hint says how a work tree can leave a branch that would be removed. It returns nil
// if the work tree is on no such branch.
func (a *uninstallVerb) mustLeave(ctx context.Context, t *worktree.Worktree) (*session.Refusal, error) {
	name, ours := strings.CutPrefix(t.Branch, session.BranchPrefix)
	switch {
	case !ours || t.Gone && !t.Locked: // git detaches HEAD of a work tree that is gone
		return nil, nil
	case t.Gone:
		var r *session.Refusal
		errors.As(workspace.Gone(session.ID(name), t), &r)
		return r, nil
	}
	how := "rebase --abort"
	if t.Commit == "" {
		free := name
		for n := 2; ; n++ {
			if taken, err := a.Repo.Ref(ctx, "refs/heads/"+free); err != nil {
				return nil, err
			} else if taken == "" {
				break
			}
			free = fmt.Sprintf("%s-%d", name, n)
		}
		how = "switch -c " + free
	}
	return session.Refuse(session.RefuseWorktree, fmt.Sprintf("git -C %s %s", shellWord(t.Path), how),
		"%s is on %s, which would be removed", t.Path, present.ShortRef(t.Branch)), nil
}

// holdAll takes the locks of all work trees and sessions. It also completes interrupted operations.
func (a *uninstallVerb) holdAll(ctx context.Context) error {
	const command = "wfs uninstall"
	if err := a.Begin(ctx, command, true); err != nil {
		return err
	}
	ids, err := sessionIDs(ctx, a.Repo)
	if err != nil {
		return err
	}
	known, err := a.Clone.Sessions()
	if err != nil {
		return err
	}
	if err := a.Hold(command, append(ids, known...)...); err != nil {
		return err
	}
	for _, id := range ids {
		h, err := a.Take(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // the backup gets the part that can be read
		}
		if err := h.KeepJournal(ctx); err != nil {
			return err
		}
	}
	return a.holdOtherTrees(ctx, command)
}

// holdOtherTrees takes the locks of all other work trees. It returns an error if a command was interrupted in one of
// them.
func (a *uninstallVerb) holdOtherTrees(ctx context.Context, command string) error {
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, t := range trees {
		if t.ID == a.Repo.Worktree() {
			continue
		}
		l, err := a.Clone.Worktree(t.ID).Lock(a.Holder(command))
		if err != nil {
			return err
		}
		a.KeepLock(l)
		if id, err := a.Clone.Worktree(t.ID).Claimed(); err != nil {
			return err
		} else if id != "" {
			return session.Refuse(session.RefuseWorktree, fmt.Sprintf("wfs -C %s resume %s", shellWord(t.Path), id),
				"a command of %s was interrupted in %s", id, t.Path)
		}
	}
	return nil
}

// ourRefs returns the directories that contain all refs of wfs.
func ourRefs() []string {
	return []string{session.BranchPrefix, session.RefPrefix, "refs/wfs-ops/", transition.DeletedPrefix}
}

// ourExcludes returns the lines that wfs adds to git's exclude file of the clone (.git/info/exclude).
func ourExcludes() []string { return []string{excludeLine, "/" + workspace.LocalPath} }

// traces finds everything that wfs has stored in this repository, or elsewhere for it.
func (a *uninstallVerb) traces(ctx context.Context) (*uninstallJSON, error) {
	j := &uninstallJSON{Version: jsonVersion}
	var ledgers []session.RefMove
	for _, dir := range ourRefs() {
		refs, err := a.Repo.RefsBelow(ctx, strings.TrimSuffix(dir, "/"))
		if err != nil {
			return nil, err
		}
		for _, name := range sortedKeys(refs) {
			j.Refs = append(j.Refs, name)
			list := &j.tips
			if strings.HasSuffix(name, "/ledger") {
				list = &ledgers
			}
			*list = append(*list, session.RefMove{Ref: name, Old: refs[name]})
		}
	}
	j.tips = append(j.tips, ledgers...)
	if err := a.findWork(ctx, j); err != nil {
		return nil, err
	}
	if err := a.findFiles(ctx, j); err != nil {
		return nil, err
	}
	if err := a.placeBackup(ctx, j); err != nil {
		return nil, err
	}
	store, err := a.TrustStore()
	if err == nil {
		j.Trust, err = store.Any(a.Repo.CommonDir())
	}
	return j, err
}

// findWork lists work that was not handed over, and uncommitted changes that only backups have.
func (a *uninstallVerb) findWork(ctx context.Context, j *uninstallJSON) error {
	only := func(ref, format string, args ...any) {
		j.Only = append(j.Only, onlyOurs{ref, fmt.Sprintf(format, args...)})
	}
	ids, err := sessionIDs(ctx, a.Repo)
	if err != nil {
		return err
	}
	named := map[string]session.Commit{} // refs of the sessions that are listed
	for _, id := range ids {
		own, err := a.Repo.OwnRefs(ctx, id)
		if err != nil {
			return err
		}
		maps.Copy(named, own)
		v, err := a.View(ctx, id)
		if err != nil {
			only(session.BranchOf(id), "%s (the session cannot be read)", id)
		} else if v.Session.Status != session.StatusFinished {
			only(session.BranchOf(id), "%s: %s", id, present.Stands(&v.Session))
		}
	}
	for _, m := range j.tips {
		_, said := named[m.Ref]
		switch {
		case said:
		case strings.HasPrefix(m.Ref, session.RefPrefix) && strings.Contains(m.Ref, "/rescue/"):
			state, err := a.Repo.State(ctx, m.Old)
			if err != nil {
				return err
			}
			only(m.Ref, "%s: uncommitted changes of yours (%s)", m.Ref, state.Why)
		case strings.HasPrefix(m.Ref, session.BranchPrefix):
			only(m.Ref, "%s (a branch without a session)", present.ShortRef(m.Ref))
		}
	}
	deleted, err := a.Deletions(ctx)
	for _, d := range deleted {
		only(d.Kept+"branch", "%s: deleted %s", d.ID, present.Ago(unix(d.DeletedAt), a.env.Now()))
	}
	return err
}

// findFiles lists the files that have to be changed, and the directories that have to be removed.
func (a *uninstallVerb) findFiles(ctx context.Context, j *uninstallJSON) error {
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	hooks := hookFiles{a.app}
	for _, t := range trees {
		if leave, err := a.mustLeave(ctx, &t); err != nil {
			return err
		} else if leave != nil {
			j.leave = append(j.leave, leave)
		}
		if t.Gone {
			continue
		}
		if dir := filepath.Join(t.Path, ".workflow"); isDir(dir) {
			j.Stays = append(j.Stays, dir)
		}
		path, ours, err := hooks.in(t.Path)
		if err != nil {
			return err
		}
		if ours {
			j.hooks, j.Files = append(j.hooks, path), append(j.Files, path)
		}
	}
	if err := a.findExcludes(j); err != nil {
		return err
	}
	for _, dir := range []string{a.Repo.StateDir(), a.rooms.BaseRuns(workflows.Plan{}).Dir()} {
		if isDir(dir) {
			j.dirs, j.Files = append(j.dirs, dir), append(j.Files, dir)
		}
	}
	return nil
}

// findExcludes adds those exclude files of git that contain lines of wfs.
func (a *uninstallVerb) findExcludes(j *uninstallJSON) error {
	for _, line := range ourExcludes() {
		if file, there, err := a.Repo.ExcludedLocally(line); err != nil {
			return err
		} else if there && !slices.Contains(j.Files, file) {
			j.Files = append(j.Files, file)
		}
	}
	return nil
}

// placeBackup chooses the name of the backup, a git bundle. If a killed command has left a complete bundle, it uses
// that one.
func (a *uninstallVerb) placeBackup(ctx context.Context, j *uninstallJSON) error {
	if len(j.Refs) == 0 {
		return nil
	}
	file := a.file
	if file == "" {
		file = a.Repo.Root() + ".wfs.bundle"
	}
	file = a.env.Abs(file)
	j.Backup = file
	for n := 2; ; n++ {
		_, err := os.Lstat(j.Backup)
		if errors.Is(err, fs.ErrNotExist) || err == nil && a.Repo.Bundled(ctx, j.Backup, j.tips) {
			break
		}
		if err != nil {
			return err
		}
		if a.file != "" {
			return usage("wfs uninstall -o ANOTHER-FILE", "%s already exists and is not overwritten", file)
		}
		j.Backup = fmt.Sprintf("%s-%d.bundle", strings.TrimSuffix(file, ".bundle"), n)
	}
	j.Restore = fmt.Sprintf("git fetch %s 'refs/*:refs/*'", shellWord(j.Backup))
	return nil
}

// bundle saves all refs of wfs in one file, and checks that the file is complete.
func (a *uninstallVerb) bundle(ctx context.Context, j *uninstallJSON) error {
	if j.Backup == "" {
		return nil
	}
	_, err := newFile(j.Backup, func(w io.Writer) error { return a.Repo.Bundle(ctx, j.Refs, "", w) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !a.Repo.Bundled(ctx, j.Backup, j.tips) {
		return fmt.Errorf("%s lacks some sessions: nothing was removed", j.Backup)
	}
	return nil
}

// remove removes everything that was found. The directory that contains the locks is removed last.
func (a *uninstallVerb) remove(ctx context.Context, j *uninstallJSON) error {
	hooks := hookFiles{a.app}
	for _, path := range j.hooks {
		if _, err := hooks.edit(ctx, path, false, true); err != nil {
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
	a.rooms.BaseRuns(workflows.Plan{}).Forget()
	settled, err := a.Repo.Settle(ctx, "", session.Turn{Refs: j.tips})
	if err != nil {
		return err
	}
	if len(settled.Foreign) > 0 {
		return session.Refuse(session.RefuseMoved, "wfs uninstall",
			"%s was moved by another process, and is left there", settled.Foreign[0].Ref)
	}
	a.Repo.DropEmpty()
	for _, path := range a.rooms.Unused(a.env.Now().Add(time.Hour)) {
		if err := durable.RemoveTree(path); err != nil {
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

// say prints what is removed. `command` is the command that removes it; it is "" if a question follows.
func (a *uninstallVerb) say(j *uninstallJSON, command string) error {
	if a.json {
		return a.answer(j)
	}
	if j.nothing() {
		a.out("there is nothing of wfs in this repository")
		return nil
	}
	removes, forgets := "removes", "forgets"
	if j.Removed {
		removes, forgets = "removed", "forgot"
	}
	for i, o := range j.Only {
		if i == 0 {
			a.out("not handed over, and then only in the backup:")
		}
		a.out("  %s", o.What)
	}
	for _, dir := range ourRefs() {
		if n := below(j.Refs, dir); n > 0 {
			a.out("%s %s below %s", removes, present.N(n, "ref"), dir)
		}
	}
	for _, f := range j.Files {
		switch {
		case slices.Contains(j.dirs, f):
			a.out("%s %s", removes, f)
		case slices.Contains(j.hooks, f):
			a.out("%s the hooks in %s", removes, f)
		default:
			a.out("%s the lines of wfs in %s", removes, f)
		}
	}
	if j.Trust {
		a.out("%s what you have trusted here", forgets)
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
		for _, r := range j.leave {
			a.out("before that, because %s: %s", r.Message, r.Hint)
		}
		if command != "" {
			a.next([]string{command})
		}
	}
	return nil
}

// below counts the refs that are below a directory.
func below(refs []string, dir string) (n int) {
	for _, ref := range refs {
		if strings.HasPrefix(ref, dir) {
			n++
		}
	}
	return n
}
