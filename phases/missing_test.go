package phases

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestRunnerThatIsMissing: a runner that is not installed is neither red nor green, whatever its launcher's exit code.
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
