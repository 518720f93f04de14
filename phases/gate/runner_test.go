package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
)

// TestLastLines writes lines in one piece, in pieces, and one by one.
func TestLastLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 6000)
	for _, text := range []string{"", "\n\n", "one\n\x1b[1m\x1b[0m\ntwo", strings.Repeat("a\n\n\n\n", 100) + "b\n", strings.Repeat("one\ntwo\n", 3) + strings.Repeat("\n \n", 200),
		long + "\nend\n" + long, strings.Repeat("line\n", 19) + strings.Repeat("\n", 90) + "last"} {
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if line = safetext.Line(line, 300); line != "" {
				want = append(want, line)
			}
		}
		want = want[max(0, len(want)-process.PrintedLines):]
		for _, size := range []int{1, 7, 64, 1 << 20} {
			l := newLastLines()
			_, _ = l.Write([]byte("before\n"))
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				_, _ = l.Write(rest[:min(size, len(rest))])
			}
			got := l.lines()
			if len(want) < process.PrintedLines {
				got = got[1:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%.40q by %d: %q, want %q", text, size, got, want)
			}
		}
	}
	l := newLastLines()
	l.secrets = redact.New([]string{"API_TOKEN=open-sesame-for-all"})
	l.add("open-sesame-for-all")
	l.add(strings.Repeat(" ", 1995) + "open-sesame-for-all")
	if got := strings.Join(l.lines(), "|"); got != "[redacted: $API_TOKEN]|[red" && strings.Contains(got, "open") {
		t.Errorf("%q", got)
	}
}
