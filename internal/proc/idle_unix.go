//go:build unix && !linux

package proc

import "golang.org/x/sys/unix"

// giveWay gives a process group the lowest priority. A refusal changes nothing but speed.
func giveWay(group int) { _ = unix.Setpriority(unix.PRIO_PGRP, group, 19) }
