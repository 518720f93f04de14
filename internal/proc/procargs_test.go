package proc

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestArgsEnviron(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		count int
		rest  string
		want  string
	}{
		"usual":              {2, "/bin/x|||||x|-v|A=1|B=2|", "A=1|B=2|"},
		"no padding":         {1, "/bin/x|x|A=1|", "A=1|"},
		"empty argument":     {3, "/bin/x||x||-v|A=1|", "A=1|"},
		"empty variable":     {1, "/bin/x||x|A=|B=2|", "A=|B=2|"},
		"no argument":        {0, "/bin/x||A=1|", "A=1|"},
		"hidden environment": {2, "/bin/x||x|-v|", ""},
		"cut in the path":    {1, "/bin/x", ""},
		"cut in arguments":   {9, "/bin/x||x|-v", ""},
		"negative count":     {-1, "/bin/x||A=1|", "A=1|"},
	} {
		b := binary.NativeEndian.AppendUint32(nil, uint32(int32(c.count)))
		b = append(b, strings.ReplaceAll(c.rest, "|", "\x00")...)
		if got := strings.ReplaceAll(string(argsEnviron(b)), "\x00", "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := argsEnviron([]byte{1, 0}); got != nil {
		t.Errorf("%q of an answer without a count", got)
	}
}
