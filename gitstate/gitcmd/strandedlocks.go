package gitcmd

import (
	"fmt"
	"os"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// A git that an agent or a gate had started, and that was killed with it, leaves locks. Nobody will ever remove
// them, and a run would wait for the index's for as long as for a person with an editor open.

func stillThere(l session.GitLock) bool {
	info, err := os.Lstat(l.Path)
	if err != nil {
		return false
	}
	device, file, _ := durable.FileID(info)
	return l.File == fmt.Sprint(device, "-", file)
}
