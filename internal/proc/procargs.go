package proc

import (
	"bytes"
	"encoding/binary"
)

// argsEnviron returns the environment in macOS's answer to kern.procargs2: the number of arguments, the path of the
// program, zero bytes up to a multiple of the word size, the arguments, the environment. It is empty if the system
// hides it.
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
