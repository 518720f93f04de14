package proc

import "net/netip"

// Peer cannot tell on macOS which processes have a connection open, and returns none.
func Peer(netip.AddrPort, netip.AddrPort) []int { return nil }
