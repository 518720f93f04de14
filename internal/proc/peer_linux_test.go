package proc_test

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/internal/proc"
)

// TestPeer finds who holds the other end of a connection: this process, as long as it is open.
func TestPeer(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, there := netip.MustParseAddrPort(c.RemoteAddr().String()), netip.MustParseAddrPort(c.LocalAddr().String())
	if got := proc.Peer(here, there); !slices.Contains(got, os.Getpid()) {
		t.Errorf("%v, without this process %d", got, os.Getpid())
	}
	if got := proc.Peer(there, here); len(got) != 0 {
		t.Errorf("nothing has accepted the connection yet, and %v are said to hold it", got)
	}
	c.Close()
	if got := proc.Peer(here, there); len(got) != 0 {
		t.Errorf("%v hold a connection that is closed", got)
	}
}
