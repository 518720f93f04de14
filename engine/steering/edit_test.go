package steering

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

func TestChecklist(t *testing.T) {
	green := []session.Checkpoint{{Green: true}}
	for _, c := range []struct {
		name  string
		s     session.Session
		open  string
		items string
		lap   int
		phase session.PhaseName
	}{
		{"an item is added", session.Session{Created: created("a b c"), Lap: 2, Phase: "GREEN"}, "a b x c", "a b x c", 2, "GREEN"},
		{"the present item goes, and its lap has begun", session.Session{Created: created("a b c"), Lap: 2, Phase: "GREEN"}, "c", "a b c", 2, "GREEN"},
		{"the present item goes, and its lap has not begun", session.Session{Created: created("a b c"), Lap: 2, Phase: "RED"}, "x c", "a x c", 2, "RED"},
		{"what is done is still open in the file", session.Session{Created: created("a b"), Lap: 2, Phase: "RED"}, "a b", "a b", 2, "RED"},
		{"the order changes", session.Session{Created: created("a b c d"), Lap: 2, Phase: "GREEN"}, "d c b", "a b d c", 2, "GREEN"},
		{"nothing is left, and the lap has not begun", session.Session{Created: created("a b"), Lap: 2, Phase: "RED", Checkpoints: green}, "", "a", 1, workflows.Done},
		{"nothing is left, and nothing was judged green", session.Session{Created: created("a b"), Lap: 2, Phase: "RED", Checkpoints: []session.Checkpoint{{}}}, "", "a b", 2, "RED"},
		{"there is more to do", session.Session{Created: created("a b"), Lap: 2, Phase: workflows.Done}, "a b c", "a b c", 3, "RED"},
		{"all is done still", session.Session{Created: created("a b"), Lap: 2, Phase: workflows.Done}, "b", "a b", 2, workflows.Done},
		{"an item twice", session.Session{Created: created("a a"), Lap: 2, Phase: "RED"}, "a a a", "a a a", 2, "RED"},
		{"no checklist, before and now", session.Session{Created: created(""), Lap: 3, Phase: "RED"}, "", "", 3, "RED"},
	} {
		items, lap, phase, _ := checklist(&c.s, strings.Fields(c.open), false)
		if strings.Join(items, " ") != c.items || lap != c.lap || phase != c.phase {
			t.Errorf("%s: %v, lap %d, %s", c.name, items, lap, phase)
		}
	}
	s := session.Session{Created: created(""), Lap: 2, Phase: "GREEN"}
	if items, _, _, _ := checklist(&s, []string{"x"}, true); len(items) != 3 || items[2] != "x" {
		t.Errorf("a first checklist in the second lap: %v", items)
	}
}

// A lap that has begun may end without its item if the new spec drops the item, and other items are open or done.
func TestChecklistLeaves(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     session.Session
		open  string
		items string
		lap   int
		phase session.PhaseName
		left  string
	}{
		{"another is open", session.Session{Created: created("a b c"), Lap: 2, Phase: "GREEN"}, "c", "a c", 2, "RED", "b"},
		{"the first of them", session.Session{Created: created("a b"), Lap: 1, Phase: "GREEN"}, "b", "b", 1, "RED", "a"},
		{"it is wanted still", session.Session{Created: created("a b c"), Lap: 2, Phase: "GREEN"}, "b", "a b", 2, "GREEN", ""},
		{"nothing else is left", session.Session{Created: created("a b"), Lap: 2, Phase: "GREEN",
			Checkpoints: []session.Checkpoint{{Green: true}}}, "", "a", 1, workflows.Done, "b"},
		{"nothing else is left, and it is not green", session.Session{Created: created("a b"), Lap: 2, Phase: "GREEN"}, "", "a b", 2, "GREEN", ""},
		{"nothing else is left or was done", session.Session{Created: created("a"), Lap: 1, Phase: "GREEN"}, "", "a", 1, "GREEN", ""},
		{"no checklist before", session.Session{Created: created(""), Lap: 1, Phase: "GREEN"}, "b",
			"lap 1, before the checklist existed|b", 1, "GREEN", ""},
	} {
		list, lap, phase, left := checklist(&c.s, strings.Fields(c.open), true)
		want := strings.Fields(c.items)
		if strings.Contains(c.items, "|") {
			want = strings.Split(c.items, "|")
		}
		if !slices.Equal(list, want) || lap != c.lap || phase != c.phase || left != c.left {
			t.Errorf("%s: %q, lap %d, %s, left %q", c.name, list, lap, phase, left)
		}
	}
}

func created(items string) session.Created {
	return session.Created{Laps: true, Start: "RED", Items: strings.Fields(items)}
}

// With any new checklist, completed items stay done, a lap that has begun keeps its item unless it may leave it, and
// every open item is done, in progress or still to come.
func TestChecklistKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		s := session.Session{Created: session.Created{Laps: true, Start: "RED", Items: rapid.SliceOfN(word, 1, 5).Draw(t, "items")}}
		s.Lap = rapid.IntRange(1, len(s.Items)).Draw(t, "lap")
		s.Phase = rapid.SampledFrom([]session.PhaseName{"RED", "GREEN"}).Draw(t, "phase")
		if s.Lap == len(s.Items) && rapid.Bool().Draw(t, "done") {
			s.Phase = workflows.Done
		}
		s.Checkpoints = []session.Checkpoint{{Green: rapid.Bool().Draw(t, "green")}}
		open := rapid.SliceOfN(word, 0, 6).Draw(t, "open")
		list, lap, phase, left := checklist(&s, open, rapid.Bool().Draw(t, "leave"))
		kept := items.LapsDone(&s)
		if begun(&s) && s.Phase != workflows.Done && left == "" {
			kept++
		}
		if left != "" && (slices.Contains(open, left) || !begun(&s) || phase != s.Start && phase != workflows.Done) {
			t.Fatalf("%v in lap %d (%s): left %q, with %v open", s.Items, s.Lap, s.Phase, left, open)
		}
		if len(list) < kept || !slices.Equal(list[:kept], s.Items[:kept]) {
			t.Fatalf("%v in lap %d (%s) became %v", s.Items, s.Lap, s.Phase, list)
		}
		if left := missing(open, list); len(left) > 0 {
			t.Fatalf("lost: %v of %v in %v", left, open, list)
		}
		after := session.Session{Created: s.Created, Lap: lap, Phase: phase}
		if after.Items = list; items.LapsDone(&after) != items.LapsDone(&s) {
			t.Fatalf("%d laps were done, and now %d are: lap %d, %s", items.LapsDone(&s), items.LapsDone(&after), lap, phase)
		}
	})
}
