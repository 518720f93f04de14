package phases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestLastLines gives lines in one piece, in pieces, and one by one.
func TestLastLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*maxKept)
	for _, text := range []string{"", "\n\n", "one\n\x1b[1m\x1b[0m\ntwo", strings.Repeat("a\n\n\n\n", 100) + "b\n", strings.Repeat("one\ntwo\n", 3) + strings.Repeat("\n \n", 200),
		long + "\nend\n" + long, strings.Repeat("line\n", 19) + strings.Repeat("\n", 90) + "last"} {
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if line = safetext.Line(line[:min(len(line), maxKept)], 300); line != "" {
				want = append(want, line)
			}
		}
		want = want[max(0, len(want)-printedLines):]
		for _, size := range []int{1, 7, 64, 1 << 20} {
			l := newLastLines()
			_, _ = l.Write([]byte("before\n"))
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				_, _ = l.Write(rest[:min(size, len(rest))])
			}
			got := l.lines()
			if len(want) < printedLines {
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
	l.add(strings.Repeat(" ", maxKept-5) + "open-sesame-for-all")
	if got := strings.Join(l.lines(), "|"); got != "[redacted: $API_TOKEN]|[red" && strings.Contains(got, "open") {
		t.Errorf("%q", got)
	}
}

func TestReportFilesCountOnlyWhenWrittenByThisRun(t *testing.T) {
	t.Parallel()
	const doc = `<testsuite><testcase classname="c" name="a"/></testsuite>`
	l := newLab(t, map[string]string{"out/old.xml": doc, "copy.xml": doc})
	g := shGate("true")
	g.Name, g.Format, g.Report = "tests", workflows.FormatJUnit, "out/*.xml"
	s := start{}
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassNoTests)

	g.Run.Shell = "cp copy.xml out/old.xml" // the same bytes again
	if err := os.Chtimes(filepath.Join(l.judge.Root, "out", "old.xml"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)
	g.Run.Shell = "mkdir -p out/ignored && cp copy.xml out/ignored/x.xml"
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassNoTests)
	g.Report = "out/**/*.xml"
	g.Run.Shell = "rm out/ignored/x.xml && cp copy.xml out/ignored/x.xml"
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)

	g.Report, g.Run.Shell = "", `cp copy.xml "$WFS_REPORT"; echo '<testsuite><testcase name="forged" classname="c"><failure/></testcase></testsuite>'`
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)
	g.Run.Shell = "cat copy.xml; exit 1" // all pass, and yet it fails
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassCommandFailed)
	g.Run.Shell = "head -c 50 copy.xml" // cut
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassCommandFailed)
}

// A runner that is not installed is neither red nor green, whatever its launcher's exit code.
func TestRunnerThatIsMissing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command string
		verdict session.Verdict
		class   session.Class
	}{
		{"echo '/usr/bin/python3: No module named pytest' >&2; exit 1", session.Blocked, session.ClassInfraError},
		{"no-such-runner-here || exit 1", session.Blocked, session.ClassInfraError},
		{"echo 'error Command \"jest\" not found.'; exit 1", session.Blocked, session.ClassInfraError},
		{"exit 127", session.Blocked, session.ClassInfraError},
		{"echo 'No module named calc'; exit 1", session.Fail, session.ClassBuildBroken},
		{`echo '<testsuite><testcase classname="c" name="a"><failure>No module named pytest</failure></testcase></testsuite>'; exit 1`, session.Fail, session.ClassTargetFailing},
	} {
		l := newLab(t, map[string]string{"a": "a"})
		check(t, l.judged(start{}, junitGate(tc.command), workflows.ExpectPass, nil, nil), tc.verdict, tc.class)
	}
}

// judgeAnything judges a report that may hold anything: there must be an answer.
func judgeAnything(r *report.Report) {
	files := &lapFiles{now: func(string) []byte { return nil }}
	l := &lap{gate: "g", start: session.Tests{"c::a": session.TestPass, "x.TestA": session.TestPass}, known: map[session.TestID]bool{}, now: r, files: files}
	if judgeRed(l).class == "" || judgeGreen(l).class == "" {
		panic("no class")
	}
}

// FuzzJudge judges what may be printed in any format: there must be an answer.
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
