package items

import (
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// LapName returns "lap 2/5" with a checklist, "lap 2" without one, and "" outside of laps.
func LapName(s *session.Session, lap int) string {
	switch n := len(s.Items); {
	case !s.Laps, lap < 1, s.Then != "" && n > 0 && lap > n, n == 0 && After(s, lap):
		return ""
	case len(s.Items) > 0:
		return fmt.Sprintf("lap %d/%d", lap, len(s.Items))
	}
	return fmt.Sprintf("lap %d", lap)
}

// LapsDone returns how many laps have ended.
func LapsDone(s *session.Session) int {
	if s.Phase == workflows.Done && !After(s, s.Lap) {
		return s.Lap
	}
	return max(0, s.Lap-1)
}

// AfterLaps returns the phase and the lap that follow the last lap, if these are the items of the checklist: done, or
// the phase Then. Such phases have a lap of their own, which has no item.
func AfterLaps(s *session.Session, items []string) (session.PhaseName, int) {
	if s.Then == "" {
		return workflows.Done, s.Lap
	}
	return s.Then, max(len(items), s.Lap) + 1
}

// After reports whether a lap follows the last one, which means that it began with the phase Then.
func After(s *session.Session, lap int) bool {
	if s.Then == "" || lap == s.Lap && s.Phase == s.Then {
		return s.Then != ""
	}
	for c := range s.Back() {
		if c.Lap == lap && c.Phase == s.Then {
			return true
		}
	}
	return false
}
