// Package tamper compares two states of a project and says what was done to its tests so that they ask for less: assertions
// that are gone or weaker, expectations that were edited, tests that are skipped or cannot fail any more, fixtures,
// configuration and gates that were changed, and code that looks whether it is tested.
//
// It reads source code by its tokens, in tables by language, and runs nothing. What it cannot read it does not judge. Work
// that keeps all that was asserted, in another layout, order, file or function or under another name, has no findings.
package tamper

import (
	"bytes"
	"slices"
	"strings"
)

// Kind says what a finding is about.
type Kind string

const (
	Deleted     Kind = "test_deleted"
	Emptied     Kind = "test_emptied"        // it asserts nothing any more
	Removed     Kind = "assertion_removed"   //
	Weakened    Kind = "assertion_weakened"  // it asserts less, or what is always true
	Edited      Kind = "expectation_edited"  // it asserts something else
	Input       Kind = "input_edited"        // it tries something else
	Skipped     Kind = "test_skipped"        //
	Only        Kind = "others_not_run"      // only marked tests are run
	Returns     Kind = "test_ends_early"     //
	Dead        Kind = "assertion_not_met"   // a condition that never holds stands before it
	Swallowed   Kind = "failure_swallowed"   // what a test raises is caught
	Exits       Kind = "test_exits"          // the process ends before tests can fail
	Fixture     Kind = "fixture_edited"      // also a snapshot or golden file
	NoFixture   Kind = "fixture_deleted"     //
	Config      Kind = "test_config"         // what is run, and how
	CI          Kind = "ci_config"           //
	Gate        Kind = "gate_changed"        // a script that a gate runs
	Hidden      Kind = "tests_hidden"        // from git
	Patched     Kind = "framework_patched"   // what runs or asserts was replaced
	KnowsTested Kind = "knows_that_it_tests" // code behaves differently under test
	TooMuch     Kind = "too_much_to_compare" // nobody knows what was done to it
	OnlySo      Kind = "passes_only_so"      // with the tests as they were the code does not pass
)

// Kinds lists all of them.
func Kinds() []Kind {
	return []Kind{Deleted, Emptied, Removed, Weakened, Edited, Input, Skipped, Only, Returns, Dead, Swallowed, Exits, Fixture, NoFixture, Config, CI, Gate, Hidden, Patched, KnowsTested, TooMuch, OnlySo}
}

// File is one path that differs between the two states. A side that has no such file is nil.
type File struct {
	Path          string
	Before, After []byte
	Unread        bool // it is too much: its sides are there, or nil, and their texts are not known
	layout        bool // nothing but its layout has changed
	deep          bool // see tooDeep
}

// MaxBytes is how much of changed files a caller should read for one comparison, in bytes of both sides together.
const MaxBytes = 64 << 20

// Finding is one thing that was done. Line is of the new text, or of the old one when that is gone; 0: none.
type Finding struct {
	Kind   Kind
	Path   string
	Test   string
	Line   int
	Before string // one line
	After  string // one line
	Grave  bool   // otherwise it is only worth a word
}

// Request is one comparison.
type Request struct {
	Files []File
	Gates []string // commands of gates, to know the scripts that they run
	// Target reports whether a test is what the work is about now. nil: none is.
	Target func(name string) bool
	// MayRemove lets tests go whose subject goes with them.
	MayRemove bool
}

// Report is what was found.
type Report struct {
	Findings []Finding
	// Gone are the names of tests that went with what they tested.
	Gone []string
}

// Compare says what happened to the tests of a project.
func Compare(r Request) Report {
	r.Files = slices.Clone(r.Files)
	c := &comparison{Request: r}
	c.bound()
	for _, f := range c.Files {
		switch {
		case f.Unread:
			c.unread(f)
		case bytes.Equal(f.Before, f.After) && f.Before != nil && f.After != nil:
		default:
			c.sort(f)
		}
	}
	c.read()
	c.tests()
	c.fixtures()
	c.configs()
	c.sources()
	slices.SortStableFunc(c.out.Findings, func(a, b Finding) int {
		switch {
		case a.Grave != b.Grave && a.Grave:
			return -1
		case a.Grave != b.Grave:
			return 1
		case a.Path != b.Path:
			return strings.Compare(a.Path, b.Path)
		}
		return a.Line - b.Line
	})
	return c.out
}

type comparison struct {
	Request
	out   Report
	test  []pair          // files with tests, parsed
	code  []pair          // the code that is handed over
	data  []File          // fixtures
	rules []File          // configuration of any kind
	texts map[bool]string // of tests, as they were and as they are; nil until somebody asks
	went  map[string]bool // ends of the paths of files that are gone; nil until somebody asks
	steps int             // see maxSteps
	// settled is what movedSettings found; nil until somebody asks.
	settled map[settled]bool
}

// pair is one file on both sides; a side may be nil.
type pair struct {
	path          string
	before, after *parsed
	raw           File
}

func (c *comparison) sort(f File) {
	l := languageOf(f.Path)
	kind := classOf(f.Path)
	both := func(part func([]byte) []byte) pair {
		p := pair{path: f.Path, raw: f}
		if f.layout {
			return p
		}
		if text := part(decoded(f.Before)); f.Before != nil && len(text) > 0 {
			p.before = parse(l, text)
		}
		if text := part(decoded(f.After)); f.After != nil && len(text) > 0 {
			p.after = parse(l, text)
		}
		return p
	}
	compared := func(p pair) {
		if p.before.tooDeep() || p.after.tooDeep() {
			f.deep = true
			c.unread(f)
			p.before, p.after = nil, nil
		}
		c.test = append(c.test, p)
	}
	switch {
	case kind == fixture:
		c.data = append(c.data, f)
	case kind == tests && l != nil:
		compared(both(func(b []byte) []byte { return b }))
	case l != nil && kind == source:
		inside := both(func(b []byte) []byte { _, t := split(f.Path, b); return t })
		if inside.before != nil || inside.after != nil {
			compared(inside)
		}
		c.code = append(c.code, both(func(b []byte) []byte { s, _ := split(f.Path, b); return s }))
		c.rules = append(c.rules, f) // it may be what a gate runs
	default:
		c.rules = append(c.rules, f)
	}
}

// read takes files for fixtures that may be something else by their path, and that a test names.
func (c *comparison) read() {
	c.rules = slices.DeleteFunc(c.rules, func(f File) bool {
		if kind := classOf(f.Path); kind != other || !perhapsRead(f.Path) ||
			!c.mentions(f.Path, false) && !c.mentions(f.Path, true) {
			return false
		}
		c.data = append(c.data, f)
		return true
	})
}

func (c *comparison) found(f Finding) {
	f.Test = ownName(f.Test)
	c.out.Findings = append(c.out.Findings, f)
}
