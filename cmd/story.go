package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// storyJSON is `wfs --json`: a session, and what happened to it.
type storyJSON struct {
	sessionJSON
	CreatedAt time.Time            `json:"created_at"`
	LastRun   *lastRunJSON         `json:"last_run,omitempty"`
	Spent     spentJSON            `json:"spent"`
	Tests     *testsJSON           `json:"tests,omitempty"`
	Claimed   []session.Refuted    `json:"refuted_claims,omitempty"`
	Newest    []session.Checkpoint `json:"newest"` // checkpoints, the newest last
	Gates     []session.GateResult `json:"gates,omitempty"`
	Failed    *failure             `json:"failed,omitempty"` // the newest run ended with this error
}

// lastRunJSON is what the newest run did.
type lastRunJSON struct {
	At          time.Time  `json:"at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Laps        int        `json:"laps"`
	Attempts    int        `json:"attempts"`
	Refuted     int        `json:"refuted"`
	Checkpoints int        `json:"checkpoints"`

	Used session.Usage `json:"used,omitzero"`
}

// spentJSON is where the time went, in seconds.
type spentJSON struct {
	Runs   float64 `json:"runs"`
	Gates  float64 `json:"gates"`
	Waited int64   `json:"waited"`
}

// testsJSON compares the base with the newest judgement.
type testsJSON struct {
	Before session.Counts  `json:"before"`
	Now    *session.Counts `json:"now,omitempty"`
}

// shownCheckpoints is how many of the newest ones the story shows, shownClaims how many refuted claims.
const (
	shownCheckpoints = 5
	shownClaims      = 3
)

// story is `wfs` alone: what happened, where it stands, why it stopped, what to type. Without a repository or a
// session it is a short help.
func (a *app) story(ctx context.Context) error {
	err := a.Open(ctx)
	if errors.Is(err, gitstate.ErrNotRepository) && !a.json {
		a.out("this directory is not in a git repository")
		a.next([]string{"git init && wfs init", "wfs help"})
		return nil
	}
	if err != nil {
		return err
	}
	id, err := a.Current(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		if err := a.lostLedger(ctx); err != nil {
			return err
		}
		return a.noCurrent(ctx)
	}
	return a.tell(ctx, id, a.Here())
}

// tellOf tells the story of a session that may be checked out elsewhere.
func (a *app) tellOf(ctx context.Context, id session.ID) error {
	in, err := a.PlaceOf(ctx, id)
	if err != nil {
		return err
	}
	return a.tell(ctx, id, in)
}

// tell is a session's story: what `wfs`, `wfs status` and `wfs show` print. in is the work tree that has the session
// checked out, nil for none.
func (a *app) tell(ctx context.Context, id session.ID, in *gitstate.Worktree) error {
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	s := &v.Session
	j := a.storyOf(s, in)
	a.addAutoSave(ctx, &j.sessionJSON, s, v.Tip, in)
	j.SpecEdited = a.SpecEdited(ctx, s)
	a.addEdits(ctx, &j.sessionJSON, &v, in)
	if a.json {
		what, completes := a.HalfMoved(ctx)
		j.HalfMoved, j.Next = what, a.nextOr(completes, j.Next)
		return a.answer(j)
	}
	j.Next = a.sayHalfMoved(ctx, j.Next)
	a.sayStory(ctx, &v, j)
	return nil
}

// storyOf collects what there is to tell.
func (a *app) storyOf(s *session.Session, in *gitstate.Worktree) storyJSON {
	now := a.env.Now()
	j := storyJSON{sessionJSON: a.describe(s, in), CreatedAt: unix(s.CreatedAt).UTC(), Tests: testsOf(s),
		Claimed: s.StillRefuted(), Gates: s.LastGates, Newest: s.Checkpoints[:min(s.Current+1, len(s.Checkpoints))]}
	if s.Last != nil && s.Last.NothingLeft {
		j.Gates = engine.AsHanded(j.Gates)
	}
	j.Newest = j.Newest[max(0, len(j.Newest)-shownCheckpoints):]
	j.Spent = spentJSON{float64(s.Spent.RunMillis) / 1000, float64(s.Spent.GateMillis) / 1000, s.Spent.Waited}
	if w := s.Waiting; w != nil && s.Status == session.StatusWaiting && s.Spent.Since > 0 && j.Driver != nil {
		j.Spent.Waited += max(0, min(now.Unix(), w.Until)-s.Spent.Since)
	}
	if d := s.Drive; d != nil {
		r := lastRunJSON{At: unix(d.At).UTC(), Laps: s.LapsDone() - d.Laps, Attempts: s.Tries - d.Tries,
			Refuted: max(0, len(s.StillRefuted())-d.Refuted), Checkpoints: len(s.Checkpoints) - d.Checkpoints, Used: s.Used.Minus(d.Used)}
		if d.Ended > 0 && j.Driver == nil {
			at := unix(d.Ended).UTC()
			r.EndedAt = &at
		}
		j.LastRun = &r
	}
	if end, found := a.Clone.Ended(s.ID, ""); found && j.Driver == nil && stillSo(&end, s) {
		j.Failed = &failure{Version: jsonVersion, Error: end.Error, Hint: end.Hint, Exit: end.Exit}
	}
	return j
}

// stillSo reports whether a run that ended with an error is the last that is to be told of a session: it was no mistyped
// command, and nothing happened since.
func stillSo(end *registry.Ended, s *session.Session) bool {
	if end.Error == "" || end.Exit == exitUsage || s.Status.Final() {
		return false
	}
	if end.Seq > 0 {
		return end.Seq == s.Seq
	}
	return end.At >= s.UpdatedAt
}

// testsOf counts the tests of gates that tell tests apart, nil when there are none.
func testsOf(s *session.Session) *testsJSON {
	if s.Base0 == nil {
		return nil
	}
	var t testsJSON
	before := s.Base0.Gates
	if now := session.CountsOf(s.LastGates); now.Total() > 0 {
		t.Now = &now
		before = slices.DeleteFunc(slices.Clone(before), func(g session.GateResult) bool { // the newest judgement did not ask it
			return slices.ContainsFunc(s.NotRun, func(n session.NotRun) bool { return n.Gate == g.Gate })
		})
	}
	t.Before = session.CountsOf(before)
	if t.Before.Total() == 0 && t.Now == nil {
		return nil
	}
	return &t
}

// sayStory prints a session's story, for somebody who was away.
func (a *app) sayStory(ctx context.Context, v *engine.View, j storyJSON) {
	s := &v.Session
	a.short("%s  %s", s.ID, s.Headline())
	a.out("")
	told := a.sayStanding(ctx, s, "", j.Current)
	if item := s.Item(); item != "" && s.Phase != workflows.Done {
		a.short("item: %s", item)
	}
	if s.Agent != "" && !told {
		a.short("agent: %s", s.Agent)
	}
	if s.Status != session.StatusCompleted || !told {
		a.sayItems(j.sessionJSON)
	}
	if j.Failed != nil {
		a.out("  the newest run ended with an error: %s", j.Failed.Error)
		if j.Failed.Hint != "" {
			a.out("  hint: %s", j.Failed.Hint)
		}
	}
	a.sayIncomplete(s)
	saySpecEdited(a.out, j.SpecEdited)
	a.sayEdits(j.Edits)
	a.sayDriver(j.sessionJSON)
	a.sayPlace(j.sessionJSON)
	a.sayAutoSave(&j.sessionJSON)
	a.out("")
	cost := a.costOf(ctx, v)
	if told { // with what came of the agent's claims
		cost, j.Claims = "", 0
	}
	a.tellNumbers(s, j, cost)
	if len(j.Newest) > 0 {
		a.out("")
	}
	for _, c := range j.Newest {
		a.line(append(styled{{"  ", plain}}, checkpointLine(s, c)...))
	}
	if n := len(s.Checkpoints) - s.Current - 1; n > 0 {
		a.out("  … and %d later %s, which this one does not build on: %s", n, plural(n, "checkpoint", "checkpoints"), a.typedFor("wfs log", s.ID, ""))
	}
	if at := s.Judged(); at != nil && len(j.Gates) > 0 && at.Tree != s.At(s.Current).Tree {
		a.out("  checkpoint %d is not judged yet; checkpoint %d was:", s.Current, at.Number)
	}
	for _, g := range j.Gates {
		a.out("  gate %s", gateLine(g))
		if g.FirstError != "" {
			a.out("    %s", g.FirstError)
		}
		if text := gateSays(g).String(); g.Verdict != session.Pass && !strings.Contains(text, g.Reason) {
			a.out("    %s", g.Reason)
		}
		for _, t := range g.Failing[:min(len(g.Failing), 10)] {
			a.out("    failing: %s", t)
		}
	}
	a.sayNotRun(s.NotRun)
	a.sayForced(s.SkippedPhases)
	a.sayUnseen(ctx, s)
	a.out("")
	if j.Current {
		a.sayOn(s, j.Next)
	} else {
		a.next(j.Next)
	}
}

// tellNumbers tells what was done, and what it cost.
func (a *app) tellNumbers(s *session.Session, j storyJSON, cost string) {
	now := a.env.Now()
	laps := fmt.Sprintf("%d %s done", j.LapsDone, plural(j.LapsDone, "lap", "laps"))
	if j.Items > 0 {
		laps = fmt.Sprintf("%d of %d items done", j.ItemsDone, j.Items)
	}
	if r := j.LastRun; r != nil {
		a.out("last run: %s", strings.Join(append([]string{runTime(r, j.Driver != nil, now)}, runDid(r, s.Laps)...), ", "))
	}
	if n, why := a.uncounted(s); n > 0 {
		a.out("%d %s did not count; the newest: %s: %s", n, plural(n, "run", "runs"), safetext.Line(why, 200), a.typedFor("wfs log --events", s.ID, ""))
	}
	did := []string{fmt.Sprintf("%d %s judged", j.Attempts, plural(j.Attempts, "attempt", "attempts")),
		fmt.Sprintf("%d %s", len(s.Checkpoints), plural(len(s.Checkpoints), "checkpoint", "checkpoints"))}
	if s.Laps || j.Items > 0 {
		did = append([]string{laps}, did...)
	}
	a.out("in all: %s; started %s, updated %s", strings.Join(did, ", "), ago(j.CreatedAt, now), ago(j.UpdatedAt, now))
	if t := j.Tests; t != nil {
		line := fmt.Sprintf("tests: %d passed before", t.Before.Passed)
		if n := t.Before.Failed + t.Before.Errors; n > 0 {
			line += fmt.Sprintf(" and %d failed", n)
		}
		if t.Now != nil {
			line += fmt.Sprintf(", %d %s now", t.Now.Passed, plural(t.Now.Passed, "passes", "pass"))
			if n := t.Now.Failed + t.Now.Errors; n > 0 {
				line += fmt.Sprintf(" and %d %s", n, plural(n, "fails", "fail"))
			}
			if len(s.Expected) > 0 {
				line += ", while new tests wait for what does not exist yet"
			}
		}
		a.out("%s", line)
	}
	var spent []string
	add := func(what string, d time.Duration) {
		if d >= time.Second {
			spent = append(spent, what+" "+lasting(d))
		}
	}
	add("agents and commands", time.Duration(j.Spent.Runs*float64(time.Second)))
	add("gates", time.Duration(j.Spent.Gates*float64(time.Second)))
	add("waiting for limits", time.Duration(j.Spent.Waited)*time.Second)
	if len(spent) > 0 {
		a.out("time: %s", strings.Join(spent, ", "))
	}
	if cost != "" {
		if s.Used.Estimated == 0 {
			cost += ", as the agent reports it"
		}
		a.out("cost: %s", cost)
	}
	if j.Claims > 0 {
		a.out("%s", claimsText(j.Claims, j.Refuted))
	}
	if n := len(j.Claimed); n > shownClaims {
		a.out("  the newest %d of %d claims that were not true:", shownClaims, n)
	}
	for _, r := range j.Claimed[max(0, len(j.Claimed)-shownClaims):] {
		a.out("  said done at @%d (%s), but: %s", r.Checkpoint, r.Phase, r.Reason)
	}
	a.sayFlaky(j.Flaky)
}

// uncounted is how many runs of the newest drive failed without a checkpoint, and why the newest did.
func (a *app) uncounted(s *session.Session) (n int, why string) {
	if s.Runs == s.Tries { // reading all events takes longer than the rest
		return 0, ""
	}
	events, err := a.history(context.Background(), s.ID)
	if err != nil {
		return 0, ""
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.Driving:
			n = 0
		case session.Voided:
			n, why = n+1, b.Why
		case session.RunEnded:
			switch b.Outcome {
			case session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded:
				n, why = n+1, ranAs(b.RunResult)
			}
		}
	}
	return n, why
}

// runTime says when a run was, and how long.
func runTime(r *lastRunJSON, goesOn bool, now time.Time) string {
	switch {
	case goesOn:
		return "for " + lasting(now.Sub(r.At)) + " so far"
	case r.EndedAt == nil: // it was killed
		return "begun " + ago(r.At, now)
	}
	return lasting(r.EndedAt.Sub(r.At)) + " long, ended " + ago(*r.EndedAt, now)
}

// runDid says what came of a run.
func runDid(r *lastRunJSON, laps bool) []string {
	did := []string{fmt.Sprintf("%d %s judged", r.Attempts, plural(r.Attempts, "attempt", "attempts"))}
	if laps && r.Laps > 0 {
		did = append(did, fmt.Sprintf("%d %s done", r.Laps, plural(r.Laps, "lap", "laps")))
	}
	if text := costText(r.Used); text != "" {
		did = append(did, text)
	}
	if r.Refuted > 0 {
		did = append(did, fmt.Sprintf("%d %s not true", r.Refuted, plural(r.Refuted, "claim", "claims")))
	}
	return did
}

// lasting says how long something took, to the minute where it took long.
func lasting(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	h, m := int(d.Hours()), int(d.Minutes())%60
	if m == 0 {
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}
