package cmd

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/gitstate/backup"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

type backupsJSON struct {
	Version int          `json:"version"`
	Backups []backupJSON `json:"backups"` // newest first
}

// backupJSON describes a backup, which is a saved copy of uncommitted work.
type backupJSON struct {
	Session session.ID `json:"session"`
	Name    string     `json:"name"` // a number, or "auto"
	Ref     string     `json:"ref"`
	At      time.Time  `json:"at"`
	Why     string     `json:"why"`
	Trigger string     `json:"trigger,omitempty"` // of a backup that was made during a run
	Branch  string     `json:"branch,omitempty"`  // branch that HEAD was on
	Files   []string   `json:"files"`
	Show    []string   `json:"show"`
	Restore []string   `json:"restore"`

	commit session.Commit
}

type backupsVerb struct {
	*app
	most int
}

func (a *backupsVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "backups [SESSION]", Short: "list saved copies of uncommitted work",
		Long: `Backups lists the copies of uncommitted work that wfs has saved, of all sessions or of one, newest
first: before a command replaced files, and while an agent worked. For each it prints the commands that show and
restore it. git cherry-pick -n adds the changes to what is there, and refuses to overwrite; wfs resume saves
what is there first. It writes nothing and takes no lock.`,
		Example: "  wfs backups\n  wfs backups csv-export -n 3\n  wfs backups --json | jq -r '.backups[].ref'",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().IntVarP(&a.most, "max-count", "n", 0, "at most this many")
	return c
}

func (a *backupsVerb) run(ctx context.Context, args []string) (err error) {
	if err := a.Open(ctx); err != nil {
		return err
	}
	var of session.ID
	if len(args) > 0 {
		if of, err = a.Resolve(ctx, args[0]); err != nil {
			return err
		}
	}
	all, err := a.find(ctx, of)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(backupsJSON{jsonVersion, all})
	}
	a.page(ctx)
	for _, b := range all {
		a.say(b)
	}
	if len(all) == 0 {
		a.out("no backups")
	}
	return nil
}

// ofBackup matches the ref of a backup. The session that it belongs to may be deleted.
var ofBackup = lazyregexp.New(`^refs/wfs(?:-deleted)?/([^/]+)/(?:\d+/)?(?:rescue/(\d+)|auto)$`)

// find returns the newest backups of a session, with the commands that restore them. If `of` is "", it returns those of
// all sessions.
func (a *backupsVerb) find(ctx context.Context, of session.ID) ([]backupJSON, error) {
	all, err := a.refs(ctx, of)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y backupJSON) int {
		// of two backups from the same second, the one with the higher number is newer
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(len(y.Name), len(x.Name)), cmp.Compare(y.Name, x.Name))
	})
	if a.most > 0 {
		all = all[:min(a.most, len(all))]
	}
	for i := range all {
		b := &all[i]
		parts, err := a.describe(ctx, b)
		if err != nil {
			return nil, err
		}
		b.Restore = a.waysToRestore(ctx, b, parts)
	}
	return all, nil
}

// refs finds the backups by their refs. It does not fill in their details.
func (a *backupsVerb) refs(ctx context.Context, of session.ID) ([]backupJSON, error) {
	all := []backupJSON{}
	for _, dir := range []string{session.RefPrefix, transition.DeletedPrefix} {
		refs, err := a.Repo.RefsBelow(ctx, strings.TrimSuffix(dir, "/"))
		if err != nil {
			return nil, err
		}
		for _, ref := range sortedKeys(refs) {
			m := ofBackup.FindStringSubmatch(ref)
			if m == nil || of != "" && session.ID(m[1]) != of {
				continue
			}
			info, err := a.Repo.CommitInfo(ctx, refs[ref])
			if err != nil {
				return nil, err
			}
			all = append(all, backupJSON{Session: session.ID(m[1]), Name: cmp.Or(m[2], autoName), Ref: ref,
				At: unix(info.At).UTC(), commit: refs[ref]})
		}
	}
	return all, nil
}

// waysToRestore lists the commands that restore a backup. `parts` are the commits that the backup consists of.
func (a *backupsVerb) waysToRestore(ctx context.Context, b *backupJSON, parts []backup.Rescued) []string {
	_, err := findBackup(ctx, a.Engine, b.Session, b.Name)
	switch {
	case strings.HasPrefix(b.Ref, transition.DeletedPrefix):
		return []string{"wfs delete --restore " + string(b.Session)}
	case err == nil && b.Name == autoName:
		return []string{"wfs resume " + string(b.Session) + " --backup"}
	case err == nil:
		return []string{"wfs resume " + string(b.Session) + " --backup=" + b.Name}
	}
	ways := []string{}
	for _, p := range parts {
		if p.Picks {
			ways = append(ways, "git cherry-pick -n "+p.At)
		}
	}
	return ways
}

// describe adds the reason, the branch, the files and the commands that show a backup. It returns the backup's parts.
func (a *backupsVerb) describe(ctx context.Context, b *backupJSON) ([]backup.Rescued, error) {
	state, err := a.Repo.State(ctx, b.commit)
	if err != nil {
		return nil, err
	}
	b.Why, b.Trigger, b.Branch = state.Why, state.Trigger, strings.TrimPrefix(state.Head.Ref, "refs/heads/")
	changes := state.Changed
	if state.Changes == 0 && state.Head.Commit != "" {
		tree, err := a.Repo.TreeOf(ctx, state.Head.Commit)
		if err != nil {
			return nil, err
		}
		if changes, err = a.Repo.Changes(ctx, tree, state.Tree); err != nil {
			return nil, err
		}
	}
	b.Files = []string{}
	for _, c := range changes {
		b.Files = append(b.Files, c.Path)
	}
	parts, err := a.Repo.RescuedParts(ctx, b.Ref)
	for _, p := range parts {
		b.Show = append(b.Show, p.Show())
	}
	b.Show = list(b.Show)
	return parts, err
}

func (a *backupsVerb) say(b backupJSON) {
	when := "before " + b.Why
	if b.Name == autoName || b.Trigger != "" || strings.HasPrefix(b.Why, "before ") {
		when = b.Why
	}
	if b.Branch != "" {
		when += ", on " + b.Branch
	}
	a.out("%s %s  %s  %s", b.Session, b.Name, present.Ago(b.At, a.env.Now()), when)
	if len(b.Files) > 0 {
		a.out("  files    %s", safetext.First(b.Files, 5, " "))
	}
	for _, command := range b.Show {
		a.out("  show     %s", command)
	}
	for _, command := range b.Restore {
		a.out("  restore  %s", command)
	}
}
