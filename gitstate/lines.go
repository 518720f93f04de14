package gitstate

import (
	"bytes"
	"context"
	"slices"
	"strings"

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
	out, err := r.git(ctx, gitOpts{stdin: in.Bytes()}, "rev-list", "--parents", "--ignore-missing", "--stdin")
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

// Beyond returns the commits that lead to end and not to from, without those that change nothing that is handed over, and
// without those whose patch is in from's history: these were rebased.
func (r *Repo) Beyond(ctx context.Context, from, end session.Commit) ([]session.Commit, error) {
	beyond := append([]string{string(from) + "..." + string(end)}, withoutDocuments...)
	out, err := r.git(ctx, gitOpts{}, append([]string{"rev-list", "--right-only", "--cherry-pick"}, beyond...)...)
	if err != nil { // patches with submodules cannot be compared when git cannot parse .gitmodules: none counts as rebased
		out, err = r.git(ctx, gitOpts{}, append([]string{"rev-list", "--right-only"}, beyond...)...)
	}
	var list []session.Commit
	for line := range strings.Lines(string(out)) {
		list = append(list, session.Commit(strings.TrimSpace(line)))
	}
	return list, err
}
