package verdict

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// judgeAnything judges an arbitrary report: there must be an answer.
func judgeAnything(r *report.Report) {
	files := &Files{Now: func(string) []byte { return nil }}
	l := &Lap{Gate: "g", Start: session.Tests{"c::a": session.TestPass, "x.TestA": session.TestPass}, Known: map[session.TestID]bool{}, Now: r, Files: files}
	if judgeRed(l).Class == "" || judgeGreen(l).Class == "" {
		panic("no class")
	}
}

// FuzzJudge judges arbitrary output in any format: there must be an answer.
func FuzzJudge(f *testing.F) {
	files, _ := filepath.Glob("report/testdata/runners/*")
	for i := range workflows.Formats() {
		f.Add(uint8(i), "")
		for _, name := range files {
			if data, err := os.ReadFile(name); err == nil {
				f.Add(uint8(i), string(data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, in string) {
		all := workflows.Formats()
		r := report.NewReader(workflows.Gate{Format: all[int(format)%len(all)]}, report.Place{"/top"}, func(string) {})
		_, _ = r.Stdout.Write([]byte(in))
		judgeAnything(r.Report())
	})
}
