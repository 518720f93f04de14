package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/session"
)

// maxAhead is how far the time of an event may be ahead of this machine's clock: clocks of two machines differ.
const maxAhead = 24 * time.Hour

const minutes = "2006-01-02 15:04 UTC"

// sessionChecks has the checks of sessions.
type sessionChecks struct{ fileChecks }

// sessions checks every session: its history from the first event to the last, its journal and its branch.
func (r sessionChecks) sessions() error {
	for _, id := range slices.Sorted(maps.Keys(r.tips)) {
		r.progress("checking session " + string(id))
		if err := r.session(id, r.tips[id]); err != nil {
			return err
		}
	}
	return nil
}

// Session checks one session: its history, its journal and its branch.
func (d *Doctor) Session(ctx context.Context, id session.ID) ([]Finding, error) {
	r := &Report{Doctor: d, ctx: ctx, since: d.Now(), tips: map[session.ID]session.Commit{}}
	tip, err := d.Repo.Ref(ctx, session.LedgerOf(id))
	if err == nil {
		r.refs, err = d.Repo.RefsBelow(ctx, session.BranchOf(id))
	}
	if err == nil {
		err = sessionChecks{fileChecks{r}}.session(id, tip)
	}
	var found []Finding
	for _, f := range r.Findings {
		found = append(found, *f)
	}
	return found, err
}

func (r sessionChecks) session(id session.ID, tip session.Commit) error {
	audit, err := r.Engine.Audit(r.ctx, id, tip)
	if err != nil {
		return err
	}
	r.Sessions, r.Turns = r.Sessions+1, r.Turns+audit.Turns
	ledger := session.LedgerOf(id)
	say := func(level, where, what, follows, next string) {
		r.add(level, "ledger", id, ledger+where, what, follows, next)
	}
	fetch := fmt.Sprintf("git fsck, and git fetch REMOTE '+%s:%s' if another clone has it", ledger, ledger)
	switch {
	case errors.Is(audit.Chain, session.ErrNewer), errors.Is(audit.Cache, session.ErrNewer):
		say(Blocks, "", "a newer wfs wrote it", "nothing is written to the session", "install a newer wfs")
		return nil
	case audit.Chain != nil && audit.Cache != nil:
		say(Blocks, "", "cannot be read: "+audit.Chain.Error(),
			"the session cannot be used; its checkpoints may be intact", fetch)
		return nil
	case audit.Chain != nil:
		say(Warns, "", "its history cannot be read: "+audit.Chain.Error(),
			"the session continues from session.json, with an incomplete history", fetch)
	case audit.Cache != nil:
		say(Tells, ":"+session.FileSession, audit.Cache.Error(),
			"the session is rebuilt from its events; the next checkpoint repairs it", "")
	}
	if audit.Plan != nil {
		say(Blocks, ":"+session.FilePlan, audit.Plan.Error(), "the session cannot run",
			"wfs export "+string(id)+", and start another: wfs new GOAL --from "+session.BranchOf(id))
	}
	if what := writtenBy(audit, r.Engine.Version); what != "" {
		say(Tells, "", what, "nothing: it opens as before", "")
	}
	if err := r.journal(id, tip, audit.Latest); err != nil {
		return err
	}
	return r.branch(id, tip)
}

// writtenBy says which older wfs wrote a session last, and in which older format, "" if neither is older than this one.
func writtenBy(a history.Audit, version string) string {
	var said []string
	if older(a.By, version) {
		said = append(said, fmt.Sprintf("was last run by wfs %s (this is %s)", a.By, version))
	}
	if a.Format > 0 && a.Format < session.SessionVersion {
		said = append(said, fmt.Sprintf("was last written in format %d (now %d)", a.Format, session.SessionVersion))
	}
	return strings.Join(said, ", and ")
}

// older reports whether version a, such as v0.1.0-rc.1, comes before b. It knows no order of builds without a number.
func older(a, b string) bool {
	x, y := release(a), release(b)
	if n := slices.Compare(x, y); n != 0 || x == nil {
		return n < 0 && x != nil
	}
	_, x1, early := strings.Cut(a, "-")
	_, y1, also := strings.Cut(b, "-")
	return early && (!also || x1 < y1)
}

// release returns the three numbers of a version, nil for none.
func release(version string) []int {
	n := make([]int, 3)
	if found, _ := fmt.Sscanf(version, "v%d.%d.%d", &n[0], &n[1], &n[2]); found < 3 {
		return nil
	}
	return n
}

// clock reports the latest of these events if its time is in the future.
func (r sessionChecks) clock(id session.ID, events []session.Event) {
	latest := slices.MaxFunc(events, func(a, b session.Event) int { return a.At.Compare(b.At) })
	if latest.At.Sub(r.since) <= maxAhead {
		return
	}
	name := fmt.Sprintf("event %d (%s)", latest.Seq, latest.Kind())
	if c, ok := latest.Body.(session.Checkpointed); ok {
		name = fmt.Sprintf("checkpoint %d", c.Number)
	}
	r.add(Tells, "session", id, session.LedgerOf(id),
		fmt.Sprintf("%s has the time %s, in the future: the clock was wrong then, or is wrong now (%s)", name,
			latest.At.UTC().Format(minutes), r.since.UTC().Format(minutes)),
		"nothing is lost and the order is right: only ages and daily limits use times", "")
}

// journal checks that the events in a session's journal can follow the events in its ledger, of which `latest` has the
// latest time.
func (r sessionChecks) journal(id session.ID, tip session.Commit, latest session.Event) error {
	events, _, err := r.Files.Session(id).Peek(tip)
	r.clock(id, append(events, latest))
	if err != nil {
		return nil //nolint:nilerr // reported among the files
	}
	s, err := r.Engine.AtTip(r.ctx, id, tip)
	if err != nil {
		return nil //nolint:nilerr // reported about the ledger
	}
	if n, why := history.Fitting(s, events); why != nil {
		flaw, err := r.Files.Session(id).JournalFlaw(tip,
			fmt.Errorf("event %d of %d does not fit the session: %w", n+1, len(events), why))
		if err != nil {
			return err
		}
		r.flaw(flaw)
	}
	return nil
}

// branch checks where a session's branch points. If it was deleted, renamed or rewritten, a person did that on purpose,
// so it is not restored automatically.
func (r sessionChecks) branch(id session.ID, tip session.Commit) error {
	name := session.BranchOf(id)
	v, err := r.Engine.Load(r.ctx, id, tip)
	if err != nil {
		return nil //nolint:nilerr // reported about the journal
	}
	s := &v.Session
	c := s.At(s.Current)
	if c == nil || s.Status.Final() || slices.ContainsFunc(r.Findings, func(f *Finding) bool { return f.Where == name }) {
		return nil // the session needs no branch, or the branch's ref was reported already
	}
	at := r.refs[name]
	if at == "" {
		r.add(Blocks, "branch", id, name, "is missing; its checkpoints exist", "the session cannot run",
			checkpoint.BranchGone(s).Hint)
		return nil
	}
	// an error was reported by another check
	if below, err := r.Repo.IsAncestor(r.ctx, c.Code, at); err == nil && !below {
		r.add(Warns, "branch", id, name,
			fmt.Sprintf("was moved to %s, which is not built on checkpoint %d", at.Short(), c.Number),
			"the next checkpoint joins both", fmt.Sprintf("nothing, or wfs resume %s@%d", id, c.Number))
	}
	return nil
}
