package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// allowJSON lists the paths that a person has allowed, and the paths that checkpoints still leave out.
type allowJSON struct {
	Version int            `json:"version"`
	Session session.ID     `json:"session"`
	Done    []string       `json:"done,omitempty"` // paths that this command allowed or revoked
	Allowed []string       `json:"allowed"`
	HeldOut []session.Held `json:"held_out"` // left out of the current checkpoint
}

type allowVerb struct {
	*app
	list, revoke bool
	session      string
}

func (a *allowVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "allow PATH...", Short: "allow files in checkpoints that are excluded by default",
		Long: `Allow includes paths in the checkpoints of a session that are excluded because they look like keys, are
large, or are many new files at once: what is committed stays in history. A directory is allowed with everything
below it. Nothing is added now; the next checkpoint has it. What git ignores stays ignored. Refused during a run
of the session, because the agent could type it: wfs stop, then run it again.

--list shows what was allowed and what the current checkpoint lacks. --revoke excludes a path again: a file that
is already in a checkpoint stays in those that have it, and stays tracked until you git rm --cached it and
commit that.`,
		Example: `  wfs allow data/prices.csv
  wfs allow .env.test testdata/certs/
  wfs allow --list
  wfs allow --revoke data/prices.csv`,
		RunE: with(a.run),
	}
	c.Flags().BoolVar(&a.list, "list", false, "only show what is allowed, and what is excluded")
	c.Flags().BoolVar(&a.revoke, "revoke", false, "exclude them again")
	c.Flags().StringVar(&a.session, "session", "", "of this `session` (default: the current one)")
	return c
}

func (a *allowVerb) run(ctx context.Context, paths []string) error {
	switch {
	case a.list && (len(paths) > 0 || a.revoke):
		return usage("wfs allow --list", "--list takes no paths")
	case a.list:
		return a.show(ctx)
	case len(paths) == 0:
		return usage("wfs allow --list", "allow needs the paths to allow")
	}
	return a.allow(ctx, paths)
}

// heldOut returns the paths that the current checkpoint leaves out until a person allows them.
func heldOut(s *session.Session) []session.Held {
	if c := s.At(s.Current); c != nil {
		return c.HeldOut
	}
	return nil
}

func (a *allowVerb) show(ctx context.Context) error {
	v, err := a.OpenView(ctx, a.session)
	if err != nil {
		return err
	}
	s := &v.Session
	held := heldOut(s)
	if a.json {
		return a.answer(allowJSON{jsonVersion, s.ID, nil, list(s.Allowed), list(held)})
	}
	for _, p := range s.Allowed {
		a.out("allowed   %s", p)
	}
	for _, h := range held {
		a.out("excluded  %s", present.HeldName(h))
	}
	if len(s.Allowed)+len(held) == 0 {
		a.out("nothing is excluded, and nothing was allowed")
	}
	return nil
}

func (a *allowVerb) allow(ctx context.Context, args []string) error {
	if err := a.Ready(ctx, true); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, a.session)
	if err != nil {
		return err
	}
	paths, err := a.below(args)
	if err != nil {
		return err
	}
	if !a.revoke {
		if err := noneNested(a.Repo, paths); err != nil {
			return err
		}
	}
	if err := a.Undriven("wfs allow", id); err != nil {
		return err
	}
	h, err := a.HoldAndTake(ctx, "wfs allow", id)
	if err != nil {
		return err
	}
	done, err := h.Allow(ctx, paths, a.revoke)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(allowJSON{jsonVersion, id, paths, list(h.S.Allowed), list(heldOut(&h.S))})
	}
	return a.say(ctx, paths, len(done) > 0)
}

// say prints the allowed paths. If the command changed them, it also prints the next commands.
func (a *allowVerb) say(ctx context.Context, paths []string, changed bool) error {
	ignored, err := a.Repo.Ignores(ctx, paths)
	if err != nil {
		return err
	}
	for _, p := range paths {
		switch {
		case a.revoke:
			a.out("%s is no longer allowed; existing checkpoints keep it", p)
		case ignored[p]:
			a.out("%s is allowed, but git ignores it: git add -f %s", p, shellWord(p))
		default:
			a.out("%s is allowed", p)
		}
	}
	if !a.revoke && changed {
		a.next([]string{a.typed("wfs checkpoint"), a.typed("wfs run")})
	}
	return nil
}

// noneNested refuses paths at or inside a nested repository, because a checkpoint never contains its files, even if
// they are allowed.
func noneNested(repo *gitstate.Repo, paths []string) error {
	for _, p := range paths {
		nested := repo.Nested(p)
		switch {
		case nested == "":
		case nested == p:
			return usage(fmt.Sprintf("git add %s && git commit -m %s", shellWord(p), shellWord("add "+p)),
				"%s is a repository of its own: a checkpoint only records its commit, once you have committed that", p)
		default:
			return usage(fmt.Sprintf("git -C %s add %s", shellWord(filepath.Join(repo.Root(), nested)),
				shellWord(strings.TrimPrefix(p, nested+"/"))),
				"%s is in %s, a repository of its own: a checkpoint does not contain its files", p, nested)
		}
	}
	return nil
}

// below turns arguments into paths relative to the root of the work tree. It refuses paths outside the work tree.
func (a *allowVerb) below(args []string) ([]string, error) {
	var paths []string
	root, err := filepath.EvalSymlinks(a.Repo.Root())
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		full := a.env.Abs(arg)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
			full = filepath.Join(dir, filepath.Base(full))
		}
		rel, err := filepath.Rel(root, full)
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			return nil, usage("wfs allow --list", "%s is not a path below %s", arg, a.Repo.Root())
		}
		rel = filepath.ToSlash(rel)
		if first, _, _ := strings.Cut(rel, "/"); first == ".wfs" || first == ".git" {
			return nil, usage("wfs allow --list", "%s is never part of a checkpoint", arg)
		}
		paths = append(paths, rel)
	}
	return paths, nil
}
