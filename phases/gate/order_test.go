package gate

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

// TestLinesOfBothStreamsStayInOrder has a program that begins a line on one stream and ends it on the other. With a
// pipe for each, a line of stderr sometimes got into the middle of a result.
func TestLinesOfBothStreamsStayInOrder(t *testing.T) {
	t.Parallel()
	for _, format := range []workflows.Format{workflows.FormatTAP, workflows.FormatExit} {
		j := &Runner{Root: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
		g := workflows.Gate{Name: "g", Format: format, Timeout: time.Minute, Run: workflows.Command{
			Shell: `i=0; while [ $i -lt 200 ]; do printf 'warning:' >&2; echo ' slow'; echo "ok $i - t$i" >&2; echo "# t$i"; i=$((i+1)); done; echo 1..200`}}
		run, err := j.Run(t.Context(), g, On{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"warning: slow", "ok 199 - t199", "# t199", "1..200"}
		if got := run.printed[max(0, len(run.printed)-len(want)):]; !slices.Equal(got, want) {
			t.Errorf("%s: the last lines are %q, want %q", format, got, want)
		}
		if n := len(run.Report.Tests); format == workflows.FormatTAP && n != 200 {
			t.Errorf("%d of 200 results were read", n)
		}
	}
}
