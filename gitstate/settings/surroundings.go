package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// The limits of the files that Surroundings reads: their number, and the size in bytes of each and of all together.
const (
	maxWatched      = 200
	maxWatchedBytes = 1 << 20
)

// Surroundings returns the commits of all refs, and fingerprints and contents of the files that affect how git works
// here: configuration, hooks, attributes, excludes, alternates. It includes remote-tracking branches, because they show
// a push.
func (r *Settings) Surroundings(ctx context.Context, id session.ID) (session.Surroundings, error) {
	s := session.Surroundings{Refs: map[string]session.Commit{}, Wfs: map[string]session.Commit{},
		Files: map[string]string{}, Texts: map[string]session.Text{}}
	out, err := r.Git.Ask(ctx, "for-each-ref",
		"--format=%(objecttype),%(*objecttype),%(objectname),%(*objectname),%(refname)")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ",", 5)
		if len(f) != 5 || f[0] != "commit" && f[1] != "commit" { // a tag that points to no commit
			continue
		}
		ref, commit := f[4], session.Commit(f[2])
		if f[0] == "tag" {
			commit = session.Commit(f[3])
		}
		switch {
		case ref == refs.BranchRef(id), ref == refs.LedgerRef(id), strings.HasPrefix(ref, refs.DeletedPrefix):
		case strings.HasPrefix(ref, refs.BranchPrefix), strings.HasPrefix(ref, refs.OpsPrefix), refs.LedgerOf(ref) != "",
			strings.HasPrefix(ref, refs.RefsPrefix) && strings.Contains(ref, "/rescue/"):
			s.Wfs[ref] = commit
		case !strings.HasPrefix(ref, refs.RefsPrefix): // omit all other refs of wfs: they change in normal work
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

// watch adds to s the fingerprint of a file, or of each file in a directory, by its path relative to base. It also
// saves their contents, up to maxWatchedBytes for all files. An unreadable file counts as empty.
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
		if err != nil || d.IsDir() || rel == filepath.Join("info", "refs") { // git writes info/refs itself, after a gc
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

// HasFile reports whether a commit has a file.
func (r *Settings) HasFile(ctx context.Context, at session.Commit, file string) bool {
	out, err := r.Git.Ask(ctx, "ls-tree", "--name-only", string(at), "--", file)
	return err == nil && len(out) > 0
}
