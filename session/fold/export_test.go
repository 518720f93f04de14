package fold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// State returns the session's state in the life cycle.
func State(s *session.Session) string { return state(s) }

// Leads reports whether the life cycle has a transition.
func Leads(from string, k session.Kind, to string) bool {
	return slices.ContainsFunc(lifecycle, func(t transition) bool {
		ends := states(strings.ReplaceAll(t.to, unchanged, from))
		return slices.Contains(strings.Fields(t.kinds), string(k)) && slices.Contains(states(t.from), from) && slices.Contains(ends, to)
	})
}

// MayFollow calls the check that Extend makes before it folds an event.
func MayFollow(s *session.Session, k session.Kind) error { return mayFollow(s, k) }

// DrawLifecycle draws the life cycle as a Mermaid diagram, without transitions that keep the state.
func DrawLifecycle() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, name := range []string{"rest", "attempt", "begun", "over"} {
		fmt.Fprintf(&b, "    state %s {\n", name)
		for _, s := range groups[name] {
			fmt.Fprintf(&b, "        %s\n", s)
		}
		b.WriteString("    }\n")
	}
	var arrows []string
	labels := map[string][]string{}
	for _, t := range lifecycle {
		for _, from := range strings.Fields(t.from) {
			for _, to := range strings.Fields(t.to) {
				arrow := from + " --> " + to
				if to == unchanged || from == to {
					continue
				}
				if labels[arrow] == nil {
					arrows = append(arrows, arrow)
				}
				labels[arrow] = append(labels[arrow], strings.Fields(t.kinds)...)
			}
		}
	}
	for _, arrow := range arrows {
		fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(labels[arrow], ", "))
	}
	return b.String()
}

// NamedKinds returns the kinds of events in the life cycle.
func NamedKinds() (all []string) {
	for _, t := range lifecycle {
		all = append(all, strings.Fields(t.kinds)...)
	}
	return all
}
