//go:build failpoints

package durable

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

func init() {
	parts["pass"] = func([]string) error {
		Hit(LedgerMoved)
		Hit(JournalRotated)
		Hit(LedgerMoved)
		return nil
	}
}

func TestHit(t *testing.T) {
	t.Parallel()
	for at, killed := range map[string]bool{"": false, "ledger/moved": true, "ledger/moved#2": true, "ledger/moved#3": false,
		"journal/rotated": true, "journal/rotated#2": false, "run/ended": false} {
		cmd := another(t, "pass")
		cmd.Env = append(cmd.Env, "WFS_FAILPOINT="+at)
		err := cmd.Run()
		var exit *exec.ExitError
		if !killed && err != nil || killed && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
			t.Errorf("WFS_FAILPOINT=%s: %v", at, err)
		}
	}
	for _, wrong := range []string{"ledger/move", "ledger/moved#x"} {
		cmd := another(t, "pass")
		cmd.Env = append(cmd.Env, "WFS_FAILPOINT="+wrong)
		cmd.Stderr = nil
		if err := cmd.Run(); err == nil {
			t.Errorf("WFS_FAILPOINT=%s was taken", wrong)
		}
	}
}
