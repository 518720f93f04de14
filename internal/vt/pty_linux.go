package vt

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Open creates a pseudo terminal and returns both ends: `master` is for the test, `terminal` for the program.
func Open(columns, rows int) (master, terminal *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	return master, terminal, Resize(master, columns, rows)
}

// Resize sets the size of a pseudo terminal.
func Resize(master *os.File, columns, rows int) error {
	return unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
}

// Echoes reports whether a pseudo terminal displays the characters that are typed.
func Echoes(master *os.File) (bool, error) {
	t, err := unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS)
	return err == nil && t.Lflag&unix.ECHO != 0, err
}
