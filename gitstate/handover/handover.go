// Package handover makes the commit that finish hands over, and later finds out where that work is.
package handover

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/worktree"
)

// Handover hands sessions' work over to the user's branches.
type Handover struct {
	Git     *gitcmd.Git
	Objects *object.Store
	Refs    *refs.Refs
	Trees   *worktree.Trees
}
