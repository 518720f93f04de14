package proc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// Peer returns the processes that have the other end of a TCP connection on this machine open: `there` is their
// address, `here` is ours. It returns none if that cannot be determined, for example because the processes belong to
// another user.
func Peer(here, there netip.AddrPort) []int {
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil || !here.Addr().Unmap().Is4() || !there.Addr().Unmap().Is4() {
		return nil
	}
	from, to := inTable(there), inTable(here)
	inode := ""
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) > 9 && f[1] == from && f[2] == to {
			inode = f[9]
		}
	}
	if inode == "" || inode == "0" { // closed already
		return nil
	}
	var list []int
	for _, pid := range pids() {
		dir := fmt.Sprintf("/proc/%d/fd", pid)
		files, _ := os.ReadDir(dir) // a process that has ended, or of another user
		for _, f := range files {
			if is, _ := os.Readlink(filepath.Join(dir, f.Name())); is == "socket:["+inode+"]" {
				list = append(list, pid)
				break
			}
		}
	}
	return list
}

// inTable returns an IPv4 address as the kernel's table prints it: its bytes in the order of this machine.
func inTable(a netip.AddrPort) string {
	b := a.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(b[:]), a.Port())
}
