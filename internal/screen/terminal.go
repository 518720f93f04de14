package screen

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Foreground reports whether this process may draw on a terminal. It may not if a shell runs it in the background.
func Foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Mute stops a terminal from displaying the characters that the user types, because they would damage the block. The
// typed input stays there for the next process that reads it, and Ctrl-C and similar keys still work. `restore`
// displays typed characters again; it may be called more than once.
func Mute(f *os.File) (restore func()) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || !Foreground(f) { // the system would stop a background process that changes the terminal
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

// OnStop handles Ctrl-Z: it calls `leave` before this process stops, and `back` when the process continues. `back` is
// also called after the process was stopped in another way. This ends when `end` is called.
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
				_ = unix.Kill(unix.Getpid(), unix.SIGSTOP) // SIGTSTP was caught, so stop with SIGSTOP
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
