package proc

import "golang.org/x/sys/unix"

// Constants of linux/ioprio.h, which package syscall does not have.
const (
	ioprioWhoGroup   = 2
	ioprioBestEffort = 2 << 13 // the default class, in which 7 is the lowest priority
	ioprioLast       = 7
)

// giveWay lowers the priority of a process group, for processors and for disks. It does not use the idle class of
// disks: on a machine that is busy for hours, the group would wait for hours. An error is ignored, because it only
// affects speed.
func giveWay(group int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, group, nice)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoGroup, uintptr(group), ioprioBestEffort|ioprioLast)
}
