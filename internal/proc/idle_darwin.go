package proc

import "golang.org/x/sys/unix"

// giveWay lowers the priority of a process group below all others. An error only affects speed.
func giveWay(group int) { _ = unix.Setpriority(unix.PRIO_PGRP, group, nice) }
