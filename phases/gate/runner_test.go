package gate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
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

// TestNodeDies runs a gate whose Node dies of a rejected promise, as long as it does not only warn of it.
func TestNodeDies(t *testing.T) {
	t.Parallel()
	const script = `case $NODE_OPTIONS in
"--a --unhandled-rejections=warn") echo "not ok 1 - new"; echo 1..1;;
*) echo "RangeError: x"; echo "Node.js v20.1.0";;
esac
exit 1`
	for expect, want := range map[workflows.Expect]session.TestStatus{workflows.ExpectRed: "fail", "": ""} {
		j := &Runner{Root: t.TempDir(), Env: []string{"NODE_OPTIONS=--a", "PATH=/bin:/usr/bin"}}
		run, err := j.Run(context.Background(), workflows.Gate{Name: "tests", Run: workflows.Command{Shell: script},
			Format: workflows.FormatTAP, Expect: expect}, On{Dir: t.TempDir()})
		if err != nil || run.Report.Tests["new"] != want {
			t.Errorf("expects %s: %v, %v", expect, run.Report.Tests, err)
		}
	}
}
