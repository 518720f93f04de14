package phases

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// tried is the digest of a visit for the last try before the breaker opens: what every attempt came to, those that came to
// the same in one line, and which of them got furthest.
func (b *brief) tried() {
	if !b.req.Started.HalfOpen {
		return
	}
	here := b.visited()
	if len(here) == 0 {
		return
	}
	b.section("What was tried in this phase", "")
	b.open("the outcome of each attempt, as the checks saw it")
	for i := 0; i < len(here); {
		n := i + 1
		for n < len(here) && said(here[n]) == said(here[i]) {
			n++
		}
		attempts := fmt.Sprintf("attempt %d", here[i].Attempt)
		if n > i+1 {
			attempts = fmt.Sprintf("attempts %d to %d", here[i].Attempt, here[n-1].Attempt)
		}
		b.line("- %s: %s", attempts, b.inner(said(here[i])))
		i = n
	}
	if v := b.s.Visit; len(v.Failing) > 0 {
		b.labelled("failed at least once", v.Failing)
	}
	b.close()
	for _, c := range here {
		// The first one counts as the best until another one gets further: it is worth a word when the newest fell behind it.
		if c.Number == b.s.Visit.BestAt && len(here) > 1 && (c.Attempt > 1 || b.s.Furthest() != nil) {
			b.line("\nAttempt %d got furthest: commit %s of the present branch.", c.Attempt, c.Code.Short())
		}
	}
}

func said(c session.Checkpoint) string {
	text, _, _ := strings.Cut(c.Summary, " (") // without which attempt it was
	return fmt.Sprintf("%s (%s): %s", c.Verdict, c.Class, safetext.Line(text, maxShown))
}

// visited are the checkpoints of the attempts at the present visit.
func (b *brief) visited() []session.Checkpoint {
	var here []session.Checkpoint
	for _, c := range b.s.Way() {
		if c.Attempt > 0 && c.Verdict != "" && c.Phase == b.req.Started.Phase && c.Lap == b.req.Started.Lap {
			if c.Attempt == 1 {
				here = nil // an earlier visit
			}
			here = append(here, c)
		}
	}
	return here[max(0, len(here)-maxListed):]
}
