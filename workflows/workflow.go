package workflows

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// FormatVersion is the version of the workflow and configuration files that this package reads.
const FormatVersion = 1

// Default time limits. A test suite rarely takes longer than ten minutes, and its gate can set another timeout. An
// agent that prints nothing for half an hour, or works on one phase for two hours, usually hangs.
const (
	DefaultGateTimeout  = 10 * time.Minute
	DefaultAgentIdle    = 30 * time.Minute
	DefaultAgentTimeout = 2 * time.Hour
)

// maxPhases is the maximum number of phases of a workflow. It limits the time that checking takes.
const maxPhases = 100

// ParseWorkflow reads and checks the text of a workflow. `file` is its name in findings. All mistakes are returned as
// findings, sorted by line; if there are any, the workflow is nil.
func ParseWorkflow(file string, text []byte) (*Workflow, []Finding) {
	w, findings := parseFile[Workflow](file, text, objects().workflow)
	if w != nil {
		w.Version = FormatVersion
	}
	return w, findings
}

// parseFile reads a file that is not a layer of configuration: a workflow or a card.
func parseFile[T any](file string, text []byte, o *object) (*T, []Finding) {
	r := &reader{file: file, lines: map[string]int{}, names: map[string][2]string{}}
	var v *T
	if root := r.load(text); root != nil && r.version(root) {
		r.value(root, "", &shape{kind: anObject, object: o}, reflect.ValueOf(&v).Elem())
	}
	sortFindings(r.findings)
	if len(r.findings) > 0 {
		return nil, r.findings
	}
	return v, nil
}

// version checks the version of a file, and reports whether the rest of the file should be read. A file for a newer wfs
// is not read further, because its new keys would be reported as mistakes.
func (r *reader) version(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		return true // object reports this
	}
	i := slices.IndexFunc(root.Content, func(n *yaml.Node) bool { return n.Value == "version" })
	if i < 0 || i%2 == 1 {
		r.failIn(1, "version", " is missing\nbegin the file with: version: %d", FormatVersion)
		return true
	}
	n := root.Content[i+1]
	v, err := strconv.Atoi(n.Value)
	switch whole := err == nil && n.ShortTag() == "!!int"; {
	case n.Kind == yaml.AliasNode, whole && v == FormatVersion:
	case whole && v > FormatVersion:
		r.findings = nil
		r.failIn(n.Line, "version", " %d is newer than this wfs, which reads version %d\na newer wfs may read it",
			v, FormatVersion)
		return false
	default:
		r.failIn(n.Line, "version", " must be the number %d, not %s", FormatVersion, describe(n))
	}
	return true
}

func (w *Workflow) check(r *reader, _ string) {
	switch {
	case len(w.Phases) == 0: // the missing phases were reported before
	case len(w.Phases) > maxPhases:
		r.fail("phases", ": %d are too many: at most %d", len(w.Phases), maxPhases)
	default:
		w.checkGateNames(r)
		if w.Laps != nil {
			w.checkLaps(r)
		}
		w.checkGraph(r)
	}
}

func (p *Phase) check(r *reader, at string) {
	if !r.has(at, "gates") && !p.Run.Human {
		r.fail(at, ": gates is missing: without a gate wfs would have to believe the agent\n"+
			"gates: [{use: tests}] uses the gate of .wfs/config.yaml that is called tests")
	}
	p.On = map[Verdict]PhaseName{Pass: p.Targets.Pass, Fail: cmp.Or(p.Targets.Fail, p.Name)}
	p.HalfOpen, p.Targets, p.Half = p.Half.Agent, on{}, halfOpen{}
	if p.Signal == SignalAuto || !r.has(at, "signal") && (p.Review != nil || !p.Run.Agent) {
		p.Signal = ""
	}
	if p.Run.Human {
		r.refuse(at, ": a person answers with approve or reject", "signal")
		r.refuse(at, ": a person reviews with approve and reject; leave review away", "review")
	}
	if !p.Run.Agent {
		r.refuse(at, ": no agent works here", "half-open")
	}
	p.checkReview(r, at)
}

func (p *Phase) checkReview(r *reader, at string) {
	if p.Review != nil && p.Signal != "" {
		r.refuse(at, ": its verdict is the signal; leave signal away", "review")
	}
	if p.Review != nil && len(p.Guards.Only)+len(p.Guards.Except) == 0 {
		p.Guards.Only = []string{DocumentsPattern}
	}
}

func (run *Run) check(r *reader, at string) {
	run.Agent = r.has(at, "agent")
	switch command := r.has(at, "command"); {
	case run.Agent && command:
		r.fail(at, " names both an agent and a command: choose one")
	case !run.Agent && !command:
		r.fail(at, " is empty: agent, human, {agent: …} or {command: …}")
	}
}
