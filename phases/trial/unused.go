package trial

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Unused lists code files without which a gate's tests pass, and how many tests do.
type Unused struct {
	Files  []string `json:"files"`
	Passed int      `json:"passed"`
}

// longestUnused limits the experiment to gates that take at most so long, in milliseconds. Tests that need the code
// fail much faster without it.
const longestUnused = 60_000

// invalid is the text of a code file that no language can load.
const invalid = "wfs made this file invalid, to see whether the tests use it (((\n"

// FindUnused checks that a gate's tests use the code of a tree, and not a copy of it that is installed elsewhere. It
// makes all code invalid, and runs the gate in a clean checkout. If nearly as many tests pass there as on the tree
// itself, which gave the result `was`, it returns that. It returns nil otherwise, also if the experiment says nothing:
// no test mentions a code file, or the gate is slow.
func (b *Bench) FindUnused(ctx context.Context, g workflows.Gate, tree session.Tree, was session.GateResult,
	runDir string) (*Unused, error) {
	passed := was.Counts.Passed
	if !g.Format.PerTest() || g.MayChangeTree || passed == 0 || was.Millis > longestUnused {
		return nil, nil
	}
	code, err := b.mentioned(ctx, g, tree)
	if len(code.paths) == 0 || err != nil {
		return nil, err
	}
	if tree, err = b.WithTexts(ctx, tree, code.texts); err != nil {
		return nil, err
	}
	b.Say("gate " + g.Name + " without the code, to see whether the tests use it …")
	g.Where, g.Timeout = workflows.Clean, min(g.Timeout, 2*longestUnused*time.Millisecond)
	run, err := b.Run(ctx, g, gate.On{Tree: tree, Dir: runDir, Name: "unused"})
	if err != nil || !run.Ran() || run.Astray() != "" {
		return nil, err
	}
	u := &Unused{code.paths, run.Report.Tests.Count().Passed}
	if u.Passed*20 < passed*19 { // some tests may be flaky, or need the work tree
		return nil, nil
	}
	return u, nil
}

// mentioned returns all code files of a tree with an invalid text, or none if no test mentions one of them by the name
// of the file or of its directory. The tests may be about something else then, such as a program in C.
func (b *Bench) mentioned(ctx context.Context, g workflows.Gate, tree session.Tree) (code altered, err error) {
	paths, err := b.Paths(ctx, tree)
	if err != nil {
		return code, err
	}
	for _, p := range paths {
		if report.IsCode(p) && !testpaths.AboutTests(p) && !testpaths.IsManifest(p) && !testpaths.IsHidden(p) &&
			!verdict.OwnFile(p) && !NamedByGate([]workflows.Gate{g}, p) {
			code.add(p, []byte(invalid), 1)
		}
	}
	for _, p := range paths {
		if !testpaths.IsTest(p) || !report.IsCode(p) {
			continue
		}
		words := map[string]bool{}
		for word := range strings.FieldsFuncSeq(string(b.shown(ctx, tree)(p)), func(c rune) bool {
			return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		}) {
			words[word] = true
		}
		named := func(p string) bool {
			return words[strings.TrimSuffix(path.Base(p), path.Ext(p))] || words[path.Base(path.Dir(p))]
		}
		if at := slices.IndexFunc(code.paths, named); at >= 0 {
			code.paths = slices.Concat(code.paths[at:], code.paths[:at]) // people see the first ones
			return code, nil
		}
	}
	return altered{}, nil
}
