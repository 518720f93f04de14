// Package unsaved finds files that exist in only one work tree, and would be lost together with it.
package unsaved

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/settings"
)

// Finder searches a work tree for such files.
type Finder struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Settings *settings.Settings
}
