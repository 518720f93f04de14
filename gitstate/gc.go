package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
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

// LedgerTrees are the trees of all commits that a session's ledger leads to: what stays as long as the session does.
func (r *Repo) LedgerTrees(ctx context.Context, id session.ID) (map[session.Tree]bool, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "log", "--format=%T", LedgerRef(id), "--")
	if err != nil {
		return nil, err
	}
	all := map[session.Tree]bool{}
	for line := range strings.Lines(string(out)) {
		all[session.Tree(strings.TrimSpace(line))] = true
	}
	return all, nil
}

// OnlyIn says what nothing but a rescue tells or keeps, "" for nothing. trees are those that stay, see LedgerTrees.
func (r *Repo) OnlyIn(ctx context.Context, rescue session.Commit, s State, trees map[session.Tree]bool) (string,
	error) {
	var head session.Tree
	if s.Head.Commit != "" {
		var err error
		if head, err = r.TreeOf(ctx, s.Head.Commit); err != nil {
			return "", err
		}
	}
	switch {
	case s.Raw != "":
		return "it holds the bytes of files that git converts", nil
	case !trees[s.Tree]:
		return "it holds the only copy", nil
	case s.Index != "" && s.Index != s.Tree && s.Index != head:
		return "no other record of what was staged", nil
	}
	info, err := r.CommitInfo(ctx, rescue)
	if err != nil {
		return "", err
	}
	own := map[string]bool{string(rescue): true}
	for line := range strings.Lines(info.Body) {
		for _, key := range []string{trailerStateCode, trailerStateIndex} {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), key); ok {
				own[id] = true
			}
		}
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "rev-list", string(rescue), "--not", "--exclude="+refsPrefix+"*/rescue/*",
		"--exclude="+refsPrefix+"*/auto",
		"--exclude="+opsPrefix+"*", "--exclude="+deletedPrefix+"*", "--exclude=refs/stash", "--all")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if !own[strings.TrimSpace(line)] {
			return "it is the only reference to older commits", nil
		}
	}
	return "", nil
}

// OnlyOurs reports whether a ref leads to a commit that no ref of the user's leads to.
func (r *Repo) OnlyOurs(ctx context.Context, ref string) (bool, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "rev-list", "--max-count=1", ref, "--not", "--exclude="+branchPrefix+"*",
		"--exclude="+refsPrefix+"*",
		"--exclude="+opsPrefix+"*", "--exclude="+deletedPrefix+"*", "--glob=refs/*")
	return len(out) > 0, err
}

// DropEmpty removes the directories of refs of ours in which nothing is: git, killed after it has removed the last ref
// there, leaves them for good. One that makes a ref there now makes the directory again.
func (r *Repo) DropEmpty() {
	for _, name := range []string{branchPrefix, refsPrefix, opsPrefix, deletedPrefix} {
		dir := filepath.Join(r.Git.CommonDir, filepath.FromSlash(strings.TrimSuffix(name, "/")))
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && r.Git.ReadsDirectly() { // a link may lead anywhere
			dropEmpty(dir)
		}
	}
}

func dropEmpty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			dropEmpty(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir) // not while anything is in it
}

// The trailers of a state commit that name its parents.
const (
	trailerStateCode  = "Wfs-State-Code: "
	trailerStateIndex = "Wfs-State-Index: "
)

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
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, append(args, "--all")...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}
