package screen

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Foreground reports whether this process may draw on a terminal, because it is not in a shell's background.
func Foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Mute stops a terminal from echoing typed characters, which would break the block. The input stays available for its
// next reader, and Ctrl-C and other keys keep working. restore may be called more than once.
func Mute(f *os.File) (restore func()) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || !Foreground(f) { // the system stops a background process that changes the terminal
		return func() {}
	}
	muted := *old
	muted.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, setTermios, &muted) != nil {
		return func() {}
	}
	return func() {
		if Foreground(f) {
			_ = unix.IoctlSetTermios(fd, setTermios, old)
		}
	}
}

// OnStop calls leave before Ctrl-Z stops this process, and back when it continues after any stop, until end is called.
func OnStop(leave, back func()) (end func()) {
	if signal.Ignored(unix.SIGTSTP) {
		return func() {}
	}
	stop, goOn, done := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(stop, unix.SIGTSTP)
	signal.Notify(goOn, unix.SIGCONT)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-stop:
				leave()
				_ = unix.Kill(unix.Getpid(), unix.SIGSTOP) // it cannot be caught; other threads may stop a moment later
			case <-goOn:
				back()
			}
		}
	}()
	return func() {
		signal.Stop(stop)
		signal.Stop(goOn)
		close(done)
	}
}
