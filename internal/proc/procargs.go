package proc

import (
	"bytes"
	"encoding/binary"
)

// argsEnviron returns the environment in the data of macOS's kern.procargs2, or nothing if the system hides it. The
// data consists of the number of arguments, the path of the program, zero bytes up to a multiple of the word size, the
// arguments, and the environment.
func argsEnviron(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	count := int32(binary.NativeEndian.Uint32(b))
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	return rest
}
