package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"

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

// Ignored lists what the work tree ignores now. A directory that a rule matches stands for all that is in it,
// and ends in a slash. One whose files are ignored, and it is not, is no such directory, though `ls-files
// --directory` names it: the next file in it may be none of them.
func (r *Repo) Ignored(ctx context.Context) ([]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all",
		"--no-renames", "--ignore-submodules=all")
	var ignored []string
	for _, line := range gitcmd.SplitZ(out) {
		if p, ok := strings.CutPrefix(line, "!! "); ok {
			ignored = append(ignored, p)
		}
	}
	return ignored, err
}
