package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// The story shows at most this many checkpoints, untrue claims and items.
const (
	shownCheckpoints = 5
	shownClaims      = 3
	shownItems       = 10
)

// Tell prints the story of a session for a user who was away: the state, and what happened so far. It does not print
// the next commands; On does.
func (c *Screen) Tell(j *Story) {
	s, r, e := j.Of, report{c, &j.Session}, evidence{c}
	c.Short("%s  %s", s.ID, s.Headline())
	c.Out("")
	told := r.standing("", j.Current)
	r.cutOff()
	if item := s.Item(); item != "" && s.Phase != workflows.Done {
		c.Short("item: %s", item)
	}
	if s.Agent != "" && !told {
		c.Short("agent: %s", s.Agent)
	}
	if j.Items > 0 && (s.Status != session.StatusCompleted || !told) {
		c.Out("items: %d of %d done", j.ItemsDone, j.Items)
		r.items(map[int]string{})
	}
	if j.Failed != nil {
		c.Out("  the newest run ended with an error: %s", j.Failed.Error)
		if j.Failed.Hint != "" {
			c.Out("  hint: %s", j.Failed.Hint)
		}
	}
	e.incomplete(s)
	SaySpecEdited(c.Out, j.SpecEdited)
	if text := FilesText(j.Edits, "edited, not in a checkpoint yet"); text != "" {
		c.Out("%s", text)
	}
	r.driver()
	r.place()
	r.autoSave()
	c.Out("")
	r.numbers(j, told)
	r.newest(j)
	e.gates(j.Gates, "  ", false)
	e.notRun(s.NotRun)
	e.forced(s.SkippedPhases)
}

// newest prints the newest checkpoints. If the gates have not judged the current checkpoint yet, it says which earlier
// checkpoint the gate results printed below it are about.
func (c report) newest(j *Story) {
	s := j.Of
	if len(j.Newest) > 0 {
		c.Out("")
	}
	for _, cp := range j.Newest {
		c.Line(Join("  ", CheckpointLine(s, cp, PhaseColumns(s.Checkpoints))))
	}
	if n := len(s.Checkpoints) - s.Current - 1; n > 0 {
		c.Out("  … and %s, which this one does not build on: %s", N(n, "later checkpoint"),
			c.Facts.Typed("wfs log", s.ID, ""))
	}
	if at := s.Judged(); at != nil && len(j.Gates) > 0 && at.Tree != s.At(s.Current).Tree {
		c.Out("  checkpoint %d is not judged yet; checkpoint %d was:", s.Current, at.Number)
	}
}

// numbers prints counts of attempts, checkpoints and tests. It also prints the usage, unless `told` says that the
// screen already shows it.
func (c report) numbers(j *Story, told bool) {
	s, now := j.Of, c.Clock()
	if r := j.LastRun; r != nil {
		c.Out("last run: %s, %s", runTime(r, j.Driver != nil, now), runDid(r, s.Laps))
	}
	var did Parts
	did.Add(j.Items > 0, "%d of %s done", j.ItemsDone, N(j.Items, "item"))
	did.Add(j.Items == 0 && s.Laps, "%s done", N(j.LapsDone, "lap"))
	did.Add(true, "%s judged", N(j.Attempts, "attempt"))
	did.Add(j.uncounted() > 0, "%s not counted", N(j.uncounted(), "run"))
	did.Add(true, "%s", N(len(s.Checkpoints), "checkpoint"))
	c.Out("in all: %s; started %s, updated %s", strings.Join(did, ", "),
		Ago(j.CreatedAt, now), Ago(j.UpdatedAt, now))
	if j.Tests != nil {
		c.Out("tests: %s", j.Tests)
	}
	if text := used(&j.Session); !told && text != "" {
		c.Out("%s", strings.Replace("used: "+text, "used: said", "said", 1))
	}
	n := len(j.Claimed)
	if n > shownClaims {
		c.Out("  the newest %d of %d claims that were not true:", shownClaims, n)
	}
	for _, r := range j.Claimed[max(0, n-shownClaims):] {
		c.Out("  said done at @%d (%s), but: %s", r.Checkpoint, r.Phase, r.Reason)
	}
	evidence{c.Screen}.flaky(j.Flaky)
}

// runTime says when a run took place and how long it lasted. `goesOn` says that it has not ended.
func runTime(r *LastRun, goesOn bool, now time.Time) string {
	switch {
	case goesOn:
		return "for " + Lasting(now.Sub(r.At)) + " so far"
	case r.EndedAt == nil: // the run was killed
		return "begun " + Ago(r.At, now)
	}
	return Lasting(r.EndedAt.Sub(r.At)) + " long, ended " + Ago(*r.EndedAt, now)
}

// runDid sums up the results of a run in one line.
func runDid(r *LastRun, laps bool) string {
	p := Parts{N(r.Attempts, "attempt") + " judged"}
	p.Add(laps && r.Laps > 0, "%s done", N(r.Laps, "lap"))
	cost := Cost(r.Used)
	p.Add(cost != "", "%s", cost)
	p.Add(r.Refuted > 0, "%s not true", N(r.Refuted, "claim"))
	return strings.Join(p, ", ")
}

// items prints the state of each item of the checklist. `shown` maps an item's number to the tests that show that it is
// done; nil: it prints nothing.
func (c report) items(shown map[int]string) {
	d := c.of
	if shown == nil {
		return
	}
	room := 200
	if c.Width > 0 {
		room = max(32, c.Width-40)
	}
	for _, item := range d.ItemStates[:min(len(d.ItemStates), shownItems)] {
		c.Short("  %d  %s  %s", item.Number, Pad(safetext.Line(item.Text, room), 32), cmp.Or(shown[item.Number], item.Says()))
	}
	if n := d.Items - shownItems; n > 0 {
		c.Out("  and %d more: wfs status %s --json", n, d.ID)
	}
}

// driver prints the process that runs the session, processes of the last run that still live, and the number of unread
// requests.
func (c report) driver() {
	d := c.of
	if d.Driver != nil {
		c.Out("running: %s (pid %d)", d.Driver.Command, d.Driver.PID)
	}
	if len(d.Alive) > 0 {
		c.Out("still alive of its last run: %s", decide.Named(d.Alive))
		run := c.Facts.Typed("wfs run", d.ID, d.Worktree)
		on := run + " --ignore-survivors"
		if slices.ContainsFunc(d.Alive, func(p session.Process) bool { return !p.Own }) {
			c.Out("  nothing runs or moves here before they have ended; if they are harmless: %s", on)
		} else {
			c.Out("  %s ends them; if they are harmless, and to live on: %s", run, on)
		}
	}
	if n := d.Requests; n > 0 {
		c.Out("%d %s not read yet", n, safetext.Word(n, "request is", "requests are"))
	}
}

// place prints the path of the session's work tree, unless that is the current one.
func (c report) place() {
	d := c.of
	if d.Worktree == "" || d.Current {
		return
	}
	gone := ""
	if d.Gone {
		gone = ", which is not there any more"
	}
	c.Out("work tree: %s%s", d.Worktree, gone)
}

// autoSave prints that there is a backup with changes that no checkpoint has, and how to see or restore them.
func (c report) autoSave() {
	d, j := c.of, c.of.AutoSave
	if j == nil {
		return
	}
	c.Out("backup of %s, %s: %s", Ago(j.At, c.Clock()), j.Why, N(j.Changes, "changed file"))
	if j.Missing > 0 {
		c.Out("  %d of them %s not in the work tree any more; to restore them: %s", j.Missing, safetext.Word(j.Missing, "is", "are"),
			c.Facts.Typed("wfs resume --backup", d.ID, d.Worktree))
		return
	}
	c.Out("  the work tree may be newer, and is what wfs run continues with; to see what was saved: %s",
		c.Facts.Typed("wfs diff auto", d.ID, d.Worktree))
}

// SaySpecEdited says that the spec was edited after the session pinned it, and prints the command that pins it again.
// It prints nothing if `command` is "".
func SaySpecEdited(say func(string, ...any), command string) {
	if command != "" {
		say("the spec was edited since it was pinned; to use it as it is now: %s", command)
	}
}

// FilesText returns the number of files and the first names, such as "2 files edited: a.go b.go". It returns "" if
// there are none.
func FilesText(files []string, what string) string {
	if len(files) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", N(len(files), "file"), what, safetext.First(files, 5, " "))
}

// On prints how to continue: the user's options for an interrupted or stopped session, otherwise the next commands.
func (c *Screen) On(d *Session) {
	if d.Recovery != nil {
		c.Recovery(d.Recovery)
		c.Next(d.Next[:1])
		return
	}
	if len(d.Ways) == 0 {
		c.Next(d.Next)
		return
	}
	wide := 0
	for _, w := range d.Ways {
		wide = max(wide, safetext.Width(w.What))
	}
	c.Out("\nways on")
	for _, w := range d.Ways {
		if c.Width > 0 && wide+4+safetext.Width(w.Command) > c.Width {
			c.Out("  %s\n      %s", w.What, w.Command)
			continue
		}
		c.Out("  %s  %s", Pad(w.What, wide), w.Command)
	}
	if len(d.Next) > 0 && !slices.ContainsFunc(d.Ways, func(w Way) bool { return w.Command == d.Next[0] }) {
		c.Next(d.Next)
		return
	}
	c.Out("look: %s", c.Facts.Typed(fmt.Sprintf("wfs show %s@%d", d.ID, d.Checkpoint), d.ID, d.Worktree))
}
