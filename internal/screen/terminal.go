package screen

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Foreground reports whether this process may draw on a terminal: a shell has not put it into the background.
func Foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Mute keeps a terminal from echoing what is typed, which would tear the block apart. What is typed is kept for whoever
// reads it next; Ctrl-C and the like work on. restore may be called more than once.
func Mute(f *os.File) (restore func()) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || !Foreground(f) { // who is in the background is stopped for asking
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

// OnStop calls leave before Ctrl-Z stops this process, and back when it goes on after any stop, until end is called.
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
				_ = unix.Kill(unix.Getpid(), unix.SIGSTOP) // which nobody can catch; other threads may stop a moment later
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
