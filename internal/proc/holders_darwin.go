package proc

// Holding is not possible on macOS.
func Holding(string) (list []Process, known bool) { return nil, false }

// Named cannot find the command on macOS.
func Named(pid int) Process { return Process{PID: pid} }

// Working is not possible on macOS.
func Working(string, ...string) (list []Process, known bool) { return nil, false }
