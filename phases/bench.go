package phases

import (
	"context"

	"github.com/wfs-dev/wfs/session"
)

// Bench is what attempts are judged and tried with: the places where gates run, and the trees that they run on.
type Bench struct {
	Rooms
	Trees
}

// Trees reads trees, and makes others of them.
type Trees struct {
	// Show returns a file of a tree, nil when the tree has none of that name.
	Show func(ctx context.Context, tree session.Tree, path string) ([]byte, error)
	// Paths are the paths of a tree's files.
	Paths func(ctx context.Context, tree session.Tree) ([]string, error)
	// Changes lists the differences between two trees.
	Changes func(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Overlay is a tree with some paths as another one has them.
	Overlay func(ctx context.Context, base, from session.Tree, paths []string) (session.Tree, error)
	// WithTexts is a tree in which some files have other texts.
	WithTexts func(ctx context.Context, tree session.Tree, texts map[string][]byte) (session.Tree, error)
}
