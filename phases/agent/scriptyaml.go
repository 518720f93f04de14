package agent

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// maxScript limits the text of a script, in bytes.
const maxScript = 1 << 20

// ParseScript reads a script's YAML:
//
//	version: 1
//	steps:
//	  - phase: RED               # the only key that a step needs
//	    lap: 1
//	    attempt: 1
//	    say: a text to print
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
//	    test_change: the test that is wrong, and why
//	    ask: a question
//	    wait: 15m
//
// A script with any other key or value is an error. The error names all mistakes.
func ParseScript(text string) (*Script, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("the script has %d bytes; at most %d are read", len(text), maxScript)
	}
	var doc struct {
		Version int
		Steps   []Step
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	dec.KnownFields(true)
	var wrong *yaml.TypeError
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the script is empty")
	case errors.As(err, &wrong):
		return nil, errors.New(unknownKey.ReplaceAllString(strings.Join(wrong.Errors, "\n"), `unknown key "$1"`))
	case err != nil:
		return nil, fmt.Errorf("this is not valid YAML: %w", err)
	}
	var errs []error
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		errs = append(errs, errors.New("the script has more than one document"))
	}
	if doc.Version != 1 {
		errs = append(errs, errors.New("version must be 1"))
	}
	if doc.Steps == nil {
		errs = append(errs, errors.New("steps are missing"))
	}
	for i, s := range doc.Steps {
		for _, err := range s.check() {
			errs = append(errs, fmt.Errorf("step %d: %w", i+1, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Script{Steps: doc.Steps}, nil
}

// unknownKey matches the decoder's error for an unknown key.
var unknownKey = lazyregexp.New(`field (.*) not found in type .*`)

func (s *Step) check() (errs []error) {
	if s.Phase == "" {
		errs = append(errs, errors.New("a step needs a phase"))
	}
	if min(s.Lap, s.Attempt, s.Exit) < 0 || s.Exit > 255 || min(s.Hang, s.Wait) < 0 {
		errs = append(errs, errors.New("numbers and durations must not be negative, and exit is at most 255"))
	}
	names := slices.Clone(s.Delete)
	for _, files := range []map[string]string{s.Files, s.Append, s.Scribble} {
		for name := range files {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		// A script may change files in the work tree only, neither the tree's top directory nor files of git.
		local := filepath.Clean(filepath.FromSlash(name))
		if !filepath.IsLocal(local) || local == "." || strings.ContainsRune(name, 0) {
			errs = append(errs, fmt.Errorf("%q is not a path inside the work tree", name))
		} else if slices.Contains(strings.Split(strings.ToLower(filepath.ToSlash(local)), "/"), ".git") {
			errs = append(errs, fmt.Errorf("%q belongs to git", name))
		}
	}
	return errs
}
