package gitstate

import (
	"context"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Rescues lists the rescues of a session by ref, with what each says of itself.
func (r *Repo) Rescues(ctx context.Context, id session.ID) (map[string]State, error) {
	refs, err := r.RefsBelow(ctx, strings.TrimSuffix(RescuePrefix(id), "/"))
	if err != nil {
		return nil, err
	}
	all := map[string]State{}
	for name, c := range refs {
		if all[name], err = r.State(ctx, c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// RootTrees are the trees of all commits that refs reach which are no rescues, no auto-saves, no operation logs, and nothing
// deleted.
func (r *Repo) RootTrees(ctx context.Context) (map[session.Tree]bool, error) {
	out, err := r.git(ctx, gitOpts{}, "log", "--format=%T", "--exclude="+refsPrefix+"*/rescue/*", "--exclude="+refsPrefix+"*/auto",
		"--exclude="+opsPrefix+"*", "--exclude="+deletedPrefix+"*", "--all")
	if err != nil {
		return nil, err
	}
	all := map[session.Tree]bool{}
	for line := range strings.Lines(string(out)) {
		all[session.Tree(strings.TrimSpace(line))] = true
	}
	return all, nil
}

// Weight is about how many bytes on the disk git can free once some refs are gone. What reflogs hold is not looked at.
func (r *Repo) Weight(ctx context.Context, refs []string) (int64, error) {
	if len(refs) == 0 {
		return 0, nil
	}
	args := append([]string{"rev-list", "--objects", "--disk-usage"}, refs...)
	args = append(args, "--not")
	for _, ref := range refs {
		args = append(args, "--exclude="+ref)
	}
	out, err := r.git(ctx, gitOpts{}, append(args, "--all")...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}
