//go:build linux

package proc

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestIdleGivesWay(t *testing.T) {
	t.Parallel()
	for idle, want := range map[bool]string{true: "10", false: "0"} {
		// What a shell starts has its niceness; nice without a command prints its own. It is set right after the start.
		c := Cmd{Argv: []string{"sh", "-c", "until [ $(nice) = " + want + " ]; do :; done; nice"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Idle: idle}
		out, _, exit, err := Output(context.Background(), c)
		if err != nil || exit != 0 || strings.TrimSpace(string(out)) != want {
			t.Errorf("idle %v: niceness %s, not %s (exit %d, %v)", idle, out, want, exit, err)
		}
	}
}
