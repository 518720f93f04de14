package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// maxWatched bounds the files of the git directory that are looked at, and the bytes of each that are read.
const (
	maxWatched      = 200
	maxWatchedBytes = 1 << 20
)

// Surroundings are everybody's refs, and the files of the git directory that say how git works here:
// configuration, hooks, attributes, excludes, borrowed objects. The branches that are remembered of remotes are
// among them: they show a push.
func (r *Repo) Surroundings(ctx context.Context, id session.ID) (session.Surroundings, error) {
	s := session.Surroundings{Refs: map[string]session.Commit{}, Wfs: map[string]session.Commit{},
		Files: map[string]string{}, Texts: map[string]session.Text{}}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "for-each-ref",
		"--format=%(objecttype),%(*objecttype),%(objectname),%(*objectname),%(refname)")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ",", 5)
		if len(f) != 5 || f[0] != "commit" && f[1] != "commit" { // a tag of something else
			continue
		}
		ref, commit := f[4], session.Commit(f[2])
		if f[0] == "tag" {
			commit = session.Commit(f[3])
		}
		switch {
		case ref == BranchRef(id), ref == LedgerRef(id), strings.HasPrefix(ref, deletedPrefix):
		case strings.HasPrefix(ref, branchPrefix), strings.HasPrefix(ref, opsPrefix), ledgerOf(ref) != "",
			strings.HasPrefix(ref, refsPrefix) && strings.Contains(ref, "/rescue/"):
			s.Wfs[ref] = commit
		case !strings.HasPrefix(ref, refsPrefix): // what else is there comes and goes
			s.Refs[ref] = commit
		}
	}
	for _, dir := range []string{r.Git.CommonDir, r.Git.GitDir} {
		for _, name := range []string{"config", "config.worktree", "shallow", "hooks", "info",
			filepath.Join("objects", "info", "alternates")} {
			watch(&s, r.Git.CommonDir, filepath.Join(dir, name))
		}
	}
	watch(&s, r.Git.Root, filepath.Join(r.Git.Root, ".wfs"))
	return s, nil
}

// watch takes digests of a file, or of all those in a directory, by their paths from base, and keeps what they
// hold, as far as maxWatchedBytes go. What cannot be read counts as empty.
func watch(s *session.Surroundings, base, top string) {
	kept := 0
	for _, t := range s.Texts {
		kept += len(t.Data)
	}
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(s.Files) >= maxWatched || strings.HasSuffix(path, ".sample") ||
			strings.HasSuffix(path, ".lock") {
			return nil
		}
		rel, err := filepath.Rel(base, path)
		if err != nil || d.IsDir() || rel == filepath.Join("info", "refs") { // git's own, after a gc
			return nil
		}
		digest := sha256.New()
		switch info, err := d.Info(); {
		case err != nil:
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			digest.Write([]byte("link " + to))
		case info.Mode().IsRegular() && info.Size() <= maxWatchedBytes:
			data, err := os.ReadFile(path)
			if kept += len(data); err == nil && kept <= maxWatchedBytes {
				s.Texts[filepath.ToSlash(rel)] = session.Text{Data: data, Exec: info.Mode()&0o100 != 0}
			}
			digest.Write([]byte(info.Mode().String() + "\x00"))
			digest.Write(data)
		default:
			digest.Write([]byte(info.Mode().String() + info.ModTime().String()))
		}
		s.Files[filepath.ToSlash(rel)] = hex.EncodeToString(digest.Sum(nil))
		return nil
	})
}

// SettingsBetween are the names of the settings that differ between two files of git's, without what may be a
// password in them. Of files that git cannot read there are none.
func (r *Repo) SettingsBetween(ctx context.Context, was, now string) []string {
	var all [2]map[string]string
	for i, file := range []string{was, now} {
		out, err := r.Git.Run(ctx, gitcmd.Opts{}, "config", "--file", file, "--list", "-z")
		if err != nil {
			return nil
		}
		all[i] = map[string]string{}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if name, value, _ := strings.Cut(entry, "\n"); name != "" {
				if strings.Contains(name, "@") { // url.https://user:password@host.insteadof
					name = name[:strings.Index(name, ".")] + ".*" + name[strings.LastIndex(name, "."):]
				}
				all[i][name] += value + "\x00"
			}
		}
	}
	return session.Differing(all[0], all[1])
}

// HasFile reports whether a commit has a file.
func (r *Repo) HasFile(ctx context.Context, at session.Commit, file string) bool {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "ls-tree", "--name-only", string(at), "--", file)
	return err == nil && len(out) > 0
}

// Pushed reports whether git's log of a remote's branch says that a push was the last to move it.
func (r *Repo) Pushed(ctx context.Context, ref string) bool {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1, gitcmd.GitDied}}, "reflog", "show", "-1", "--format=%gs", ref)
	return err == nil && strings.TrimSpace(string(out)) == "update by push"
}

// Unreachable returns those of some commits that are there, and that no ref leads to.
func (r *Repo) Unreachable(ctx context.Context, commits []session.Commit) ([]session.Commit, error) {
	args := []string{"rev-list", "--ignore-missing"}
	for _, c := range commits {
		args = append(args, string(c))
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, append(args, "--not", "--glob=refs/*")...) // --all counts HEAD as well
	found := strings.Fields(string(out))
	return slices.DeleteFunc(slices.Clone(commits),
		func(c session.Commit) bool { return !slices.Contains(found, string(c)) }), err
}

// PutBack moves a ref to a commit from whatever it is at. It reports false when the commit is not there any more.
func (r *Repo) PutBack(ctx context.Context, ref string, to session.Commit) (bool, error) {
	if there, err := r.Exists(ctx, to); err != nil || !there {
		return false, err
	}
	now, err := r.Ref(ctx, ref)
	if err != nil {
		return false, err
	}
	return true, r.moveRef(ctx, session.RefMove{Ref: ref, Old: now, New: to}, "wfs: put back")
}
