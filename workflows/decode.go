package workflows

import (
	"fmt"
	"strings"
	"time"
)

// FormatVersion is the version of the workflow and configuration files that this package reads.
const FormatVersion = 1

// Defaults of what a file leaves out. A test suite that takes longer than ten minutes is rare and can say so; an agent
// that prints nothing for half an hour, or works for two hours at one phase, hangs more often than it thinks.
const (
	DefaultGateTimeout  = 10 * time.Minute
	DefaultAgentIdle    = 30 * time.Minute
	DefaultAgentTimeout = 2 * time.Hour
)

// maxCount bounds limits and laps, maxPhases what one workflow holds. More is a mistake, and would cost time to check.
const (
	maxCount  = 1000
	maxPhases = 100
)

// ParseWorkflow reads and checks a workflow. file names the text in findings. Findings are everything that is wrong, in
// the order of lines; the workflow is nil if there is one.
func ParseWorkflow(file string, text []byte) (*Workflow, []Finding) {
	r := &reader{file: file}
	var w *Workflow
	if root := r.load(text); root != nil && r.version(root) {
		var at positions
		if w, at = r.workflow(root); w != nil {
			r.checkGraph(w, at)
		}
	}
	if len(r.findings) > 0 {
		sortFindings(r.findings)
		return nil, r.findings
	}
	return w, nil
}

// version reports whether the rest of the file is worth reading: what a newer wfs understands would be reported here as
// so many mistakes.
func (r *reader) version(root *node) bool {
	if root.kind != mapping {
		return true // reported by whoever reads the fields
	}
	for _, e := range root.entries {
		if e.key.text != "version" {
			continue
		}
		what := fmt.Sprintf("version must be the number %d", FormatVersion)
		switch n := e.value; {
		case n.kind == scalar && n.tag == "!!int" && n.text == fmt.Sprint(FormatVersion), n.kind == unreadable:
			return true
		case n.kind == scalar && n.tag == "!!int" && !strings.HasPrefix(n.text, "-") && n.text != "0":
			r.findings = nil
			r.fail(n.line, "version %s is newer than this wfs, which reads version %d", clip(n.text), FormatVersion)
			r.hint("a newer wfs may read it")
			return false
		default:
			r.fail(n.line, "%s, not %s", what, describe(n))
			return true
		}
	}
	r.fail(1, "version is missing")
	r.hint("begin the file with: version: %d", FormatVersion)
	return true
}

// positions are the lines of what checkGraph talks about. Phases are parallel to Workflow.Phases.
type positions struct {
	start  int
	laps   int
	phases []phasePosition
}

type phasePosition struct{ line, pass, fail int }

func (r *reader) workflow(root *node) (*Workflow, positions) {
	f, ok := r.fields(root, "", workflowObject)
	if !ok {
		return nil, positions{}
	}
	w := &Workflow{Version: FormatVersion, Description: r.line(f["description"], "description")}
	w.Name = r.name(r.need(f, root, "", "name", "the name that `wfs new --workflow` takes"), "name")
	var at positions
	if n := r.need(f, root, "", "start", "the phase to begin with"); n != nil {
		at.start = n.line
		w.Start = PhaseName(r.text(n, "start"))
	}
	if n := f["laps"]; n != nil {
		at.laps = n.line
		w.Laps = r.laps(n)
	}
	w.Tamper = r.tamper(f["tamper"], "tamper")
	w.Refactor = r.refactor(f["refactor"])
	n := r.need(f, root, "", "phases", "at least one phase by name")
	if n != nil && n.kind != mapping {
		r.wrong(n, "phases", "a mapping of names to phases")
		return nil, at
	}
	if n == nil {
		return nil, at
	}
	if len(n.entries) == 0 {
		r.fail(n.line, "phases is empty")
		return nil, at
	}
	if len(n.entries) > maxPhases {
		r.fail(n.line, "%d phases are too many: at most %d", len(n.entries), maxPhases)
		return nil, at
	}
	names := caseless{}
	for _, e := range r.entries(n, "phases: ") {
		name := e.key.text
		if problem := phaseNameProblem(name); problem != "" {
			r.fail(e.key.line, "phase name %s %s", quote(name), problem)
		} else if other := names.add(name); other != "" {
			r.fail(e.key.line, "phase %s and phase %s differ in nothing but capital letters", name, other)
		}
		p, pos := r.phase(name, e.value)
		w.Phases, at.phases = append(w.Phases, p), append(at.phases, pos)
	}
	r.checkGateNames(w, at)
	return w, at
}

// need returns a field that must be there.
func (r *reader) need(f map[string]*node, n *node, where, key, hint string) *node {
	if f[key] == nil {
		r.fail(n.line, "%s%s is missing", where, key)
		r.hint("%s: %s", key, hint)
	}
	return f[key]
}

func (r *reader) laps(n *node) *Laps {
	laps := &Laps{Agree: AgreePerson}
	f, _ := r.fields(n, "laps", lapsObject)
	if a := r.agree(f["agree"], "laps: agree"); a != "" {
		laps.Agree = a
	}
	laps.Max = r.number(f["max"], "laps: max", 1, maxCount)
	return laps
}

func (r *reader) agree(n *node, what string) Agree {
	return Agree(r.word(n, what, string(AgreePerson), string(AgreeAuto)))
}

// phase reads one phase. A target that it could not read stays "", which checkGraph takes for "anywhere".
func (r *reader) phase(name string, n *node) (Phase, phasePosition) {
	what := "phase " + clip(name)
	p := Phase{Name: PhaseName(name), Run: Run{Agent: true}, On: map[Verdict]PhaseName{}}
	at := phasePosition{line: n.line, pass: n.line, fail: n.line}
	f, ok := r.fields(n, what, phaseObject)
	if !ok {
		return p, at
	}
	what += ": "
	p.Brief = r.text(f["brief"], what+"brief")
	if n := f["run"]; n != nil {
		p.Run = r.run(n, what+"run")
	}
	if f["gates"] == nil && !p.Run.Human {
		r.fail(n.line, "%sgates is missing: without a gate wfs would have to believe the agent", what)
		r.hint("gates: [{use: tests}] uses the gate of .wfs/config.yaml that is called tests")
	}
	for i, item := range r.items(f["gates"], what+"gates", "gates") {
		p.Gates = append(p.Gates, r.gateUse(item, fmt.Sprintf("%sgate %d", what, i+1)))
	}
	p.Guards = r.guards(f["guards"], what+"guards")
	p.Limits = r.limits(f["limits"], what+"limits")
	p.Tamper = r.tamper(f["tamper"], what+"tamper")
	p.Holdout = r.truth(f["holdout"], what+"holdout")
	r.judging(&p, f, what)

	p.On[Fail] = p.Name
	on := r.need(f, n, what, "on", "{pass: another phase, next-lap or done}")
	targets, ok := r.fields(on, what+"on", onObject)
	if !ok {
		return p, at
	}
	if n := r.need(targets, on, what+"on: ", "pass", "another phase, next-lap or done"); n != nil {
		at.pass = n.line
		p.On[Pass] = PhaseName(r.text(n, what+"on: pass"))
	}
	if n := targets["fail"]; n != nil {
		at.fail = n.line
		p.On[Fail] = PhaseName(r.text(n, what+"on: fail"))
	}
	return p, at
}

func (r *reader) run(n *node, what string) Run {
	switch {
	case n.kind == mapping:
		f, _ := r.fields(n, what, runObject)
		switch {
		case f["agent"] != nil && f["command"] != nil:
			r.fail(n.line, "%s names both an agent and a command: choose one", what)
		case f["agent"] != nil:
			return Run{Agent: true, Name: r.name(f["agent"], what+": agent")}
		case len(n.entries) == 0:
			r.fail(n.line, "%s is empty: agent, human, {agent: …} or {command: …}", what)
		}
		return Run{Command: r.command(f["command"], what+": command")}
	case n.kind == scalar && n.tag == "!!str" && n.text == "agent":
		return Run{Agent: true}
	case n.kind == scalar && n.tag == "!!str" && n.text == "human":
		return Run{Human: true}
	}
	r.wrong(n, what, "agent, human, {agent: …} or {command: …}")
	return Run{}
}

func (r *reader) guards(n *node, what string) Guards {
	f, _ := r.fields(n, what, guardsObject)
	return Guards{Only: r.globs(f["only"], what+": only"), Except: r.globs(f["except"], what+": except")}
}

func (r *reader) globs(n *node, what string) []string {
	var globs []string
	for _, item := range r.items(n, what, "patterns") {
		if g := r.glob(item, what, guardProblem); g != "" {
			globs = append(globs, g)
		}
	}
	return globs
}

func (r *reader) glob(n *node, what string, problem func(string) string) string {
	g := r.line(n, what)
	if g == "" {
		return ""
	}
	if p := problem(g); p != "" {
		r.fail(n.line, "%s: pattern %s %s", what, quote(g), p)
		return ""
	}
	return g
}

func (r *reader) limits(n *node, what string) Limits {
	f, _ := r.fields(n, what, limitsObject)
	number := func(key string) int { return r.number(f[key], what+": "+key, 1, maxCount) }
	return Limits{
		Attempts:    number("attempts"),
		NoProgress:  number("no-progress"),
		SameFailure: number("same-failure"),
		FailedRuns:  number("failed-runs"),
	}
}

func (r *reader) config(root *node) *Config {
	c := &Config{Version: FormatVersion, Gates: map[string]Gate{}}
	c.Agent = Agent{Idle: DefaultAgentIdle, Timeout: DefaultAgentTimeout}
	c.Worktree = Worktree{Dir: DefaultWorktreeDir, Timeout: DefaultWorktreeTimeout}
	f, ok := r.fields(root, "", configObject)
	if !ok {
		return c
	}
	c.Workflow = r.name(f["workflow"], "workflow")
	if n := f["agent"]; n != nil {
		c.Agent = r.agent(n, "agent")
	}
	c.Agents = r.agents(f["agents"])
	c.Agree = r.agree(f["agree"], "agree")
	c.Refactor = r.refactor(f["refactor"])
	c.Worktree = r.worktree(f["worktree"])
	c.Budget = r.budget(f["budget"], f["limits"])
	c.Env = r.env(f["env"])
	c.OnEvent = r.command(f["on-event"], "on-event")
	c.MaxFileSize = r.size(f["max-file-size"], "max-file-size")
	c.MaxNewFiles = r.number(f["max-new-files"], "max-new-files", 1, maxNewFiles)
	if n := f["auto-save"]; n != nil && n.kind == scalar && n.text == AutoSaveOff {
		c.AutoSave = -1
	} else {
		c.AutoSave = r.duration(n, "auto-save", 0)
	}
	c.CleanProof = CleanProof(r.word(f["clean-proof"], "clean-proof", string(CleanProofOn), string(CleanProofOff)))
	for _, item := range r.items(f["clean-provide"], "clean-provide", "patterns") {
		if g := r.glob(item, "clean-provide", copyProblem); g != "" {
			c.CleanProvide = append(c.CleanProvide, strings.TrimSuffix(g, "/"))
		}
	}
	c.Holdout = r.holdout(f["holdout"])
	if n := f["finish"]; n != nil {
		fields, _ := r.fields(n, "finish", finishObject)
		c.FinishReport = Report(r.word(fields["report"], "finish: report", string(ReportSummary), string(ReportFull), string(ReportNone)))
	}
	if n := f["gates"]; n != nil && n.kind != mapping {
		r.wrong(n, "gates", "a mapping of names to gates")
	} else if n != nil {
		names := caseless{}
		for _, e := range r.entries(n, "gates: ") {
			name := e.key.text
			if problem := nameProblem(name); problem != "" {
				r.fail(e.key.line, "gate name %s %s", quote(name), problem)
			} else if other := names.add(name); other != "" {
				r.fail(e.key.line, "gate %s and gate %s differ in nothing but capital letters", name, other)
			}
			c.Gates[name] = r.gateDefinition(name, e.value)
		}
	}
	return c
}

func (r *reader) env(n *node) []string {
	var names []string
	seen := map[string]bool{}
	for _, item := range r.items(n, "env", "names of variables") {
		name := r.text(item, "env")
		switch before, _, assigned := strings.Cut(name, "="); {
		case name == "":
		case assigned:
			r.fail(item.line, "env takes names, not values: %s", quote(before))
			r.hint("the value is taken from the environment that wfs is started in")
		case !isVariable(name):
			r.fail(item.line, "env: %s is not a variable name", quote(name))
		case strings.HasPrefix(strings.ToUpper(name), "WFS_"):
			r.fail(item.line, "env: %s belongs to wfs, which sets it by itself", quote(name))
		case seen[name]:
			r.fail(item.line, "env: %s is duplicated", quote(name))
		default:
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func isVariable(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// caseless finds names that some file systems and most people take for the same.
type caseless map[string]string

// add returns the name that was there before, "" if none was.
func (c caseless) add(name string) string {
	low := strings.ToLower(name)
	other := c[low]
	if other == "" {
		c[low] = name
	}
	return other
}
