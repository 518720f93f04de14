package workflows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reader turns nodes into values and collects what is wrong. Its methods take a nil node for "not there" and then, as
// after a finding, return the zero value: one mistake is one finding.
type reader struct {
	file     string
	layer    *Layer // of a configuration, nil in a workflow
	cards    Cards  // that a configuration may name
	findings []Finding
}

func (r *reader) fail(line int, format string, args ...any) {
	r.findings = append(r.findings, Finding{File: r.file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// hint adds a remedy to the newest finding.
func (r *reader) hint(format string, args ...any) {
	r.findings[len(r.findings)-1].Hint = fmt.Sprintf(format, args...)
}

// wrong reports a value of the wrong type.
func (r *reader) wrong(n *node, what, want string) {
	if n.kind == unreadable {
		return
	}
	r.fail(n.line, "%s must be %s, not %s", what, want, describe(n))
	if n.kind == scalar && want == "text" && n.tag != "!!null" {
		r.hint("put it in quotes: %q", clip(n.text))
	}
}

func describe(n *node) string {
	switch n.kind {
	case mapping:
		return "a mapping"
	case list:
		return "a list"
	}
	switch n.tag {
	case "!!null":
		return "empty"
	case "!!bool":
		return "the truth value " + clip(n.text)
	case "!!int", "!!float":
		return "the number " + clip(n.text)
	case "!!str":
		return quote(n.text)
	}
	return quote(n.text) + " (" + clip(n.tag) + ")"
}

// fields returns a mapping's values by key, and false when n is no mapping. The table says which keys there are. what
// names the mapping in messages and is "" at the top of the file.
func (r *reader) fields(n *node, what string, o *object) (map[string]*node, bool) {
	if n == nil {
		return nil, false
	}
	if n.kind != mapping {
		if what == "" {
			what = "the file"
		}
		r.wrong(n, what, "a mapping (key: value)")
		return nil, false
	}
	prefix := ""
	if what != "" {
		prefix = what + ": "
	}
	fields := make(map[string]*node, len(n.entries))
	for _, e := range r.entries(n, prefix) {
		if k := o.key(e.key.text); k != nil {
			r.checkPersonal(e, prefix, k)
			fields[e.key.text] = e.value
			continue
		}
		if why := o.elsewhere[e.key.text]; why != "" {
			r.fail(e.key.line, "%s%s %s", prefix, e.key.text, why)
			continue
		}
		r.fail(e.key.line, "%sunknown key %s (%s)", prefix, quote(e.key.text), alternatives(e.key.text, o.names()))
	}
	return fields, true
}

// entries returns a mapping's entries with keys that are text and occur once.
func (r *reader) entries(n *node, prefix string) []entry {
	first := make(map[string]int, len(n.entries))
	var entries []entry
	for _, e := range n.entries {
		if e.key.kind == unreadable || e.key.tag == "!!merge" && e.value.kind == unreadable {
			continue
		}
		if e.key.kind != scalar || e.key.tag == "!!null" {
			r.fail(e.key.line, "%sa key must be text, not %s", prefix, describe(e.key))
			continue
		}
		if line, twice := first[e.key.text]; twice {
			r.fail(e.key.line, "%sduplicate key %s (first in line %d)", prefix, quote(e.key.text), line)
			continue
		}
		first[e.key.text] = e.key.line
		entries = append(entries, e)
	}
	return entries
}

// items returns a list's items; what is there must hold at least one.
func (r *reader) items(n *node, what, of string) []*node {
	if n == nil {
		return nil
	}
	if n.kind != list {
		r.wrong(n, what, "a list of "+of)
		return nil
	}
	if len(n.items) == 0 {
		r.fail(n.line, "%s is an empty list", what)
	}
	return n.items
}

// text returns a text that is not blank.
func (r *reader) text(n *node, what string) string {
	if n == nil {
		return ""
	}
	if n.kind != scalar || n.tag != "!!str" {
		r.wrong(n, what, "text")
		return ""
	}
	if strings.TrimSpace(n.text) == "" {
		r.fail(n.line, "%s is empty", what)
		return ""
	}
	if strings.ContainsFunc(n.text, isControl) {
		r.fail(n.line, "%s holds a control character", what)
		return ""
	}
	return n.text
}

// line returns a text of one line.
func (r *reader) line(n *node, what string) string {
	s := r.text(n, what)
	if strings.Contains(strings.TrimSpace(s), "\n") {
		r.fail(n.line, "%s must be one line", what)
		return ""
	}
	return strings.TrimSpace(s)
}

// name returns a text that is well formed as a name.
func (r *reader) name(n *node, what string) string {
	s := r.text(n, what)
	if s == "" {
		return ""
	}
	if problem := nameProblem(s); problem != "" {
		r.fail(n.line, "%s %s %s", what, quote(s), problem)
		return ""
	}
	return s
}

// word returns one of the allowed words.
func (r *reader) word(n *node, what string, allowed ...string) string {
	if n == nil {
		return ""
	}
	if n.kind != scalar {
		r.wrong(n, what, "one of "+strings.Join(allowed, ", "))
		return ""
	}
	if n.tag != "!!str" || !slices.Contains(allowed, n.text) {
		r.fail(n.line, "%s must be one of %s, not %s", what, strings.Join(allowed, ", "), describe(n))
		if near := Suggest(n.text, allowed); near != "" {
			r.hint("did you mean %s?", near)
		}
		return ""
	}
	return n.text
}

// number returns a whole number from low to high.
func (r *reader) number(n *node, what string, low, high int) int {
	if n == nil {
		return 0
	}
	if n.kind != scalar || n.tag != "!!int" {
		r.wrong(n, what, "a whole number")
		return 0
	}
	v, err := strconv.Atoi(n.text)
	if err != nil || v < low || v > high {
		r.fail(n.line, "%s must be a whole number from %d to %d, not %s", what, low, high, clip(n.text))
		return 0
	}
	return v
}

func (r *reader) truth(n *node, what string) bool {
	if n == nil {
		return false
	}
	if n.kind != scalar || n.tag != "!!bool" {
		r.wrong(n, what, "true or false")
		return false
	}
	return strings.EqualFold(n.text, "true")
}

// maxNewFiles bounds a number of files.
const maxNewFiles = 10_000_000

// size returns a number of bytes written as 500KB, 10MB or 2GB, whose units are 1024 times each other; 0 when there is
// none.
func (r *reader) size(n *node, what string) int64 {
	if n == nil {
		return 0
	}
	if n.kind != scalar || n.tag == "!!null" {
		r.wrong(n, what, "a size (500KB, 10MB, 2GB)")
		return 0
	}
	for i, unit := range []string{"KB", "MB", "GB"} {
		digits, ok := strings.CutSuffix(n.text, unit)
		if v, err := strconv.Atoi(digits); ok && err == nil && v > 0 && len(digits) <= 6 && digits[0] != '0' && digits[0] != '+' {
			return int64(v) << (10 * (i + 1))
		}
	}
	r.fail(n.line, "%s must be a size (500KB, 10MB, 2GB), not %s", what, quote(n.text))
	return 0
}

// maxDuration bounds time-outs: a week. More is a mistyped unit.
const maxDuration = 7 * 24 * time.Hour

// duration returns a positive duration in Go's notation, or fallback when there is none.
func (r *reader) duration(n *node, what string, fallback time.Duration) time.Duration {
	const example = "90s, 10m, 1h30m"
	switch {
	case n == nil:
		return fallback
	case n.kind == scalar && n.tag == "!!int" && n.text != "0":
		r.fail(n.line, "%s needs a unit: %ss or %sm?", what, clip(n.text), clip(n.text))
		return fallback
	case n.kind != scalar || n.tag == "!!null":
		r.wrong(n, what, "a duration ("+example+")")
		return fallback
	}
	d, err := time.ParseDuration(n.text)
	switch {
	case err != nil:
		r.fail(n.line, "%s must be a duration (%s), not %s", what, example, quote(n.text))
	case d <= 0:
		r.fail(n.line, "%s must be longer than nothing", what)
	case d > maxDuration:
		r.fail(n.line, "%s must be at most %dh, not %s", what, int(maxDuration.Hours()), clip(n.text))
	default:
		return d
	}
	return fallback
}

// command returns something to execute: a text for the shell, or a list of arguments.
func (r *reader) command(n *node, what string) Command {
	if n == nil || n.kind == unreadable {
		return Command{}
	}
	if n.kind != list {
		if n.kind == mapping || n.tag != "!!str" {
			r.wrong(n, what, "a command: text for the shell, or a list of arguments")
			return Command{}
		}
		return Command{Shell: strings.TrimRight(r.text(n, what), "\n")}
	}
	var argv []string
	for i, item := range r.items(n, what, "arguments") {
		switch {
		case item.kind == scalar && item.tag == "!!str" && item.text == "" && i > 0:
			argv = append(argv, "")
		default:
			argv = append(argv, r.text(item, fmt.Sprintf("%s: argument %d", what, i)))
		}
	}
	return Command{Argv: argv}
}

// isControl reports characters that no text of a workflow needs and that can mislead a terminal or end a C string.
func isControl(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0
}

// quote shows a text of unknown content and length in a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

// clip shortens a text for a message and takes out what is not printable.
func clip(s string) string {
	const most = 60
	var b strings.Builder
	n := 0
	for _, c := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if !strconv.IsPrint(c) {
			c = '?'
		}
		b.WriteRune(c)
	}
	return b.String()
}
