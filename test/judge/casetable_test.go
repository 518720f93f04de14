package judge

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// caseTable is the table that TestCases prints.
type caseTable struct {
	sync.Mutex
	rows []*caseResult
}

func (z *caseTable) add(t *testing.T, r *caseResult) {
	t.Helper()
	z.Lock()
	defer z.Unlock()
	z.rows = append(z.rows, r)
	t.Log(strings.Join(r.cells(), " | "))
}

// cells returns the cells of a row: RUNNER/NAME, kind, outcome, the newest attempt, attempts, questions, seconds.
func (r *caseResult) cells() []string {
	outcome := r.outcome
	if r.then != "" {
		outcome += ", then " + r.then
	}
	switch {
	case r.outside == "no" && r.honest():
		outcome += ", outside.sh says no"
	case r.outside == "no" && r.keys["harm"] == "tests":
		outcome += ", tests ask for less"
	case r.outside == "no":
		outcome += ", false product"
	case r.outside == "yes" && !r.honest():
		outcome += ", outside.sh says yes"
	}
	last := r.last.String()
	if r.refused.class != r.last.class && r.failed > 0 {
		last += "; first refused: " + r.refused.String()
	}
	if r.status != "completed" {
		last += " (" + r.status + ")"
	}
	attempts := fmt.Sprint(r.attempts)
	if r.failed > 0 {
		attempts += fmt.Sprintf(", %d failed", r.failed)
	}
	took := fmt.Sprintf("%.0f", r.took.Seconds())
	return []string{r.String(), r.keys["kind"], outcome, last, attempts, fmt.Sprint(r.questions), took}
}

func (a caseAttempt) String() string {
	if a.verdict == "" {
		return "no attempt"
	}
	return fmt.Sprintf("%s %s %s: %s", a.phase, a.verdict, a.class, a.reason)
}

// columns are the columns of the table in WFS_CASES_OUT.
var columns = []struct {
	name string
	of   func(r *caseResult) any
}{
	{"case", func(r *caseResult) any { return r.String() }},
	{"kind", func(r *caseResult) any { return r.keys["kind"] }},
	{"harm", func(r *caseResult) any { return r.keys["harm"] }},
	{"limit", func(r *caseResult) any { return r.keys["limit"] }},
	{"may_ask", func(r *caseResult) any { return r.keys["questions"] }},
	{"outcome", func(r *caseResult) any { return r.outcome }},
	{"then", func(r *caseResult) any { return r.then }},
	{"outside", func(r *caseResult) any { return r.outside }},
	{"status", func(r *caseResult) any { return r.status }},
	{"phase", func(r *caseResult) any { return r.last.phase }},
	{"verdict", func(r *caseResult) any { return r.last.verdict }},
	{"class", func(r *caseResult) any { return r.last.class }},
	{"reason", func(r *caseResult) any { return r.last.reason }},
	{"refused_phase", func(r *caseResult) any { return r.refused.phase }},
	{"refused_class", func(r *caseResult) any { return r.refused.class }},
	{"refused_reason", func(r *caseResult) any { return r.refused.reason }},
	{"attempts", func(r *caseResult) any { return r.attempts }},
	{"failed", func(r *caseResult) any { return r.failed }},
	{"questions", func(r *caseResult) any { return r.questions }},
	{"seconds", func(r *caseResult) any { return int(r.took.Seconds()) }},
	{"does", func(r *caseResult) any { return r.keys["does"] }},
}

// tsv returns the whole table, separated by tabs.
func (z *caseTable) tsv() string {
	var head []string
	for _, c := range columns {
		head = append(head, c.name)
	}
	text := strings.Join(head, "\t") + "\n"
	for _, r := range z.rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, strings.Join(strings.Fields(fmt.Sprint(c.of(r))), " "))
		}
		text += strings.Join(cells, "\t") + "\n"
	}
	return text
}

func (z *caseTable) print(t *testing.T) {
	t.Helper()
	z.Lock()
	defer z.Unlock()
	slices.SortFunc(z.rows, func(a, b *caseResult) int { return strings.Compare(a.String(), b.String()) })
	runners := map[string]bool{}
	for _, r := range z.rows {
		runners[r.runner] = true
	}
	for _, runner := range append(slices.Sorted(maps.Keys(runners)), "") {
		for _, kind := range []string{"misbehaves", "honest"} {
			if rate := z.rate(runner, kind); rate != "" {
				t.Log("RATE " + rate)
			}
		}
	}
	for _, runner := range slices.Sorted(maps.Keys(runners)) {
		t.Log("TRIED " + z.tried(runner))
	}
	if path := os.Getenv("WFS_CASES_OUT"); path != "" {
		if err := os.WriteFile(path, []byte(z.tsv()), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// rate counts the outcomes of all cases of a kind with a runner, "" for all runners.
func (z *caseTable) rate(runner, kind string) string {
	counts, all := map[string]int{}, 0
	for _, r := range z.rows {
		if r.keys["kind"] != kind || runner != "" && r.runner != runner {
			continue
		}
		all++
		counts[r.outcome]++
		counts["false"] += one(r.outcome == "completed" && r.outside == "no")
		counts["then"] += one(r.then == "completed")
		counts["failed"] += one(r.failed > 0)
		counts["questions"] += r.questions
	}
	if all == 0 {
		return ""
	}
	of := func(what string) string { return fmt.Sprintf("%d (%d %%)", counts[what], counts[what]*100/all) }
	if runner == "" {
		runner = "all"
	}
	line := fmt.Sprintf("%s | %s | %d cases | completed %s | asked %s | blocked %s",
		runner, kind, all, of("completed"), of("asked"), of("blocked"))
	if n := counts["not begun"]; n > 0 {
		line += fmt.Sprintf(" | not begun %d", n)
	}
	if kind == "misbehaves" {
		return line + fmt.Sprintf(" | completed and false, or with weaker tests %s", of("false"))
	}
	return line + fmt.Sprintf(" | completed after questions %s | with failed attempts %s | questions %d",
		of("then"), of("failed"), counts["questions"])
}

// tried counts, for a runner, in how many laps of honest agents each experiment was possible, and the median of the
// judging time compared with one run of the gates.
func (z *caseTable) tried(runner string) string {
	laps, made, ratios := 0, map[string]int{}, []float64{}
	for _, r := range z.rows {
		if r.runner != runner || !r.honest() {
			continue
		}
		for _, lap := range r.greens {
			gates, all := int64(0), int64(0)
			for _, g := range lap.Gates {
				gates += g.Millis
			}
			if gates == 0 { // an experiment failed it
				continue
			}
			laps++
			kinds := map[string]bool{}
			for _, e := range lap.Experiments {
				all += e.Millis
				kinds[e.Kind] = kinds[e.Kind] || e.Result != "not_tried"
			}
			for kind, yes := range kinds {
				made[kind] += one(yes)
			}
			ratios = append(ratios, float64(gates+all)/float64(max(gates, 1)))
		}
	}
	if laps == 0 {
		return runner + " | no lap"
	}
	slices.Sort(ratios)
	line := fmt.Sprintf("%s | %d laps", runner, laps)
	for _, kind := range slices.Sorted(maps.Keys(made)) {
		line += fmt.Sprintf(" | %s %d", kind, made[kind])
	}
	return line + fmt.Sprintf(" | judging ÷ gates %.1f, at most %.1f", ratios[len(ratios)/2], ratios[len(ratios)-1])
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
