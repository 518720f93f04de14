package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Limits of what is written, so that the file of a long session can be read and mailed. `wfs report --json` has none.
const (
	mostParts   = 50 // sessions with a part of their own
	mostItems   = 200
	mostEntries = 200 // of a time line
	fewEntries  = 40  // of a time line, if there are several sessions
	mostFiles   = 200 // in a table
	mostOfList  = 30
)

// MostDiff is the maximum size of a patch in Markdown, in bytes. GitHub takes comments of 65,536 characters.
const MostDiff = 40_000

// blocks returns the whole report. The drawings are for HTML only.
func (r *Report) blocks(drawn bool) []Block {
	d := &document{drawn: drawn, several: len(r.Sessions)+len(r.Unreadable) > 1}
	if !d.several {
		d.session(&r.Sessions[0], 1)
	} else {
		d.compare(r)
		for i := range r.Sessions[:min(len(r.Sessions), mostParts)] {
			d.session(&r.Sessions[i], 2)
		}
		d.left(len(r.Sessions)-mostParts, "more sessions", "wfs report SESSION")
	}
	d.say(muted(fmt.Sprintf("Written by wfs report (wfs %s), %s. Secrets that wfs recognises are redacted.",
		r.WFS, when(r.At))))
	return slices.DeleteFunc(d.blocks, Block.empty)
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// compare compares several sessions.
func (d *document) compare(r *Report) {
	d.heading(1, "top", present.N(len(r.Sessions), "session"))
	d.table("", "session", "goal", "status", "items", "attempts passed", "claims true", "time", "cost")
	for i := range r.Sessions {
		x := &r.Sessions[i]
		s, all := &x.Session, x.Metrics.Total()
		d.row(Text{Words: string(s.ID), To: anchor(s)}, s.Of.Headline(), badge(string(s.Status)),
			views.Ratio(s.ItemsDone, s.Items), views.Ratio(all.Passed, all.Attempts),
			views.Ratio(s.Claims-s.Refuted, s.Claims), spent(s), money(s))
	}
	for _, id := range slices.Sorted(maps.Keys(r.Unreadable)) {
		d.row(id, r.Unreadable[id], badge("unreadable"), "-", "-", "-", "-", "-")
	}
	if len(r.Agents) == 0 {
		return
	}
	d.heading(2, "agents", "By agent and model")
	d.table("", "agent", "sessions done", "attempts passed", "claims true", "time", "cost", "tokens")
	for _, a := range r.Agents {
		d.row(named(a.Agent, a.Model), views.Ratio(a.Done, a.Sessions),
			views.Ratio(a.Passed, a.Attempts),
			views.Ratio(a.True, a.Claims), present.Lasting(millis(a.Used.Millis)), present.USD(a.Used),
			present.Count(a.Used.Tokens.Sum()))
	}
}

func anchor(s *present.Story) string { return "session-" + string(s.ID) }

func spent(s *present.Story) string {
	return present.Lasting(time.Duration((s.Spent.Runs + s.Spent.Gates) * float64(time.Second)))
}

func money(s *present.Story) string { return cmp.Or(present.Cost(s.Used), "-") }

// session writes about one session. Its heading has the given level.
func (d *document) session(x *Session, level int) {
	s := &x.Session
	part := func(name string) {
		d.heading(level+1, anchor(s)+"-"+strings.ReplaceAll(strings.ToLower(name), " ", "-"), name)
	}
	d.heading(level, anchor(s), s.Of.Headline())
	stands := strings.TrimLeft(strings.TrimPrefix(x.Stands, string(s.Status)), ":, ")
	d.say(badge(string(s.Status)), " ", code(string(s.ID)), " ", stands)
	d.overview(x)

	part("Requested and delivered")
	d.asked(x)
	if len(s.Beware) > 0 {
		part("Please look at")
		d.list()
		for _, b := range s.Beware {
			d.row(line(b))
		}
	}
	if len(s.Ways) > 0 {
		part("Ways on")
		d.facts()
		for _, w := range s.Ways {
			d.row(w.What, code(w.Command))
		}
	}
	part("Evidence")
	n := len(d.blocks)
	if d.evidence(x); !slices.ContainsFunc(d.blocks[n:], func(b Block) bool { return !b.empty() }) {
		d.say("Nothing was judged yet.")
	}
	part("Numbers")
	d.numbers(x)
	part("What happened")
	d.story(x)
	if len(x.Patterns) > 0 {
		part("What repeats")
		d.patterns(x)
	}
	part("Changes")
	d.changes(x)
}

// overview writes the facts at the top.
func (d *document) overview(x *Session) {
	s := &x.Session
	d.facts()
	if s.Title != "" || strings.ContainsRune(s.Goal, '\n') {
		d.fact("goal", s.Goal)
	}
	d.fact("spec", code(s.Of.SpecPath))
	d.fact("agent", strings.Join(agents(x), ", "))
	d.fact("workflow", s.Workflow)
	from := line(code(s.Base.Short()))
	if s.BaseRef != "" {
		from = line(present.ShortRef(s.BaseRef), " ", from)
	}
	to := line(number(s.Checkpoint), " ", code(x.Commit.Short()), " on ", code(s.Branch))
	if s.HandedOver != "" {
		to = line(to, ", handed over on ", code(s.HandedOver))
	}
	d.fact("work", line(from, " → ", to))
	d.fact("time", fmt.Sprintf("%s of work, from %s to %s", spent(s), when(s.CreatedAt), when(s.UpdatedAt)))
	d.fact("used", present.Cost(s.Used))
	d.fact("claims", present.Claims(s.Claims, s.Refuted))
	d.fact("fork of", code(s.Of.Parent))
	if i := s.Of.Imported; i != nil {
		d.fact("imported from", fmt.Sprintf("%s, session %s: wfs has judged nothing of what was done there", i.From, i.ID))
	}
	if !s.Status.Final() {
		d.fact("next", codes(s.Next, 5))
	}
}

func named(agent, model string) string { return strings.TrimSpace(agent + " " + model) }

// agents names the agents that worked, with their models.
func agents(x *Session) (names []string) {
	for _, c := range x.Counts {
		names = append(names, named(c.Agent, c.Model))
	}
	if len(names) == 0 && x.Session.Agent != "" {
		names = []string{x.Session.Agent}
	}
	return names
}

func (d *document) asked(x *Session) {
	d.table("asked", "requested", "shown by", "files", "state")
	for _, a := range x.Asked[:min(len(x.Asked), mostItems)] {
		says := line(a.Says)
		switch a.State {
		case session.ItemDelivered, session.ItemShown, session.ItemAgreed:
			says = line(ok(a.Says))
		case session.ItemSkipped, session.ItemOpen:
			says = line(bad(a.Says))
		}
		if a.Commit != "" {
			says = line(says, " ", code(a.Commit.Short()))
		}
		d.row(a.Text, orDash(codes(a.Tests, 8)), orDash(joined(a.Files, 5, changed)), says)
	}
	d.left(len(x.Asked)-mostItems, "more items", "wfs report "+string(x.Session.ID)+" --json")
}

// left says how many entries were left out, and which command shows them.
func (d *document) left(n int, what, command string) {
	if n > 0 {
		d.say(fmt.Sprintf("%d %s left out here: ", n, what), code(command))
	}
}

func changed(f session.FileLines) Line { return line(code(f.Path), " ", linesOf(f)) }

// linesOf returns the changed lines of a file: "+3 -1".
func linesOf(f session.FileLines) string {
	if f.Binary {
		return "(binary)"
	}
	return fmt.Sprintf("+%d -%d", f.Added, f.Removed)
}

// evidence writes why the work counts as done, or does not.
func (d *document) evidence(x *Session) {
	s := &x.Session
	d.facts()
	said := map[string]bool{}
	for _, says := range x.Says {
		if said[says.Label] = true; says.Label != "beware" && says.Label != "used" {
			d.row(says.Label, says.Text)
		}
	}
	if s.Tests != nil && !said["tests"] {
		d.row("tests", s.Tests.String())
	}
	if p := s.Proof; p != nil && !said["clean"] {
		d.row("clean", verdict(p.Verdict, p.Why()))
	}
	if h := s.Holdout; h != nil {
		d.row("hold-out tests", verdict(h.Verdict, h.Reason))
		d.fact("", codes(h.Failing, 10))
	}
	d.fact("flaky, ignored", codes(s.Flaky, 10))
	for _, p := range s.SkippedPhases {
		what := "skipped by a person"
		if p.Unjudged() {
			what = "not judged"
		}
		d.row(string(p.Phase),
			fmt.Sprintf("%s in lap %d: %s", what, p.Lap, cmp.Or(p.Why, "no reason given")))
	}
	for _, t := range x.Tampered[:min(len(x.Tampered), mostOfList)] {
		d.row("changed test", t.String())
	}
	for _, t := range x.Tools.Denied {
		d.row("denied", line(code(t.Name), ", in "+present.N(t.Attempts, "attempt")))
	}
	if text := present.Lacks(s.Of.At(s.Checkpoint)); text != "" {
		d.row("incomplete", bad("the checkpoint lacks "+text))
	}

	d.table("", "gate", "result", "time", "first error")
	for _, g := range s.Gates {
		d.row(code(g.Gate), verdict(g.Verdict, present.GateSays(g).String()),
			cmp.Or(present.GateTook(g), "-"), firstError(g))
	}
	for _, g := range s.Of.NotRun {
		d.row(code(g.Gate), muted("has not run: "+g.Why), "-", "")
	}
	d.table("", "at", "phase", "tried, to see whether a pass proves something")
	for _, e := range x.Experiments[max(0, len(x.Experiments)-mostOfList):] {
		d.row(at(e.Place), string(e.Phase), e.Says)
	}
	d.left(len(x.Experiments)-mostOfList, "earlier experiments", "wfs report "+string(s.ID)+" --json")
	if r := x.Review; r != nil {
		d.say("The reviewer says: ", strong(string(r.Verdict)), present.By(r.By))
		d.list()
		for _, f := range r.Findings {
			l := line(f.What)
			if f.Path != "" {
				l = line(code(place(f)), ": ", l)
			}
			d.row(l)
		}
	}
}

func place(f session.Remark) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	return f.Path
}

func firstError(g session.GateResult) Line {
	if g.Verdict == session.Pass {
		return nil
	}
	return line(codes(g.Failing, 5), " ", g.FirstError)
}

// verdict returns words that say why a verdict is what it is.
func verdict(v session.Verdict, words string) Text {
	if v == session.Pass {
		return ok(words)
	}
	return bad(words)
}

// at names the checkpoint of a place. It is code, because a bare @7 would notify the user of that name elsewhere.
func at(p views.Place) Text {
	if p.Checkpoint == nil {
		return Text{}
	}
	return number(*p.Checkpoint)
}

func number(checkpoint int) Text { return Text{Words: fmt.Sprintf("@%d", checkpoint), Kind: "code at"} }

// numbers writes what was measured.
func (d *document) numbers(x *Session) {
	if len(x.Metrics.Attempts) == 0 {
		d.say("There was no attempt yet.")
		return
	}
	if d.drawn {
		for _, p := range Plots(&x.Metrics) {
			d.blocks = append(d.blocks, Block{Drawing: p.SVG, Caption: p.Caption})
		}
	}
	d.table("", "phase", "passed", "agent", "gates", "cost", "tokens", "tool calls")
	phases := x.Metrics.Phases
	if len(phases) > 1 {
		phases = append(slices.Clip(phases), x.Metrics.Total())
	}
	for _, p := range phases {
		var cells []any
		for _, cell := range p.Cells() {
			cells = append(cells, cell)
		}
		d.row(cells...)
	}
	d.table("", "gate", "passed", "time")
	for _, g := range x.Metrics.Gates {
		d.row(code(g.Name), views.Ratio(g.Passed, g.Attempts), present.Clock(millis(g.GateMillis)))
	}
	d.table("", "gate", "number", "before", "last")
	for _, n := range x.Metrics.Numbers {
		base, last := "-", "-"
		if n.Base != nil {
			base = fmt.Sprint(*n.Base)
		}
		if k := len(n.Values); k > 0 {
			last = fmt.Sprint(n.Values[k-1].Value)
		}
		d.row(code(n.Gate), n.Name, base, last)
	}
	d.list()
	for _, what := range []string{"time", "money"} {
		if text := views.SharesText(x.Shares, what); text != "" {
			d.row(line(what, ": ", text))
		}
	}
}

// story writes the newest entries of the time line.
func (d *document) story(x *Session) {
	most := mostEntries
	if d.several {
		most = fewEntries
	}
	visits, older := views.Newest(slices.Clone(x.Timeline), most)
	d.left(older, "earlier entries", "wfs log "+string(x.Session.ID))
	d.table("story", "at", "when", "where", "who", "what", "time and cost")
	for _, v := range visits {
		for _, e := range v.Entries {
			d.add(x.entry(&v, &e))
		}
	}
}

func (x *Session) entry(v *views.Visit, e *views.Entry) Row {
	where := string(v.Phase)
	if x.Session.Of.Laps && v.Lap > 0 {
		where += fmt.Sprintf(", lap %d", v.Lap)
	}
	r := Row{}
	var who, what, used Line
	if a := e.Attempt; a != nil {
		who, what = line(named(a.Agent, a.Model)), attempt(a)
		if where += fmt.Sprintf(", attempt %d", a.Place.Attempt); a.Verdict != "" {
			r.Class = string(a.Verdict)
		}
		used = line(present.Clock(millis(a.RunMillis+a.GateMillis)), " ", present.Cost(a.Used))
	} else if c := e.Decision; c != nil {
		who, what = line(c.By), line(strong(c.What))
		if c.Why != "" {
			what = line(what, ": ", safetext.Line(c.Why, 600))
		}
	}
	if e.Left {
		r.Class += " left"
		what = line(badge("left"), " ", what)
	}
	r.Cells = []Line{line(at(e.Place)), line(e.At.UTC().Format("01-02 15:04")), line(where), who, what, used}
	return r
}

// attempt describes an attempt: the verdict, whether the agent's claim was true, the tests, what the agent said.
func attempt(a *views.Attempt) (l Line) {
	switch {
	case a.Verdict != "":
		l = line(badge(string(a.Verdict)), " ")
	case a.Outcome != "":
		l = line("not judged (", string(a.Outcome), ") ")
	default:
		l = line("not judged ")
	}
	l = line(l, safetext.Line(a.Reason, 600))
	if t := a.Tests; t.Total() > 0 {
		l = line(l, muted(fmt.Sprintf(" %d passed, %d failed.", t.Passed, t.Failed+t.Errors)))
	}
	switch {
	case a.Refuted:
		l = line(l, bad(fmt.Sprintf(" %s said it is done; that was not true.", a.Agent)))
	case a.Claimed && a.Verdict == session.Pass:
		l = line(l, muted(fmt.Sprintf(" %s said it is done; that was true.", a.Agent)))
	}
	if a.Note != "" {
		l = line(l, muted(" “"+safetext.Line(a.Note, 300)+"”"))
	}
	return l
}

func (d *document) patterns(x *Session) {
	d.list()
	for _, p := range x.Patterns {
		says := line(p.Says())
		if len(p.Checkpoints) > 0 {
			says = line(says, ": ", joined(p.Checkpoints, 8, number))
		}
		d.row(says)
	}
}

// changes writes what the session changed since its base.
func (d *document) changes(x *Session) {
	s := &x.Session
	if len(x.Files) == 0 {
		d.say("No file was changed.")
		return
	}
	if d.drawn && x.beside != "" { // it has its own sums
		d.blocks = append(d.blocks, Block{Drawing: x.beside})
		return
	}
	added, removed := 0, 0
	for _, f := range x.Files {
		added, removed = added+f.Added, removed+f.Removed
	}
	d.say(fmt.Sprintf("%s, +%d -%d, from the base to ", present.N(len(x.Files), "file"), added, removed),
		number(s.Checkpoint))
	d.table("", "", "file", "lines")
	for _, f := range x.Files[:min(len(x.Files), mostFiles)] {
		d.row(f.Status, code(f.Path), linesOf(f))
	}
	d.left(len(x.Files)-mostFiles, "more files", "wfs diff "+string(s.ID)+" --name-only")
	if d.several {
		d.say("The changes: ", code("wfs diff "+string(s.ID)))
		return
	}
	text := x.diff
	if len(text) > MostDiff {
		text = text[:strings.LastIndexByte(text[:MostDiff], '\n')+1]
	}
	if text != "" {
		d.blocks = append(d.blocks, Block{Code: text})
	}
	if len(text) < len(x.diff) {
		d.say("The rest of the changes is left out here: ", code("wfs diff "+string(s.ID)))
	}
}
