// Package unsaved finds what a work tree alone has, and would be lost with it.
package unsaved

import (
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/settings"
)

// Finder looks through a work tree.
type Finder struct {
	Git      *gitcmd.Git
	Objects  *object.Store
	Settings *settings.Settings
}
