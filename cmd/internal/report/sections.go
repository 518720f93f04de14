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
	return d.blocks
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// compare compares several sessions.
func (d *document) compare(r *Report) {
	d.heading(1, "top", present.N(len(r.Sessions), "session"))
	var rows []Row
	for i := range r.Sessions {
		x := &r.Sessions[i]
		s, all := &x.Session, x.Metrics.Total()
		rows = append(rows, row(Text{Words: string(s.ID), To: anchor(s)}, s.Of.Headline(), badge(string(s.Status)),
			views.Ratio(s.ItemsDone, s.Items), views.Ratio(all.Passed, all.Attempts),
			views.Ratio(s.Claims-s.Refuted, s.Claims), spent(s), money(s)))
	}
	for _, id := range slices.Sorted(maps.Keys(r.Unreadable)) {
		rows = append(rows, row(id, r.Unreadable[id], badge("unreadable"), "-", "-", "-", "-", "-"))
	}
	d.table("", []string{"session", "goal", "status", "items", "attempts passed", "claims true", "time", "cost"}, rows)
	rows = nil
	for _, a := range r.Agents {
		rows = append(rows, row(strings.TrimSpace(a.Agent+" "+a.Model), views.Ratio(a.Done, a.Sessions),
			views.Ratio(a.Passed, a.Attempts),
			views.Ratio(a.True, a.Claims), present.Lasting(millis(a.Used.Millis)), present.USD(a.Used),
			present.Count(a.Used.Tokens.Sum())))
	}
	if len(rows) > 0 {
		d.heading(2, "agents", "By agent and model")
		d.table("", []string{"agent", "sessions done", "attempts passed", "claims true", "time", "cost",
			"tokens"}, rows)
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
		var list []Line
		for _, b := range s.Beware {
			list = append(list, line(b))
		}
		d.list(list)
	}
	if len(s.Ways) > 0 {
		part("Ways on")
		var rows []Row
		for _, w := range s.Ways {
			rows = append(rows, row(w.What, code(w.Command)))
		}
		d.table("", nil, rows)
	}
	part("Evidence")
	n := len(d.blocks)
	if d.evidence(x); len(d.blocks) == n {
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
	var rows []Row
	add := func(label string, parts ...any) {
		if len(parts) > 0 && fmt.Sprint(parts...) != "" {
			rows = append(rows, row(label, line(parts...)))
		}
	}
	if s.Title != "" || strings.ContainsRune(s.Goal, '\n') {
		add("goal", s.Goal)
	}
	if s.Of.SpecPath != "" {
		add("spec", code(s.Of.SpecPath))
	}
	add("agent", strings.Join(agents(x), ", "))
	add("workflow", s.Workflow)
	from := line(code(s.Base.Short()))
	if s.BaseRef != "" {
		from = line(present.ShortRef(s.BaseRef), " ", from)
	}
	to := line(number(s.Checkpoint), " ", code(x.Commit.Short()), " on ", code(s.Branch))
	if s.HandedOver != "" {
		to = line(to, ", handed over on ", code(s.HandedOver))
	}
	add("work", line(from, " → ", to))
	add("time", fmt.Sprintf("%s of work, from %s to %s", spent(s), when(s.CreatedAt), when(s.UpdatedAt)))
	add("used", present.Cost(s.Used))
	add("claims", present.Claims(s.Claims, s.Refuted))
	if s.Of.Parent != "" {
		add("fork of", code(s.Of.Parent))
	}
	if i := s.Of.Imported; i != nil {
		add("imported from", fmt.Sprintf("%s, session %s: wfs has judged nothing of what was done there", i.From, i.ID))
	}
	if len(s.Next) > 0 && !s.Status.Final() {
		add("next", codes(s.Next, 5))
	}
	d.table("", nil, rows)
}

// agents names the agents that worked, with their models.
func agents(x *Session) (names []string) {
	for _, c := range x.Counts {
		if name := strings.TrimSpace(c.Agent + " " + c.Model); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && x.Session.Agent != "" {
		names = []string{x.Session.Agent}
	}
	return names
}

func (d *document) asked(x *Session) {
	var rows []Row
	for _, a := range x.Asked[:min(len(x.Asked), mostItems)] {
		says := line(a.Says)
		switch a.State {
		case session.ItemDelivered, session.ItemShown, session.ItemAgreed:
			says = line(Text{Words: a.Says, Kind: "ok"})
		case session.ItemSkipped, session.ItemOpen:
			says = line(Text{Words: a.Says, Kind: "bad"})
		}
		if a.Commit != "" {
			says = line(says, " ", code(a.Commit.Short()))
		}
		tests := codes(a.Tests, 8)
		if len(tests) == 0 {
			tests = line("-")
		}
		rows = append(rows, row(a.Text, tests, filesLine(a.Files, 5), says))
	}
	d.table("asked", []string{"requested", "shown by", "files", "state"}, rows)
	d.left(len(x.Asked)-mostItems, "more items", "wfs report "+string(x.Session.ID)+" --json")
}

// left says how many entries were left out, and which command shows them.
func (d *document) left(n int, what, command string) {
	if n > 0 {
		d.say(fmt.Sprintf("%d %s left out here: ", n, what), code(command))
	}
}

func filesLine(files []session.FileLines, most int) Line {
	if len(files) == 0 {
		return line("-")
	}
	var l Line
	for i, f := range files[:min(len(files), most)] {
		if i > 0 {
			l = append(l, Text{Words: ", "})
		}
		l = append(l, code(f.Path), Text{Words: " " + linesOf(f)})
	}
	return line(l, present.More(len(files)-most))
}

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
	var rows []Row
	for _, says := range x.Says {
		if says.Label != "beware" && says.Label != "used" {
			rows = append(rows, row(says.Label, says.Text))
		}
	}
	said := func(label string) bool {
		return slices.ContainsFunc(x.Says, func(r present.Row) bool { return r.Label == label })
	}
	if s.Tests != nil && !said("tests") {
		rows = append(rows, row("tests", s.Tests.String()))
	}
	if p := s.Proof; p != nil && !said("clean") {
		rows = append(rows, row("clean", Text{Words: p.Why(), Kind: verdict(p.Verdict)}))
	}
	if h := s.Holdout; h != nil {
		rows = append(rows, row("hold-out tests", Text{Words: h.Reason, Kind: verdict(h.Verdict)}))
		if len(h.Failing) > 0 {
			rows = append(rows, row("", codes(h.Failing, 10)))
		}
	}
	if len(s.Flaky) > 0 {
		rows = append(rows, row("flaky, ignored", codes(s.Flaky, 10)))
	}
	for _, p := range s.SkippedPhases {
		what := "skipped by a person"
		if p.Unjudged() {
			what = "not judged"
		}
		rows = append(rows, row(string(p.Phase),
			fmt.Sprintf("%s in lap %d: %s", what, p.Lap, cmp.Or(p.Why, "no reason given"))))
	}
	for _, t := range x.Tampered[:min(len(x.Tampered), mostOfList)] {
		rows = append(rows, row("changed test", t.String()))
	}
	for _, t := range x.Tools.Denied {
		rows = append(rows, row("denied", line(code(t.Name), ", in "+present.N(t.Attempts, "attempt"))))
	}
	if text := present.Lacks(s.Of.At(s.Checkpoint)); text != "" {
		rows = append(rows, row("incomplete", Text{Words: "the checkpoint lacks " + text, Kind: "bad"}))
	}
	d.table("", nil, rows)

	rows = nil
	for _, g := range s.Gates {
		rows = append(rows, row(code(g.Gate), Text{Words: present.GateSays(g).String(), Kind: verdict(g.Verdict)},
			cmp.Or(present.GateTook(g), "-"), firstError(g)))
	}
	for _, g := range s.Of.NotRun {
		rows = append(rows, row(code(g.Gate), Text{Words: "has not run: " + g.Why, Kind: "muted"}, "-", ""))
	}
	d.table("", []string{"gate", "result", "time", "first error"}, rows)
	rows = nil
	for _, e := range x.Experiments[max(0, len(x.Experiments)-mostOfList):] {
		rows = append(rows, row(at(e.Place), string(e.Phase), e.Says))
	}
	d.table("", []string{"at", "phase", "tried, to see whether a pass proves something"}, rows)
	d.left(len(x.Experiments)-mostOfList, "earlier experiments", "wfs report "+string(s.ID)+" --json")
	if r := x.Review; r != nil {
		d.say("The reviewer says: ", strong(string(r.Verdict)), present.By(r.By))
		var list []Line
		for _, f := range r.Findings {
			l := line(f.What)
			if f.Path != "" {
				l = line(code(place(f)), ": ", l)
			}
			list = append(list, l)
		}
		d.list(list)
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

// verdict returns the class of a verdict in the style sheet.
func verdict(v session.Verdict) string {
	if v == session.Pass {
		return "ok"
	}
	return "bad"
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
		d.plots(x)
	}
	var rows []Row
	phases := x.Metrics.Phases
	if len(phases) > 1 {
		phases = append(slices.Clip(phases), x.Metrics.Total())
	}
	for _, p := range phases {
		var cells []any
		for _, cell := range p.Cells() {
			cells = append(cells, cell)
		}
		rows = append(rows, row(cells...))
	}
	d.table("", []string{"phase", "passed", "agent", "gates", "cost", "tokens", "tool calls"}, rows)
	rows = nil
	for _, g := range x.Metrics.Gates {
		rows = append(rows, row(code(g.Name), views.Ratio(g.Passed, g.Attempts), present.Clock(millis(g.GateMillis))))
	}
	d.table("", []string{"gate", "passed", "time"}, rows)
	rows = nil
	for _, n := range x.Metrics.Numbers {
		base, last := "-", "-"
		if n.Base != nil {
			base = fmt.Sprint(*n.Base)
		}
		if k := len(n.Values); k > 0 {
			last = fmt.Sprint(n.Values[k-1].Value)
		}
		rows = append(rows, row(code(n.Gate), n.Name, base, last))
	}
	d.table("", []string{"gate", "number", "before", "last"}, rows)
	var list []Line
	for _, what := range []string{"time", "money"} {
		if text := views.SharesText(x.Shares, what); text != "" {
			list = append(list, line(what, ": ", text))
		}
	}
	d.list(list)
}

// story writes the newest entries of the time line.
func (d *document) story(x *Session) {
	var rows []Row
	total := 0
	for _, v := range x.Timeline {
		total += len(v.Entries)
	}
	most := mostEntries
	if d.several {
		most = fewEntries
	}
	skip := max(0, total-most)
	for _, v := range x.Timeline {
		for _, e := range v.Entries {
			if skip > 0 {
				skip--
				continue
			}
			rows = append(rows, x.entry(&v, &e))
		}
	}
	id := string(x.Session.ID)
	d.left(total-most, "earlier entries", "wfs log "+id)
	d.table("story", []string{"at", "when", "where", "who", "what", "time and cost"}, rows)
}

func (x *Session) entry(v *views.Visit, e *views.Entry) Row {
	where := string(v.Phase)
	if x.Session.Of.Laps && v.Lap > 0 {
		where += fmt.Sprintf(", lap %d", v.Lap)
	}
	r := Row{}
	var who, what, used Line
	if a := e.Attempt; a != nil {
		who, what = line(strings.TrimSpace(a.Agent+" "+a.Model)), attempt(a)
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
		l = line(l, Text{Words: fmt.Sprintf(" %s said it is done; that was not true.", a.Agent), Kind: "bad"})
	case a.Claimed && a.Verdict == session.Pass:
		l = line(l, muted(fmt.Sprintf(" %s said it is done; that was true.", a.Agent)))
	}
	if a.Note != "" {
		l = line(l, muted(" “"+safetext.Line(a.Note, 300)+"”"))
	}
	return l
}

func (d *document) patterns(x *Session) {
	var list []Line
	for i := range x.Patterns {
		p := &x.Patterns[i]
		l := line(p.Says())
		for k, n := range p.Checkpoints[:min(len(p.Checkpoints), 8)] {
			sep := ", "
			if k == 0 {
				sep = ": "
			}
			l = line(l, sep, number(n))
		}
		list = append(list, line(l, present.More(len(p.Checkpoints)-8)))
	}
	d.list(list)
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
	var rows []Row
	for _, f := range x.Files {
		added, removed = added+f.Added, removed+f.Removed
		if len(rows) < mostFiles {
			rows = append(rows, row(f.Status, code(f.Path), linesOf(f)))
		}
	}
	d.say(fmt.Sprintf("%s, +%d -%d, from the base to ", present.N(len(x.Files), "file"), added, removed),
		number(s.Checkpoint))
	d.table("", []string{"", "file", "lines"}, rows)
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
