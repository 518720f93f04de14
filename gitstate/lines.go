package gitstate

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// Ends returns those of some commits that nothing of what is held leads to, and no other one of them.
func (r *Repo) Ends(ctx context.Context, commits, held []session.Commit) ([]session.Commit, error) {
	var in bytes.Buffer
	for _, c := range commits {
		in.WriteString(string(c) + "\n")
	}
	for _, c := range held {
		in.WriteString("^" + string(c) + "\n")
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: in.Bytes()}, "rev-list", "--parents", "--ignore-missing", "--stdin")
	if err != nil {
		return nil, err
	}
	own, followed := map[session.Commit]bool{}, map[session.Commit]bool{}
	for line := range strings.Lines(string(out)) {
		for i, id := range strings.Fields(line) {
			if i == 0 {
				own[session.Commit(id)] = true
			} else {
				followed[session.Commit(id)] = true
			}
		}
	}
	ends := slices.DeleteFunc(slices.Clone(commits), func(c session.Commit) bool { return !own[c] || followed[c] })
	slices.Sort(ends)
	return slices.Compact(ends), nil
}

// Beyond returns the commits that lead to end and not to from, without those that change nothing that is handed
// over, and without those whose patch is in from's history: these were rebased. Of commits that change
// submodules git may see no patch, or be unable to compare them, as .gitmodules and the configuration say: none
// of them counts as rebased.
func (r *Repo) Beyond(ctx context.Context, from, end session.Commit) ([]session.Commit, error) {
	beyond := append([]string{"--right-only", string(from) + "..." + string(end)}, withoutDocuments...)
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, append([]string{"rev-list"}, beyond...)...)
	all := strings.Fields(string(out))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	own := map[string]bool{}
	out, unknown := r.Git.Run(ctx, gitcmd.Opts{}, append([]string{"rev-list", "--cherry-pick"}, beyond...)...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, c := range strings.Fields(string(out)) {
		own[c] = true
	}
	var list []session.Commit
	for _, c := range all {
		keep := unknown != nil || own[c]
		if !keep {
			if keep, err = r.changesSubmodules(ctx, c); err != nil {
				return nil, err
			}
		}
		if keep {
			list = append(list, session.Commit(c))
		}
	}
	return list, nil
}

// changesSubmodules reports whether a commit has other submodules than its one parent, or another commit of one.
func (r *Repo) changesSubmodules(ctx context.Context, commit string) (bool, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "diff-tree", object.EverySubmodule, "--root", "--no-commit-id", "-r", "-z", "--raw",
		"--no-renames", "--no-abbrev", commit)
	if err != nil {
		return false, err
	}
	changes, err := object.ParseRaw(out)
	return slices.ContainsFunc(changes,
		func(c object.TreeChange) bool {
			return c.OldMode == object.ModeGitlink || c.NewMode == object.ModeGitlink
		}), err
}
