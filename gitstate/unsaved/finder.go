// Package unsaved finds files that are only in one work tree, and would be lost with it.
package unsaved

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/settings"
)

// Finder searches a work tree.
type Finder struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Settings *settings.Settings
}
