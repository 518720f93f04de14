package gitstate

import (
	"context"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// InProgress names an unfinished merge, rebase, cherry-pick, revert or bisect of the work tree, "" for none.
func (r *Repo) InProgress(context.Context) (string, error) {
	for _, op := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer/todo", "cherry-pick or revert"}, // between two commits of a series
		{"BISECT_LOG", "bisect"},
	} {
		_, err := os.Stat(filepath.Join(r.Git.GitDir, filepath.FromSlash(op.file)))
		if err == nil {
			return op.name, nil
		}
		if !gitcmd.Absent(err) {
			return "", err
		}
	}
	return "", nil
}
