package brief

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
)

// standing has the part of a brief about the progress of the work.
type standing struct{ subject }

// outcomes has the phrase in a brief for each outcome of an attempt.
var outcomes = map[session.Class]string{
	session.ClassGreen:           "everything passed",
	session.ClassTargetFailed:    "its new test fails, as it should",
	session.ClassMissingSymbol:   "its new test fails, as it should",
	session.ClassUnexpectedGreen: "its new test passed at once",
	session.ClassNothingAdded:    "no test was added or changed",
	session.ClassNoTests:         "no test ran",
	session.ClassBuildBroken:     "it does not build",
	session.ClassBrokeGreen:      "a test that passed before now fails",
	session.ClassTargetMissing:   "a test of this lap is missing or skipped",
	session.ClassTargetFailing:   "a test of this lap still fails",
	session.ClassFlaky:           "a test passes only in some runs",
	session.ClassCommandFailed:   "a check failed",
	session.ClassGuard:           "files were changed that this phase may not change",
	session.ClassKey:             "a key was written into a tracked file",
	session.ClassTampered:        "tests were weakened",
	session.ClassTestChange:      "it requested a change of the tests",
	session.ClassGateChangedTree: "the checks changed files",
	session.ClassInfraError:      "a check could not run",
	session.ClassTimeout:         "the tests timed out",
	session.ClassDocument:        "a document is missing or incomplete",
	session.ClassNumber:          "a number is not as required",
	session.ClassUnchanged:       "the required change is missing",
	session.ClassNotClean:        "it does not pass in a clean checkout",
	session.ClassHoldout:         "hidden tests fail",
	session.ClassLeadsBack:       "it does not pass in a clean checkout",
	session.ClassRoomChanged:     "the tests change installed packages",
	session.ClassApproved:        "a person approved it",
	session.ClassRejected:        "it was sent back",
	session.ClassReviewed:        "the reviewer approved it",
	session.ClassUnsigned:        "everything passed, but there was no report that it is done",
	session.ClassNoReview:        "the reviewer gave no verdict",
	session.ClassAsked:           "a person was asked",
}

func outcomeText(v session.Verdict, c session.Class) string {
	if text := outcomes[c]; text != "" {
		return text
	}
	if v == session.Pass {
		return "everything passed"
	}
	return "a check failed"
}

// history has a line for each earlier attempt of this lap.
type history struct {
	Laps   string // sentence or list about completed laps
	Lines  []string
	CutOff bool
}

func (b standing) History() *history {
	var h history
	for _, c := range b.S.Way() {
		if c.Attempt == 0 || c.Verdict == "" || c.Lap != b.Req.Started.Lap {
			continue
		}
		h.Lines = append(h.Lines, b.attempt(c))
	}
	if more := len(h.Lines) - session.MaxTold; more > 0 {
		h.Lines = append([]string{leftOut(more)}, h.Lines[more:]...)
	}
	stopped := b.S.At(b.S.Current)
	h.Laps, h.CutOff = b.lapsDone(), stopped != nil && stopped.Trigger == session.TriggerInterrupted
	if len(h.Lines) == 0 && h.Laps == "" && !h.CutOff {
		return nil
	}
	return &h
}

// attempt returns the line about one attempt: its phase, commit, changed files, claim and outcome.
func (b standing) attempt(c session.Checkpoint) string {
	outcome := outcomeText(c.Verdict, c.Class)
	if b.claimed(c.Number) {
		outcome = "said it was done; " + outcome
	}
	return fmt.Sprintf("- %s, attempt %d, %s%s: %s", c.Phase, c.Attempt, c.Code.Short(), b.files(c.Number), outcome)
}

func (b standing) lapsDone() string {
	done := b.Req.Started.Lap - 1
	if done = min(done, max(items.LapsDone(b.S), len(b.S.Items))); !b.S.Laps || done < 1 {
		return ""
	}
	if len(b.S.Items) < done {
		return safetext.Plural(done, "lap is", "laps are") + " done."
	}
	var items []string
	for _, item := range b.S.Items[max(0, done-session.MaxTold):done] {
		items = append(items, "- "+process.Shown(item))
	}
	return "Earlier laps:\n" + strings.Join(items, "\n")
}

// files returns a phrase with the files that an attempt changed, with a comma before each. It returns "" if they are
// unknown.
func (b standing) files(number int) string {
	files, ok := b.Req.Lines[number]
	if !ok {
		return ""
	}
	if len(files) == 0 {
		return ", no change"
	}
	var text string
	for i, f := range files {
		if i == maxInline {
			return text + fmt.Sprintf(" and %d more", len(files)-i)
		}
		if !quotable.MatchString(f.Path) {
			return ", " + safetext.Plural(len(files), "file", "files")
		}
		text += fmt.Sprintf(", `%s`", f.Path)
		if f.Added > 0 || f.Removed == 0 && !f.Binary {
			text += fmt.Sprintf(" +%d", f.Added)
		}
		if f.Removed > 0 {
			text += fmt.Sprintf(" -%d", f.Removed)
		}
	}
	return text
}

// claimed reports whether the attempt of a checkpoint claimed to be done although the judgement disagreed.
func (b standing) claimed(checkpoint int) bool {
	return slices.ContainsFunc(b.S.StillRefuted(), func(r session.Refuted) bool { return r.Checkpoint == checkpoint })
}

// judged returns the checkpoint of the last judged attempt; nil if there is none.
func (b standing) judged() *session.Checkpoint {
	for _, c := range slices.Backward(b.S.Checkpoints) {
		if c.Attempt > 0 && c.Verdict != "" {
			return &c
		}
	}
	return nil
}

// Seen returns a sentence about the last judgement; "" if the history says it already. Counts come from wfs. Names and
// output come from the project or an agent, and are quoted as data, between marks.
func (b standing) Seen() string {
	who, listed := "The last attempt", len(b.S.LastGates) == 0
	if c := b.judged(); c != nil {
		who = fmt.Sprintf("%s, attempt %d", c.Phase, c.Attempt)
		listed = listed || c.Lap == b.Req.Started.Lap
	}
	if verdict := b.verdict(listed); verdict != "" {
		return who + ": " + verdict
	}
	return ""
}

// verdict returns a phrase about the last judgement. `listed` says that the history shows its outcome, which is then
// left out. It returns "" if nothing else is to be said.
func (b standing) verdict(listed bool) string {
	text, counts := b.outcome(), b.counts()
	listed = listed && text == outcomeText(b.S.Last.Verdict, b.S.Last.Class)
	switch {
	case counts != "" && listed:
		return "wfs ran the tests: " + counts
	case counts != "":
		return fmt.Sprintf("wfs ran the tests: %s (%s)", text, counts)
	case listed:
		return ""
	case len(b.S.LastGates) > 0:
		return "wfs ran its checks: " + text
	}
	return text
}

// outcome returns a phrase about the outcome of the last judged attempt. It includes the reasons of gates if these are
// in wfs's own words.
func (b standing) outcome() string {
	d := b.S.Last
	text := outcomeText(d.Verdict, d.Class)
	var failed []string
	passing := 0
	for _, g := range b.S.LastGates {
		if passing += g.Passing; g.Verdict != session.Pass {
			failed = append(failed, g.Gate)
		}
	}
	names, named := inline(failed)
	switch n := len(b.S.Targets); {
	case d.Class == session.ClassTargetFailing && n > 0 && session.CountsOf(b.S.LastGates).Total() > 0:
		text = fmt.Sprintf("%d of this lap's %s", passing, safetext.Plural(n, "test passes", "tests pass"))
	case d.Class == session.ClassCommandFailed && named:
		text = names + " failed"
	}
	told := b.told()
	if len(told) == 0 || d.Verdict != session.Pass && ownWords[d.Class] {
		return cmp.Or(strings.Join(told, "; "), text)
	}
	return text + "; " + strings.Join(told, "; ")
}

// counts returns a phrase with the numbers of tests that passed and failed; "" if none ran.
func (b standing) counts() string {
	c := session.CountsOf(b.S.LastGates)
	if c.Total() == 0 {
		return ""
	}
	text := fmt.Sprintf("%d passed, %d failed", c.Passed, c.Failed)
	if c.Errors > 0 {
		text += fmt.Sprintf(", %d could not be built or run", c.Errors)
	}
	if slices.ContainsFunc(b.S.LastGates, func(g session.GateResult) bool { return g.TestsOf != nil }) {
		text += ", with the frozen tests"
	}
	return text
}

// ownWords are the classes of results whose reason may be entirely in wfs's own words, without names or output of the
// project.
var ownWords = map[session.Class]bool{session.ClassCommandFailed: true, session.ClassNothingAdded: true,
	session.ClassNoTests: true}

var onlyWords = lazyregexp.New(`^[a-z0-9_,; ]*$`)

// tells returns the reason of a gate that did not pass, if it is safe to use in a sentence; else "".
func tells(g session.GateResult) string {
	if g.Verdict == session.Pass || !ownWords[g.Class] || !onlyWords.MatchString(g.Reason) ||
		!quotable.MatchString(g.Gate) {
		return ""
	}
	if how, ok := strings.CutPrefix(g.Reason, "the command "); ok {
		return fmt.Sprintf("the command of `%s` %s", g.Gate, how)
	}
	return g.Reason
}

// told returns the reasons that the sentence about the last judgement contains. They are not quoted again.
func (b standing) told() []string {
	var all []string
	for _, g := range b.S.LastGates {
		if text := tells(g); text != "" {
			if more, ok := strings.CutPrefix(b.S.Last.Reason, g.Spoken()); ok && onlyWords.MatchString(more) {
				text += more
			}
			all = append(all, text)
		}
	}
	return all
}

// Output adds the reasons of the last judgement and the output of failing tests to the page. It returns "".
func (b *brief) Output() string {
	b.Failures = slices.DeleteFunc(slices.Clone(b.Failures),
		func(f report.Failure) bool { return f.Message == "" && f.Test == report.GateID(f.Gate) })
	lines := b.noted()
	if len(lines)+len(b.Failures) == 0 {
		return ""
	}
	what := "output"
	if session.CountsOf(b.S.LastGates).Total() > 0 {
		what = "test output"
	}
	b.open(what)
	if len(lines) > 0 {
		b.line("%s", strings.Join(lines, "\n"))
	}
	b.quote()
	b.close()
	return ""
}

// noted returns lines with the reasons of the last judgement that are not part of a sentence, and with the names of
// tests whose output is not quoted.
func (b *brief) noted() (lines []string) {
	// The result of a gate as a whole is part of the gate's verdict.
	whole := func(id session.TestID) bool {
		return slices.ContainsFunc(b.S.LastGates, func(g session.GateResult) bool { return id == report.GateID(g.Gate) })
	}
	quoted := func(id session.TestID) bool {
		return whole(id) || slices.ContainsFunc(b.Failures, func(f report.Failure) bool { return f.Test == id })
	}
	d := b.S.Last
	if d.Verdict != session.Pass && !toldApart[d.Class] && !slices.ContainsFunc(b.S.LastGates,
		func(g session.GateResult) bool { return tells(g) != "" && strings.HasPrefix(d.Reason, g.Spoken()) }) {
		lines = append(lines, b.inner(safetext.Line(d.Reason, process.MaxSaid)))
	}
	for _, g := range b.S.LastGates {
		reason := safetext.Line(g.Reason, process.MaxSaid)
		told := g.Class == session.ClassTargetFailing || tells(g) != "" || strings.HasSuffix(d.Reason, g.Reason)
		if g.Verdict != session.Pass && reason != "" && !told {
			lines = append(lines, name(g.Gate)+": "+b.inner(reason))
		}
		lines = slices.Concat(lines, b.named("fails", g.Failing, quoted),
			b.named("failed before this work, not yours to fix", g.KnownRed, whole),
			b.named("passes only in some runs", g.Flaky, whole))
	}
	if b.Req.Started.HalfOpen {
		lines = append(lines, b.named("failed in at least one attempt", b.S.Visit.Failing, whole)...)
	}
	return lines
}

// toldApart are the classes of judgements whose reason another part of the brief gives in its own words.
var toldApart = map[session.Class]bool{session.ClassRejected: true, session.ClassTargetFailing: true,
	session.ClassTestChange: true, session.ClassUnsigned: true}

// named returns a line for each of the tests, after a label. It leaves out the tests for which `but` returns true.
func (b *brief) named(label string, tests []session.TestID, but func(session.TestID) bool) (lines []string) {
	for i, id := range tests {
		if i == maxListed {
			return append(lines, fmt.Sprintf("%s: and %d more", label, len(tests)-i))
		}
		if !but(id) {
			lines = append(lines, label+": "+b.inner(name(id)))
		}
	}
	return lines
}

// quote adds the output of failing tests to the page, at most maxQuoted bytes.
func (b *brief) quote() {
	left := maxQuoted
	for i, f := range b.Failures {
		title := fmt.Sprintf("--- %s: %s", b.inner(name(string(f.Test))), name(string(f.Status)))
		text := b.inner(f.Message)
		if left -= len(title) + len(text); left < 0 {
			text = strings.TrimSpace(cut(text, max(0, left+len(text))))
		}
		b.line("%s", title)
		if text != "" {
			b.line("%s", text)
		}
		if more := len(b.Failures) - i - 1; left < 0 && more > 0 {
			b.line("--- and the output of %d more", more)
			break
		}
	}
}

// Stuck returns the number of attempts in a row that made no progress.
func (b standing) Stuck() int { return max(b.S.Visit.NoProgress, b.S.Visit.SameFailure) }
