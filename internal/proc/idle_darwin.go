package proc

import "golang.org/x/sys/unix"

// giveWay lowers the priority of a process group below that of all others. An error is ignored, because it only affects
// speed.
func giveWay(group int) { _ = unix.Setpriority(unix.PRIO_PGRP, group, nice) }
