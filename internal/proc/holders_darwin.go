package proc

// Holding returns known false, because macOS does not show which processes have a file open.
func Holding(string) (list []Process, known bool) { return nil, false }

// Named returns a process without its command, which it cannot find on macOS.
func Named(pid int) Process { return Process{PID: pid} }

// Working returns known false, because macOS does not show the working directory of a process.
func Working(string, ...string) (list []Process, known bool) { return nil, false }
