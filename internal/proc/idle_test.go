//go:build linux

package proc

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestIdleGivesWay(t *testing.T) {
	t.Parallel()
	if own, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err != nil || 20-own > nice {
		t.Skip("these tests give way themselves")
	}
	// The niceness is set right after the start. Children of a shell inherit it; nice without a command prints its own.
	c := Cmd{Argv: []string{"sh", "-c", "until [ $(nice) = 10 ]; do :; done"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Idle: true}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, _, exit, err := Output(ctx, c); err != nil || exit != 0 {
		t.Errorf("exit %d, %v", exit, err)
	}
}
