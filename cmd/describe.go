package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// jsonVersion is the version of every JSON shape that commands print. Fields may be added; a change of meaning raises it.
const jsonVersion = 1

// sessionJSON is a session in `list --json`, and a part of its story.
type sessionJSON struct {
	Version       int                    `json:"version"`
	ID            session.ID             `json:"id"`
	Name          string                 `json:"name"` // WFS-<id>, for programs that were written for it
	Current       bool                   `json:"current"`
	Goal          string                 `json:"goal"`
	Title         string                 `json:"title,omitempty"` // what it is called instead
	Status        session.Status         `json:"status"`
	Why           string                 `json:"why,omitempty"`
	Waiting       *session.Waiting       `json:"waiting,omitempty"`
	Blocked       *session.BlockedBy     `json:"blocked,omitempty"`
	Workflow      string                 `json:"workflow"`
	Agent         string                 `json:"agent"`
	Phase         session.PhaseName      `json:"phase"`
	Lap           int                    `json:"lap,omitempty"`
	LapsDone      int                    `json:"laps_done"`
	Items         int                    `json:"items,omitempty"`
	Item          string                 `json:"item,omitempty"`
	ItemsDone     int                    `json:"items_done,omitempty"` // delivered, shown by an existing test, or agreed to
	ItemStates    []session.Item         `json:"item_states,omitempty"`
	Attempts      int                    `json:"attempts"` // judged
	Claims        int                    `json:"claims"`
	Refuted       int                    `json:"refuted"`
	Flaky         []session.TestID       `json:"flaky,omitempty"`
	Beware        []string               `json:"beware,omitempty"` // of completed work: what nothing has asked of it
	Ways          []wayJSON              `json:"ways,omitempty"`   // on, when the breaker has stopped it
	CostUSD       float64                `json:"cost_usd,omitempty"`
	Used          session.Usage          `json:"used,omitzero"`
	Checkpoint    int                    `json:"checkpoint"`
	Branch        string                 `json:"branch"`
	Base          session.Commit         `json:"base"`
	BaseRef       string                 `json:"base_ref,omitempty"`
	SkippedPhases []session.SkippedPhase `json:"skipped_phases,omitempty"` // that a person left without their verdict
	HandedOver    string                 `json:"handed_over,omitempty"`    // branch that finish made
	HalfMoved     string                 `json:"half_moved,omitempty"`     // the move of this work tree that a dead process began
	Worktree      string                 `json:"worktree,omitempty"`       // directory of the work tree that has it checked out
	Gone          bool                   `json:"worktree_gone,omitempty"`
	Became        *gitstate.Fate         `json:"became,omitempty"`     // of its work, where that was asked for
	Incomplete    bool                   `json:"incomplete,omitempty"` // the present checkpoint lacks something
	Skipped       []session.Skip         `json:"skipped,omitempty"`    // what it cannot hold
	HeldOut       []session.Held         `json:"held_out,omitempty"`   // what it does not hold until a person allows it
	Allowed       []string               `json:"allowed,omitempty"`
	Proof         *session.Proof         `json:"proof,omitempty"`   // of its tree, in a clean one
	Holdout       *session.HoldoutResult `json:"holdout,omitempty"` // what hold-out tests said of its tree
	Deleted       *session.Deleted       `json:"deleted,omitempty"` // it lacks most files of the one before
	UpdatedAt     time.Time              `json:"updated_at"`
	Driver        *driverJSON            `json:"driver,omitempty"`
	AutoSave      *autoSaveJSON          `json:"auto_save,omitempty"`    // it holds what no checkpoint has
	Alive         []session.Process      `json:"alive,omitempty"`        // of the newest run, when its wfs is dead
	SpecEdited    string                 `json:"spec_edited,omitempty"`  // the command that pins its spec as it is now
	Edits         []string               `json:"edits,omitempty"`        // files that differ from the present checkpoint
	Requests      int                    `json:"requests,omitempty"`     // in the inbox: nobody has taken them in yet
	GateRuns      int                    `json:"gate_runs,omitempty"`    // results of gates, since the session began
	GatesCached   int                    `json:"gates_cached,omitempty"` // of those, known already: not run again
	Next          []string               `json:"next"`                   // commands to type
}

func (j *sessionJSON) headline() string {
	if j.Title != "" {
		return j.Title
	}
	return j.Goal
}

type driverJSON struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// outlived reports whether processes of the newest run may have outlived their wfs.
func outlived(s *session.Session) bool {
	return s.Started != "" && (s.Status == session.StatusInterrupted || s.Status == session.StatusBlocked && s.Blocked.Reason == session.BlockSurvivors)
}

// alive are the processes of a session's newest run that live although its wfs may be dead.
func (a *app) alive(s *session.Session) []session.Process {
	if !outlived(s) {
		return nil
	}
	return a.Engine.Works.Alive(s.ID, s.Started)
}

// describe tells of a session. in is the work tree that has it checked out, nil for none.
func (a *app) describe(s *session.Session, in *gitstate.Worktree) sessionJSON {
	there := in != nil && !in.Gone
	current := there && in.ID == a.Repo.Worktree()
	alive := a.alive(s)
	j := sessionJSON{
		Version: jsonVersion, ID: s.ID, Name: s.ID.Trailer(), Current: current, Goal: s.Goal, Title: s.Title, Status: s.Status, Why: s.Why,
		Workflow: s.Workflow, Agent: s.Agent, Phase: s.Phase, Lap: s.Lap, LapsDone: s.LapsDone(), Items: len(s.Items), Item: s.Item(),
		Attempts: s.Tries, Claims: s.Claims, Refuted: len(s.StillRefuted()), Flaky: s.FlakyTests(), CostUSD: s.CostUSD,
		Used: s.Used, Checkpoint: s.Current,
		Branch: strings.TrimPrefix(s.Branch(), "refs/heads/"), Base: s.Base, BaseRef: s.BaseRef, UpdatedAt: time.Unix(s.UpdatedAt, 0).UTC(),
		Alive: alive, Next: a.nextIn(s, in),
	}
	j.ItemStates = s.ItemStates()
	j.ItemsDone = j.Items - len(s.OpenItems())
	if c := s.At(s.Current); c != nil {
		j.Incomplete, j.Skipped, j.HeldOut, j.Deleted = c.Incomplete, c.Skipped, c.HeldOut, c.Deleted
	}
	if s.Status == session.StatusCompleted {
		j.Beware = notAsked(s)
	}
	j.Allowed, j.SkippedPhases, j.Ways = s.Allowed, s.SkippedPhases, a.waysOn(s, in)
	j.Holdout = s.HoldoutAt(s.Current)
	j.Proof, j.GateRuns, j.GatesCached = proofOf(s), s.GateRuns, s.GatesCached
	if s.Status == session.StatusWaiting {
		j.Waiting = s.Waiting
	}
	if s.Status == session.StatusBlocked {
		j.Blocked = s.Blocked
	}
	if s.Finished != nil && s.Status == session.StatusFinished {
		j.HandedOver = strings.TrimPrefix(s.Finished.Branch, "refs/heads/")
	}
	if in != nil {
		j.Worktree, j.Gone = in.Path, in.Gone
	}
	driver := ""
	if who, held, err := a.Clone.Driver(s.ID); err == nil && held {
		driver = who.Name()
		j.Driver = &driverJSON{who.PID, who.Command}
		switch {
		case workspace.IsRun(who):
			j.Next = []string{"wfs watch " + string(s.ID), "wfs stop " + string(s.ID)}
			if s.Status == session.StatusWaiting {
				j.Next = append(j.Next, "wfs run "+string(s.ID)+" --now")
			}
		case s.Status == session.StatusRunning:
			j.Next = []string{"wfs show " + string(s.ID)}
		}
	}
	if waiting, err := a.Clone.Requests(s.ID); err == nil {
		for _, r := range waiting {
			if r.Driver == "" || r.Driver == driver { // one that its run did not live to see is void
				j.Requests++
			}
		}
	}
	return j
}

// nextFor are nextCommands for a session that the command acts on in its own work tree. HEAD may have been taken away.
func (a *app) nextFor(s *session.Session) []string {
	in := a.Here()
	if head, err := a.Repo.Head(context.Background()); err == nil && head.Ref != s.Branch() {
		in = nil
	}
	return a.nextIn(s, in)
}

// nextIn are nextCommands as they have to be typed. in is the work tree that has the session checked out, nil for none.
func (a *app) nextIn(s *session.Session, in *gitstate.Worktree) []string {
	way := ""
	if in == nil || in.Gone {
		way = "wfs resume " + string(s.ID)
		if head, err := a.Repo.Head(context.Background()); err == nil {
			way = engine.WayTo(head, s.ID)
		}
	}
	next := nextCommands(s, a.alive(s), way)
	for i := range next {
		next[i] = a.typedFor(next[i], s.ID, rootOf(in))
	}
	return next
}

// rootOf is the path of a work tree that is there, "" for none.
func rootOf(in *gitstate.Worktree) string {
	if in == nil || in.Gone {
		return ""
	}
	return in.Path
}

// nextCommands are what makes sense to type next, the first one first. alive are processes of the newest run. way makes the
// session current, "" when it is.
func nextCommands(s *session.Session, alive []session.Process, way string) []string {
	id := string(s.ID)
	switch {
	case s.Status == session.StatusAbandoned:
		return []string{"wfs resume " + id}
	case s.Status == session.StatusFinished:
		return []string{"wfs show " + id}
	case way != "":
		return []string{way}
	}
	switch s.Status {
	case session.StatusBlocked:
		switch {
		case s.Blocked.Reason == session.BlockSurvivors:
			return []string{engine.Ending(s, alive), "wfs show"}
		case s.Blocked.Hint == "wfs resume "+id: // that has been typed: HEAD is on its branch again
			return []string{"wfs run", "wfs show"}
		case s.Reworded && s.Blocked.Reason == session.BlockBreaker: // which is news to the next attempt
			return []string{"wfs run", "wfs show"}
		}
		return []string{s.Blocked.Hint, "wfs show"}
	case session.StatusWaiting:
		switch {
		case s.Waiting.Agree:
			next := []string{"wfs approve"}
			if f := finishCommand(s); f != "" {
				next = append(next, f)
			}
			return append(next, `wfs reject -m "what is still missing"`)
		case s.Waiting.Question != nil:
			return []string{"wfs approve", `wfs reject -m "what is to be done"`, "wfs diff"}
		case s.Waiting.Approve:
			return []string{"wfs diff", "wfs approve", `wfs reject -m "what is to be done"`}
		}
		if s.Waiting.Reason == session.WaitHuman {
			return []string{`wfs run --note "your answer"`}
		}
		return []string{"wfs run", "wfs run --now"}
	case session.StatusCompleted:
		if unjudged(s) || s.AsksMore() {
			return []string{"wfs run"}
		}
		if f := finishCommand(s); f != "" {
			return []string{"wfs diff", f}
		}
		return []string{"wfs show", "wfs abandon"}
	case session.StatusRunning:
		return []string{"wfs show"}
	case session.StatusInterrupted:
		return []string{"wfs run", fmt.Sprintf("wfs resume @%d", beforeInterruption(s))}
	}
	return []string{"wfs run"}
}

// finishCommand hands over a session's work as it stands, "" when nothing was changed.
func finishCommand(s *session.Session) string {
	first, now := s.At(0), s.At(s.Current)
	switch {
	case first != nil && now != nil && first.Tree == now.Tree && s.Fork == nil && len(s.Carried) == 0:
		return ""
	case s.Less():
		return `wfs finish --anyway "why"`
	}
	return "wfs finish"
}

// beforeInterruption is the checkpoint to go back to for somebody who does not want what an interrupted attempt left.
// That is still in the work tree if nobody has kept it in a checkpoint yet.
func beforeInterruption(s *session.Session) int {
	n := s.Current
	for n > 0 && s.At(n).Trigger == session.TriggerInterrupted {
		n--
	}
	return n
}

// unjudged reports whether work that was completed has a checkpoint on top that no gate has seen.
func unjudged(s *session.Session) bool {
	c := s.At(s.Current)
	return s.Status == session.StatusCompleted && c != nil && !c.Green
}

// withoutVerdict names the phases that a person left without a verdict, "" for none.
func withoutVerdict(phases []session.SkippedPhase) string {
	var list []string
	for _, anyway := range []bool{false, true} {
		var names []string
		for _, p := range phases {
			if p.Anyway == anyway && !slices.Contains(names, string(p.Phase)) {
				names = append(names, string(p.Phase))
			}
		}
		switch {
		case len(names) == 0:
		case anyway:
			list = append(list, strings.Join(names, ", ")+" not judged")
		default:
			list = append(list, strings.Join(names, ", ")+" skipped")
		}
	}
	return strings.Join(list, ", and ")
}

// completedWith says what completed work came to.
func completedWith(s *session.Session) string {
	if text := withoutVerdict(s.SkippedPhases); text != "" {
		return "completed, with " + text
	}
	if did := itemsDid(s.ItemStates()); did != "" {
		return "completed: " + did
	}
	if s.ApprovedInTheEnd(s.Current) {
		return "completed: a person approved the work"
	}
	return "completed: all that was requested is done, and all gates pass"
}

// stands says where a session stands, in one line.
func stands(s *session.Session) string {
	switch s.Status {
	case session.StatusCompleted:
		if unjudged(s) {
			return fmt.Sprintf("completed, and edited since: checkpoint %d is not judged yet", s.Current)
		}
		if s.AsksMore() {
			return "completed, and a note wants more"
		}
		return completedWith(s) + unprovenGate(proofOf(s))
	case session.StatusFinished:
		return "finished: handed over on " + strings.TrimPrefix(s.Finished.Branch, "refs/heads/")
	case session.StatusAbandoned:
		if s.Why == "" {
			return "abandoned"
		}
		return "abandoned: " + s.Why
	}
	at := string(s.Phase)
	if lap := s.LapName(s.Lap); lap != "" {
		at += ", " + lap
	}
	if s.Phase == workflows.Done && s.Status == session.StatusWaiting {
		return string(s.Status) + " for you, at the end of the work"
	}
	n := s.Visit.Attempts
	if c := s.At(s.Current); c != nil && s.Status == session.StatusWaiting && c.Phase == s.Phase && c.Lap == s.Lap {
		n = max(n, c.Attempt) // the one that is asked about counts only when it is answered
	}
	if n > 0 {
		at += fmt.Sprintf(", %d %s so far", n, plural(n, "attempt", "attempts"))
	}
	line := string(s.Status) + " in " + at
	if s.Status == session.StatusCreated {
		line = "created, to begin with " + at
	}
	if s.Why != "" && s.Status != session.StatusBlocked { // the evidence of a block says it at length
		line += " (" + s.Why + ")"
	}
	return line
}

// itemsDid says what became of the items, "" when all of them were delivered.
func itemsDid(items []session.Item) string {
	n := map[session.ItemState]int{}
	for _, item := range items {
		n[item.State]++
	}
	if n[session.ItemDelivered] == len(items) {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		state session.ItemState
		says  string
	}{{session.ItemDelivered, "delivered"}, {session.ItemShown, "shown by tests written before"}, {session.ItemAgreed, "as a person said"},
		{session.ItemSkipped, "skipped"}, {session.ItemOpen, "open"}} {
		if n[p.state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[p.state], p.says))
		}
	}
	done := n[session.ItemDelivered] + n[session.ItemShown] + n[session.ItemAgreed]
	return fmt.Sprintf("%d of %d items done: %s", done, len(items), strings.Join(parts, ", "))
}

// stoppedHere is whyStopped without what is past by now: HEAD was taken away, and is on the session's branch again.
func stoppedHere(s *session.Session, now time.Time, current bool) []string {
	if current && s.Status == session.StatusBlocked && s.Blocked.Hint == "wfs resume "+string(s.ID) {
		return []string{"HEAD is back on " + strings.TrimPrefix(s.Branch(), "refs/heads/")}
	}
	return whyStopped(s, now)
}

// whyStopped lists what a person must know about a session that does not go on by itself.
func whyStopped(s *session.Session, now time.Time) []string {
	switch {
	case s.Status == session.StatusBlocked:
		return append([]string{"blocked, " + blockedWords[s.Blocked.Reason] + ":"}, s.Blocked.Evidence...)
	case s.Status == session.StatusWaiting && s.Waiting.Reason == session.WaitLimit:
		lines := []string{waitingFor(s.Waiting, now)}
		if s.Waiting.Why != "" {
			lines = append(lines, s.Waiting.Why)
		}
		return lines
	case s.Status == session.StatusWaiting:
		return append([]string{"waiting for you: " + s.Waiting.Ask}, questionLines(s.Waiting.Question, s.Waiting.Ask)...)
	case s.Status == session.StatusInterrupted && engine.JudgedNext(s):
		return []string{judgedNext(s.Open)}
	}
	return nil
}

// judgedNext says what the next run does about an attempt that has run and is not judged yet.
func judgedNext(o *session.Open) string {
	if o.Runner == "person" {
		return fmt.Sprintf("what is there at %s is not judged yet: the next wfs run judges it first", o.Phase)
	}
	return fmt.Sprintf("attempt %d at %s has run and is not judged yet: the next wfs run judges it first, without another run",
		o.Attempt, o.Phase)
}

// questionLines are what whoever answers a question has to know beside the question itself.
func questionLines(q *session.Question, ask string) []string {
	var lines []string
	if q != nil && len(q.Paths) > 0 {
		lines = append(lines, "about: "+strings.Join(q.Paths[:min(len(q.Paths), 10)], ", ")+more(len(q.Paths)-10))
	}
	if q != nil {
		for _, line := range q.Evidence {
			if !strings.Contains(ask, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// waitingFor says until when a session waits, and what for.
func waitingFor(w *session.Waiting, now time.Time) string {
	words := "over"
	if left := unix(w.Until).Sub(now); left > 0 {
		words = inWords(left)
	}
	return waitingUntil(w, now) + " (" + words + ")"
}

// waitingUntil is waitingFor without how long that is from now.
func waitingUntil(w *session.Waiting, now time.Time) string {
	what := "waiting for a limit until"
	switch w.Cause {
	case session.CauseCalls:
		what = "waiting for the limit of calls per hour until"
	case session.CauseRateLimited, session.CauseOverloaded:
		what = "waiting to try again at"
	}
	left := unix(w.Until).Sub(now)
	format := "15:04 UTC"
	if left > 20*time.Hour || left < -20*time.Hour {
		format = "2006-01-02 15:04 UTC"
	}
	return what + " " + unix(w.Until).UTC().Format(format)
}

// inWords says how long something takes or took, roughly.
func inWords(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// ago says when something was, roughly.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	if d < time.Second {
		return "just now"
	}
	return inWords(d) + " ago"
}

// gateLine is one gate's result on a line of its own.
func gateLine(g session.GateResult) styled {
	line := append(styled{{g.Gate + ": ", plain}}, gateSays(g)...)
	if took := gateTook(g); took != "" {
		line = append(line, span{", " + took, plain})
	}
	return line
}

// gateSays is one gate's result in words.
func gateSays(g session.GateResult) styled {
	failed := g.Counts.Failed + g.Counts.Errors
	red := g.Expect == string(workflows.ExpectRed) && g.Verdict == session.Pass
	text := ""
	switch {
	case g.Where == session.InTree:
		text = g.Reason
	case g.Counts.Total() > 0:
		text = fmt.Sprintf("%d passed", g.Counts.Passed)
		if failed > 0 {
			text += fmt.Sprintf(", %d failed", failed)
		}
		if red && failed > 0 {
			text += " (as intended)"
		}
		if g.Counts.Skipped > 0 {
			text += fmt.Sprintf(", %d skipped", g.Counts.Skipped)
		}
		if g.Counts.Flaky > 0 {
			text += fmt.Sprintf(", %d flaky", g.Counts.Flaky)
		}
		if g.Verdict != session.Pass && failed == 0 {
			text += "; " + g.Reason
		}
	case red:
		text = "fails as intended"
	case g.Verdict == session.Pass:
		text = "passed"
	default:
		text = g.Reason
	}
	if g.TestsOf != nil {
		text += fmt.Sprintf(", with the tests of @%d", *g.TestsOf)
	}
	if g.Verdict == session.Pass {
		return styled{{text, plain}}
	}
	return styled{{text, verdictColour(g.Verdict)}}
}

// standing is stands, with its status in colour.
func standing(s *session.Session) styled {
	line := stands(s)
	if rest, ok := strings.CutPrefix(line, string(s.Status)); ok {
		return styled{{string(s.Status), statusColour(s.Status)}, {rest, plain}}
	}
	return styled{{line, plain}}
}

func millis(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(10 * time.Millisecond).String()
}
