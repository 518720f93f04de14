package present

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// evidence prints a checkpoint's evidence, and the files that are missing from the checkpoint.
type evidence struct{ *Screen }

// gates prints gate results. With `all` it also prints the reasons of gates that passed, the target tests and flaky
// tests.
func (c evidence) gates(list []session.GateResult, indent string, all bool) {
	names := func(what string, tests []session.TestID, most int, reason string) {
		for _, t := range tests[:min(len(tests), most)] {
			if !strings.Contains(reason, string(t)) {
				c.Out("%s  %s: %s", indent, what, t)
			}
		}
	}
	for _, g := range list {
		c.Out("%sgate %s", indent, GateLine(g))
		if g.FirstError != "" {
			c.Out("%s  %s", indent, g.FirstError)
		}
		if all || g.Verdict != session.Pass && !strings.Contains(GateSays(g).String(), g.Reason) {
			c.Out("%s  %s", indent, g.Reason)
		}
		if !all {
			names("failing", g.Failing, 10, "")
			continue
		}
		names("failing", g.Failing, 20, g.Reason)
		names("flaky", g.Flaky, 20, "")
		names("target", g.Targets, 20, "")
	}
}

// letIn suggests a command that allows one of the files that a checkpoint leaves out. It returns "" if the checkpoint
// leaves out none.
func (c evidence) letIn(cp *session.Checkpoint) string {
	if i := slices.IndexFunc(cp.Skipped, func(s session.Skip) bool { return s.Rule != "" }); i >= 0 {
		return "remove the key; if it is not a real one: " + c.allow(cp.Skipped[i].Path)
	}
	if len(cp.HeldOut) == 0 {
		return ""
	}
	// Do not suggest allowing a key or a secret if the checkpoint also leaves out another file.
	i := slices.IndexFunc(cp.HeldOut,
		func(h session.Held) bool { return h.Why != session.HoldKey && h.Why != session.HoldSecret })
	return "to allow one: " + c.allow(cp.HeldOut[max(i, 0)].Path) + "; to exclude it permanently: add it to .gitignore"
}

func (c evidence) allow(path string) string {
	return c.Facts.Typed("wfs allow "+safetext.ShellWord(path), "", "")
}

// Lacks prints on standard error which files are missing from a checkpoint, and warns if the checkpoint deletes most
// files.
func (c *Screen) Lacks(cp *session.Checkpoint, indent string) {
	if cp == nil {
		return
	}
	for _, s := range cp.Skipped[:min(len(cp.Skipped), MostSaid)] {
		c.Note("%snot in the checkpoint: %s (%s)", indent, s.Path, s.Why)
	}
	if n := len(cp.Skipped) - MostSaid; n > 0 {
		c.Note("%snot in the checkpoint: and %d more", indent, n)
	}
	if i := slices.IndexFunc(cp.Skipped, func(s session.Skip) bool { return s.Why == session.SkipNested }); i >= 0 {
		c.Note("%s  to include its commit: git submodule add URL %s, then wfs checkpoint; to ignore it: add it to .gitignore", indent,
			safetext.ShellWord(cp.Skipped[i].Path))
	}
	if len(cp.HeldOut) > 0 {
		c.Note("%sexcluded from the checkpoint: %s", indent,
			Lacks(&session.Checkpoint{Incomplete: true, HeldOut: cp.HeldOut}))
	}
	e := evidence{c}
	if text := e.letIn(cp); text != "" {
		c.Note("%s  %s", indent, text)
	}
	e.deletes(c.Note, cp, indent)
}

// deletes warns if a checkpoint deletes most files, and prints the command that restores them.
func (c evidence) deletes(say func(string, ...any), cp *session.Checkpoint, indent string) {
	if cp.Deleted != nil {
		say("%swarning: checkpoint %d deletes %d of %d files; to go back: %s", indent, cp.Number, cp.Deleted.Files,
			cp.Deleted.Of,
			c.Facts.Typed(fmt.Sprintf("wfs resume @%d", cp.Number-1), "", ""))
	}
}

// incomplete prints on standard output which files are missing from the current checkpoint, the warning about mass
// deletions, a failed proof in a clean checkout, and the hold-out results.
func (c evidence) incomplete(s *session.Session) {
	cp := s.At(s.Current)
	if cp == nil {
		return
	}
	if text := Lacks(cp); text != "" {
		c.Out("incomplete: checkpoint %d lacks %s", cp.Number, text)
		if text := c.letIn(cp); text != "" {
			c.Out("  %s", text)
		}
	}
	c.deletes(c.Out, cp, "")
	c.proof(ProofOf(s))
	c.holdout(s.HoldoutAt(s.Current))
}

// proof prints the result of the proof (the run of all gates in a clean checkout) if it did not pass.
func (c evidence) proof(p *session.Proof) {
	if p == nil || p.Verdict == session.Pass {
		return
	}
	c.Out("%s", ProofLine(p))
	if len(p.Lacks) > 0 {
		c.Out("  %s", Remedies)
	}
}

// holdout prints the result of the hold-out tests. It names the failing ones if the session reveals names.
func (c evidence) holdout(r *session.HoldoutResult) {
	if r == nil {
		return
	}
	c.Out("%s", r.Reason)
	for _, t := range r.Failing[:min(len(r.Failing), 10)] {
		c.Out("  hold-out: %s", t)
	}
}

// review prints a reviewer's verdict and findings.
func (c evidence) review(r *session.Review) {
	if r == nil {
		return
	}
	c.Out("the reviewer says: %s%s", r.Verdict, By(r.By))
	for _, f := range r.Findings {
		at := f.Path
		if at != "" && f.Line > 0 {
			at += ":" + fmt.Sprint(f.Line)
		}
		if at != "" {
			at += ": "
		}
		c.Out("  %s%s", at, f.What)
	}
	if r.More > 0 {
		c.Out("  and %d more", r.More)
	}
}

// flaky names the flaky tests. wfs ignores their results.
func (c evidence) flaky(tests []session.TestID) {
	if len(tests) > 0 {
		c.Out("flaky, and ignored: %s", safetext.First(tests, 5, ", "))
	}
}

// notRun names the gates that have not run yet, so that users know that a pass says nothing about them.
func (c evidence) notRun(gates []session.NotRun) {
	for _, n := range gates {
		c.Out("  gate %s has not run: %s", n.Gate, n.Why)
	}
}

// forced names the phases that were skipped or passed without a verdict, so that readers do not take them for judged.
func (c evidence) forced(skipped []session.SkippedPhase) {
	for _, p := range skipped {
		what := "was skipped"
		if p.Anyway {
			what = "passed, not judged,"
		}
		if p.Before {
			c.Out("not judged: %s in lap %d: %s", p.Phase, p.Lap, p.Why)
			continue
		}
		c.Out("forced: %s %s in lap %d by a person: %s", p.Phase, what, p.Lap, cmp.Or(p.Why, "no reason given"))
	}
}

// tampered prints suspicious changes to tests, except findings that the text `above` already mentions.
func (c evidence) tampered(list []session.Tampering, above string) {
	for _, t := range list {
		c.Out("tests: %s%s", NoteMark(t), t.Beside(above))
	}
}

// Checkpoint is the output of `wfs show SESSION@N --json`: a checkpoint with its evidence.
type Checkpoint struct {
	Version     int                    `json:"version"`
	ID          session.ID             `json:"id"`
	Address     string                 `json:"address"`
	Checkpoint  session.Checkpoint     `json:"checkpoint"`
	Reason      string                 `json:"reason,omitempty"` // of the verdict
	Gates       []session.GateResult   `json:"gates,omitempty"`
	NotRun      []session.NotRun       `json:"not_run,omitempty"` // gates that have not run yet
	Proof       *session.Proof         `json:"proof,omitempty"`
	Holdout     *session.HoldoutResult `json:"holdout,omitempty"`
	Evidence    *session.Evidence      `json:"evidence,omitempty"`
	Tampered    []session.Tampering    `json:"tampered,omitempty"` // suspicious changes to tests
	Experiments []session.Experiment   `json:"experiments,omitempty"`
	Review      *session.Review        `json:"review,omitempty"` // the review, if the phase was one
	RunID       string                 `json:"run_id,omitempty"`
	Logs        string                 `json:"logs,omitempty"`         // directory on this machine
	HoldoutLogs string                 `json:"holdout_logs,omitempty"` // separate, because agents must not see it
	Body        string                 `json:"body"`                   // of the commit message
}

// Checkpoint prints a checkpoint with its evidence. `subject` is the subject of its commit; `refuted` says that the
// agent claimed to be done here, and gates disagreed.
func (c *Screen) Checkpoint(j *Checkpoint, subject string, refuted bool) {
	cp, e := &j.Checkpoint, evidence{c}
	c.Out("%s  %s", j.Address, subject)
	c.Out("commit %s  %s", cp.Code, time.Unix(cp.At, 0).UTC().Format("2006-01-02 15:04 UTC"))
	if j.Reason != "" {
		c.Out("%s: %s", Verdict(cp.Verdict, cp.Class), j.Reason)
	}
	if refuted {
		c.Out("the agent said it is done")
	}
	e.review(j.Review)
	e.forced(cp.SkippedPhases)
	e.gates(j.Gates, "", true)
	e.notRun(j.NotRun)
	for _, x := range j.Experiments {
		c.Out("tried: %s", x.Says)
	}
	if j.Proof != nil {
		c.Out("%s", ProofLine(j.Proof))
	}
	e.holdout(j.Holdout)
	if j.HoldoutLogs != "" {
		c.Out("what the hold-out tests printed: %s", j.HoldoutLogs)
	}
	e.tampered(j.Tampered, j.Reason)
	if text := Cost(cp.Used); text != "" {
		c.Out("cost: %s", text)
	}
	if text := Lacks(cp); text != "" {
		c.Out("incomplete: it lacks %s", text)
	}
	e.deletes(c.Out, cp, "")
	if j.Logs != "" {
		c.Out("logs: %s", j.Logs)
	}
}

// Proved prints two results about work that is being handed over: a proof that did not pass, and the hold-out tests.
func (c *Screen) Proved(p *session.Proof, r *session.HoldoutResult) {
	e := evidence{c}
	e.proof(p)
	e.holdout(r)
}

// Checkpoints prints a session's checkpoints, one a line. Below them it prints, for the whole session, the flaky tests,
// the phases without a verdict, and suspicious changes to tests.
func (c *Screen) Checkpoints(s *session.Session, list []session.Checkpoint) {
	lines, wide := []Styled{}, PhaseColumns(s.Checkpoints)
	for _, cp := range list {
		lines = append(lines, CheckpointLine(s, cp, wide))
	}
	c.Lines(lines)
	e := evidence{c}
	e.flaky(s.FlakyTests())
	e.forced(s.SkippedPhases)
	e.tampered(s.TamperedOn(), "")
}
