//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package screen

import "os"

// Foreground reports whether this process may draw on a terminal.
func Foreground(*os.File) bool { return true }

// Mute does nothing here: what is typed is echoed.
func Mute(*os.File) (restore func()) { return func() {} }

// OnStop does nothing here: there is no Ctrl-Z.
func OnStop(_, _ func()) (end func()) { return func() {} }
