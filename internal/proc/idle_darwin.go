package proc

import "golang.org/x/sys/unix"

// giveWay lets a process group come after all others. A refusal changes nothing but speed.
func giveWay(group int) { _ = unix.Setpriority(unix.PRIO_PGRP, group, nice) }
