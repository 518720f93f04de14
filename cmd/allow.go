package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// allowJSON is what is let in, and what is held out.
type allowJSON struct {
	Version int            `json:"version"`
	Session session.ID     `json:"session"`
	Done    []string       `json:"done,omitempty"` // allowed, or allowed no more, by this command
	Allowed []string       `json:"allowed"`
	HeldOut []session.Held `json:"held_out"` // of the present checkpoint
}

func (a *app) allowCmd() *cobra.Command {
	var show, revoke bool
	var in string
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
		RunE: func(c *cobra.Command, args []string) error {
			if show {
				if len(args) > 0 || revoke {
					return usage("wfs allow --list", "--list takes no paths")
				}
				return a.allowed(c.Context(), in)
			}
			if len(args) == 0 {
				return usage("wfs allow --list", "allow needs the paths to allow")
			}
			return a.allow(c.Context(), in, args, revoke)
		},
	}
	c.Flags().BoolVar(&show, "list", false, "only show what is allowed, and what is excluded")
	c.Flags().BoolVar(&revoke, "revoke", false, "exclude them again")
	c.Flags().StringVar(&in, "session", "", "of this `session` (default: the current one)")
	return c
}

func (a *app) allowed(ctx context.Context, name string) error {
	v, err := a.OpenView(ctx, name)
	if err != nil {
		return err
	}
	s := &v.Session
	var held []session.Held
	if c := s.At(s.Current); c != nil {
		held = c.HeldOut
	}
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

func (a *app) allow(ctx context.Context, name string, args []string, revoke bool) error {
	if err := a.Ready(ctx, true); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	paths, err := a.below(args)
	if err != nil {
		return err
	}
	if !revoke {
		if err := a.noneNested(paths); err != nil {
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
	done, err := h.Allow(ctx, paths, revoke)
	if err != nil {
		return err
	}
	s := &h.S
	if a.json {
		var held []session.Held
		if c := s.At(s.Current); c != nil {
			held = c.HeldOut
		}
		return a.answer(allowJSON{jsonVersion, id, paths, list(s.Allowed), list(held)})
	}
	ignored, err := a.Repo.Ignores(ctx, paths)
	if err != nil {
		return err
	}
	for _, p := range paths {
		switch {
		case revoke:
			a.out("%s is no longer allowed; existing checkpoints keep it", p)
		case ignored[p]:
			a.out("%s is allowed, but git ignores it: git add -f %s", p, shellWord(p))
		default:
			a.out("%s is allowed", p)
		}
	}
	if !revoke && len(done) > 0 {
		a.next([]string{a.typed("wfs checkpoint"), a.typed("wfs run")})
	}
	return nil
}

// noneNested refuses paths at and in repositories of their own: no checkpoint takes files of those, allowed or not.
func (a *app) noneNested(paths []string) error {
	for _, p := range paths {
		nested := a.Repo.Nested(p)
		switch {
		case nested == "":
		case nested == p:
			return usage(fmt.Sprintf("git add %s && git commit -m %s", shellWord(p), shellWord("add "+p)),
				"%s is a repository of its own: a checkpoint only records its commit, once you have committed that", p)
		default:
			return usage(fmt.Sprintf("git -C %s add %s", shellWord(filepath.Join(a.Repo.Root(), nested)),
				shellWord(strings.TrimPrefix(p, nested+"/"))),
				"%s is in %s, a repository of its own: a checkpoint does not contain its files", p, nested)
		}
	}
	return nil
}

// below turns arguments into paths from the top of the work tree, which is where they must lie.
func (a *app) below(args []string) ([]string, error) {
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
