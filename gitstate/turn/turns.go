// Package turn makes the commits of a turn, publishes it, and then settles it: it moves branch, index and HEAD.
package turn

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/gitstate/worktree"
)

// Turns prepares and publishes the turns of sessions in a work tree.
type Turns struct {
	Git     *gitcmd.Git
	Objects *object.Store
	Refs    *refs.Refs
	Files   *snapshot.Files
	Trees   *worktree.Trees
}
