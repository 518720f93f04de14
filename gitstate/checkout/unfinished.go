package checkout

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// A move that was killed leaves files of its target behind. The next snapshot has them, unless git ignores them or
// checkpoints exclude them at present, although the target tracks them. Such files would be in the way when the same
// move runs again. So a move notes its two trees before it begins. A file belongs to the interrupted move if the move
// adds a file at that path, where there was none, and the file contains the beginning of the target's content.

const maxMoving = 1 << 20 // bytes

// movingFile returns the path of the file that has a line "<from> <target>" for each move since the last one that
// ended.
func (r *Mover) movingFile() string { return filepath.Join(r.Git.PrivateDir(), "moving") }

// Begin notes that a move between two trees has begun.
func (r *Mover) Begin(from, target session.Tree) error {
	noted, err := durable.ReadFile(r.movingFile(), maxMoving)
	if err != nil && !gitcmd.Absent(err) {
		return err
	}
	line := string(from) + " " + string(target) + "\n"
	if strings.Contains(string(noted), line) {
		return nil
	}
	return durable.WriteFile(r.movingFile(), append(noted, line...), 0o600)
}

func (r *Mover) endMove() error {
	if err := os.Remove(r.movingFile()); err != nil && !gitcmd.Absent(err) {
		return err
	}
	return nil
}

// tornFiles returns those paths at which the changes add a file and an interrupted move has already begun to write it.
func (r *Mover) tornFiles(ctx context.Context, changes []object.TreeChange) (map[string]bool, error) {
	noted, err := durable.ReadFile(r.movingFile(), maxMoving)
	if gitcmd.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	torn := map[string]bool{}
	for line := range strings.Lines(string(noted)) {
		from, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		added, err := r.addedBetween(ctx, from, target)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			was, ok := added[c.Path]
			if !ok || c.OldMode != object.ModeNone {
				continue
			}
			ours, err := r.sameFile(ctx, was, bytes.HasPrefix)
			if err != nil {
				return nil, err
			}
			if ours {
				torn[c.Path] = true
			}
		}
	}
	return torn, nil
}

// addedBetween returns the files that `target` has and `from` lacks, by path. If git has deleted one of the trees
// because the move is weeks old, it returns none.
func (r *Mover) addedBetween(ctx context.Context, from, target string) (map[string]object.TreeChange, error) {
	if len(from) != r.Objects.IDLength() || len(target) != r.Objects.IDLength() {
		return nil, nil
	}
	moved, err := r.Objects.DiffTrees(ctx, session.Tree(from), session.Tree(target))
	if failed := gitcmd.Failed(err); failed != nil {
		return nil, nil
	}
	added := map[string]object.TreeChange{}
	for _, c := range moved {
		if c.OldMode == object.ModeNone {
			added[c.Path] = c
		}
	}
	return added, err
}
