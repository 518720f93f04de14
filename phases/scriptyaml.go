package phases

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wfs-dev/wfs/workflows"
)

// maxScript bounds a script's text, in bytes.
const maxScript = 1 << 20

// ScriptError is one reason why a script is refused.
type ScriptError struct {
	Line    int // from 1
	Message string
}

func (e *ScriptError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// ParseScript reads a script's YAML:
//
//	version: 1
//	steps:
//	  - phase: RED               # the only key that a step needs
//	    lap: 1
//	    attempt: 1
//	    say: what it claims
//	    files: {calc_test.go: "…"}
//	    append: {notes.md: "…"}
//	    delete: [old.go]
//	    scribble: {calc.go: "…"}
//	    hang: 30s
//	    done: true
//	    continue: true
//	    exit: 1
//	    nothing_left: the existing test that shows it
//	    note: for the next attempt
//	    ask: a question
//	    wait: 15m
//
// Anything else is an error. All errors, each a *ScriptError, are returned at once, in the order of lines.
func ParseScript(text string) (*Script, []error) {
	p := &scriptParser{}
	s := &Script{}
	if doc := p.document(text); doc != nil {
		fields := p.mapping(doc, "the script", "version", "steps")
		if v := fields["version"]; v == nil {
			p.fail(doc.Line, "version is missing: write version: 1")
		} else if v.Value != "1" || v.ShortTag() != "!!int" {
			p.fail(v.Line, "version must be 1")
		}
		if steps := fields["steps"]; steps == nil {
			p.fail(doc.Line, "steps are missing")
		} else if steps.Kind != yaml.SequenceNode {
			p.fail(steps.Line, "steps must be a list")
		} else {
			for _, n := range steps.Content {
				s.Steps = append(s.Steps, p.step(n))
			}
		}
	}
	if len(p.errs) > 0 {
		slices.SortStableFunc(p.errs, func(a, b *ScriptError) int { return cmp.Compare(a.Line, b.Line) })
		errs := make([]error, len(p.errs))
		for i, e := range p.errs {
			errs[i] = e
		}
		return nil, errs
	}
	return s, nil
}

type scriptParser struct{ errs []*ScriptError }

func (p *scriptParser) fail(line int, format string, args ...any) {
	p.errs = append(p.errs, &ScriptError{Line: max(1, line), Message: fmt.Sprintf(format, args...)})
}

func (p *scriptParser) document(text string) *yaml.Node {
	if len(text) > maxScript {
		p.fail(1, "the script has %d bytes; at most %d are read", len(text), maxScript)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) != 1:
		p.fail(1, "the script is empty")
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		p.fail(more.Line, "the script has more than one document")
		return nil
	} else if !errors.Is(err, io.EOF) {
		p.syntax(err)
		return nil
	}
	if !p.plain(&doc) {
		return nil
	}
	return doc.Content[0]
}

func (p *scriptParser) syntax(err error) {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if number, rest, ok := strings.Cut(strings.TrimPrefix(message, "line "), ": "); ok {
		if n, err := strconv.Atoi(number); err == nil {
			message, line = rest, n
		}
	}
	p.fail(line, "this is not valid YAML: %s", message)
}

// plain refuses aliases: a few lines of them can stand for gigabytes.
func (p *scriptParser) plain(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		p.fail(n.Line, "aliases are not supported: write the value out")
		return false
	}
	for _, c := range n.Content {
		if !p.plain(c) {
			return false
		}
	}
	return true
}

// mapping returns a mapping's values by key. Without known keys every key is taken.
func (p *scriptParser) mapping(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s must be a mapping (key: value)", what)
		return nil
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" || key.ShortTag() == "!!merge":
			p.fail(key.Line, "%s: a key must be text", what)
		case fields[key.Value] != nil:
			p.fail(key.Line, "%s: duplicate key %q", what, key.Value)
		case len(known) > 0 && !slices.Contains(known, key.Value):
			p.fail(key.Line, "%s: unknown key %q (known keys: %s)", what, key.Value, strings.Join(known, ", "))
		default:
			fields[key.Value] = value
		}
	}
	return fields
}

func (p *scriptParser) step(n *yaml.Node) Step {
	f := p.mapping(n, "a step", "phase", "lap", "attempt", "say", "scribble", "hang", "delete", "files", "append", "exit",
		"done", "continue", "note", "ask", "wait", "test_change", "nothing_left")
	if f != nil && f["phase"] == nil {
		p.fail(n.Line, "a step needs a phase")
	}
	return Step{
		Phase: workflows.PhaseName(p.text(f["phase"], "phase")),
		Lap:   p.number(f["lap"], "lap", 1, 1<<20), Attempt: p.number(f["attempt"], "attempt", 1, 1<<20),
		Say: p.text(f["say"], "say"), Scribble: p.texts(f["scribble"], "scribble"),
		Hang: p.duration(f["hang"], "hang"), Delete: p.paths(f["delete"]),
		Files: p.texts(f["files"], "files"), Append: p.texts(f["append"], "append"),
		Exit: p.number(f["exit"], "exit", 0, 255),
		Done: p.truth(f["done"], "done"), Continue: p.truth(f["continue"], "continue"),
		TestChange: p.text(f["test_change"], "test_change"), NothingLeft: p.text(f["nothing_left"], "nothing_left"), Note: p.text(f["note"], "note"), Ask: p.text(f["ask"], "ask"), Wait: p.duration(f["wait"], "wait"),
	}
}

func (p *scriptParser) text(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		p.fail(n.Line, "%s must be text; put it in quotes", what)
		return ""
	}
	return n.Value
}

func (p *scriptParser) number(n *yaml.Node, what string, least, most int) int {
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || v < least || v > most {
		p.fail(n.Line, "%s must be a whole number from %d to %d", what, least, most)
		return 0
	}
	return v
}

func (p *scriptParser) truth(n *yaml.Node, what string) bool {
	if n == nil {
		return false
	}
	if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
		p.fail(n.Line, "%s must be true or false", what)
	}
	return n.Value == "true"
}

func (p *scriptParser) duration(n *yaml.Node, what string) time.Duration {
	if n == nil {
		return 0
	}
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		p.fail(n.Line, "%s must be a duration such as 30s or 15m", what)
		return 0
	}
	return d
}

func (p *scriptParser) texts(n *yaml.Node, what string) map[string]string {
	if n == nil {
		return nil
	}
	files := map[string]string{}
	for name, value := range p.mapping(n, what) {
		p.path(name, value.Line)
		files[name] = p.text(value, what+": "+strconv.Quote(name))
	}
	return files
}

func (p *scriptParser) paths(n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "delete must be a list of paths")
		return nil
	}
	var list []string
	for _, item := range n.Content {
		name := p.text(item, "a path")
		p.path(name, item.Line)
		list = append(list, name)
	}
	return list
}

// path lets a script touch the work tree's files and nothing else: not what is outside, not the tree itself, and not
// what belongs to git.
func (p *scriptParser) path(name string, line int) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) || filepath.Clean(local) == "." || strings.ContainsRune(name, 0) {
		p.fail(line, "%q is not a path inside the work tree", name)
		return
	}
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(local)), "/") {
		if strings.EqualFold(part, ".git") {
			p.fail(line, "%q belongs to git", name)
			return
		}
	}
}
