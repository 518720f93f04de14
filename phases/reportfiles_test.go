package phases

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

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
	g.Run.Shell = "cat copy.xml; exit 1" // all tests pass, but the command fails
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassCommandFailed)
	g.Run.Shell = "head -c 50 copy.xml" // truncated
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassCommandFailed)
}
