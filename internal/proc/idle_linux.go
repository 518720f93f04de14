package proc

import "golang.org/x/sys/unix"

// From linux/ioprio.h, which the syscall package does not have.
const (
	ioprioWhoGroup   = 2
	ioprioClassIdle  = 3
	ioprioClassShift = 13
)

// giveWay gives a process group the lowest priority, for processors and disks. A refusal changes nothing but speed.
func giveWay(group int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, group, 19)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoGroup, uintptr(group), ioprioClassIdle<<ioprioClassShift)
}
