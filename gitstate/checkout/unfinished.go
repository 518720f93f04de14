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

// A move that was killed leaves files of its target behind. The next snapshot has them, unless they are ignored or held
// out now but tracked in the target: then they would be in the way of the same move when it runs again. So a move notes
// its two trees before it begins. A file belongs to the move if the move was to add it, at a free path, and its content
// is the beginning of the target's content.

const maxMoving = 1 << 20 // bytes

// movingFile has a line "<from> <target>" for each move since the last one that ended.
func (r *Mover) movingFile() string { return filepath.Join(r.Git.PrivateDir(), "moving") }

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

// tornFiles returns the paths that changes add and that contain what an interrupted move has begun to write there.
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

// addedBetween returns the files that `target` has and `from` lacks, by path; none if one of the trees is missing,
// because the move is weeks old.
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
