package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// What is no operation log, and stands where one belongs, never stops a command, is never lost, and is told.

// maxSalvaged is how many files of damaged refs are kept.
const maxSalvaged = 3

// SetAside says what of an operation log this process could not read and has moved aside, "" for nothing.
func (r *Repo) SetAside() string {
	if s := r.notedAside.Load(); s != nil {
		return *s
	}
	return ""
}

func (r *Repo) noteAside(what string) { r.notedAside.Store(&what) }

// salvageOps moves a file aside that stands where the log's ref belongs and is none: damaged, or a symbolic ref, by
// which somebody's branch would be moved. Git can neither read nor replace such a file.
func (r *Repo) salvageOps() error {
	if !r.Git.ReadsDirectly() {
		return nil
	}
	path := filepath.Join(r.Git.CommonDir, filepath.FromSlash(r.opsRef()))
	data, err := durable.ReadFile(path, 4096)
	if gitcmd.Absent(err) {
		return nil
	}
	if err == nil {
		if ref, commit, err := r.parseRef(r.opsRef(), data); err == nil && ref == "" && commit != "" {
			return nil
		}
	} else if !errors.Is(err, durable.ErrNotRegular) && !errors.Is(err, durable.ErrTooLarge) {
		return err
	} else if st, err := os.Lstat(path); err != nil || st.IsDir() {
		return err // refs below it: git says which
	}
	if err := durable.MkdirAll(r.Git.PrivateDir()); err != nil {
		return err
	}
	to := ""
	for n := 1; n <= maxSalvaged; n++ {
		to = filepath.Join(r.Git.PrivateDir(), fmt.Sprintf("ops.corrupt-%d", n))
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err := os.Rename(path, to); err != nil {
		return err
	}
	r.noteAside(fmt.Sprintf("%s was not an operation log (%q) and was moved to %s", r.opsRef(),
		bytes.TrimSpace(data[:min(len(data), 60)]), to))
	return errors.Join(durable.SyncDir(filepath.Dir(to)), durable.SyncDir(filepath.Dir(path)))
}

// asideOps keeps what a log's ref points to, whatever that is: as parent of the new log's first commit.
func (r *Repo) asideOps(ctx context.Context, tip session.Commit, ident string, at int64) ([]session.Commit,
	[]newObject, error) {
	if tip == "" {
		return nil, nil, nil
	}
	got, err := r.lookup(ctx, string(tip))
	if err != nil {
		return nil, nil, err
	}
	mode := map[string]string{"blob": modeFile, "tree": modeTree}[got[0].kind]
	switch {
	case got[0].kind == "commit":
		if whole, err := r.Exists(ctx, tip); err != nil || !whole {
			return nil, nil, err
		}
		return []session.Commit{tip}, nil, nil
	case mode == "": // not there, or a tag: nothing of ours
		return nil, nil, nil
	}
	tree, err := r.newTree([]treeEntry{{mode, "aside", string(tip)}})
	if err != nil {
		return nil, nil, err
	}
	c := r.newCommit(tree.id, nil, ident, at, "wfs: moved aside")
	return []session.Commit{session.Commit(c.id)}, []newObject{tree, c}, nil
}
