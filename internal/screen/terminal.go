package screen

import (
	"os"
	"os/signal"
	"sync"

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
	return changed(f, func(t *unix.Termios) { t.Lflag &^= unix.ECHO })
}

// changed changes the settings of a terminal until `restore` is called.
func changed(f *os.File, change func(*unix.Termios)) (restore func()) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || !Foreground(f) { // the system would stop a background process that changes the terminal
		return func() {}
	}
	now := *old
	change(&now)
	if unix.IoctlSetTermios(fd, setTermios, &now) != nil {
		return func() {}
	}
	return func() {
		if Foreground(f) {
			_ = unix.IoctlSetTermios(fd, setTermios, old)
		}
	}
}

// Mode is a setting of a terminal, such as Mute, that is turned on and off.
type Mode struct {
	File *os.File // nil: no terminal; then nothing is done
	Set  func(*os.File) (restore func())

	mu      sync.Mutex
	restore func()
}

// On turns the setting on.
func (m *Mode) On() {
	m.Off() // else Off would later restore the setting itself
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.File != nil {
		m.restore = m.Set(m.File)
	}
}

// Off restores what was before.
func (m *Mode) Off() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.restore != nil {
		m.restore()
		m.restore = nil
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
