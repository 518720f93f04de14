package gate

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/report"
)

// Node's test runner and its JUnit report only say that a test file could not be loaded, and give no reason. So wfs
// loads the file once more, as the runner does (`node FILE` [node:test, "Test runner execution model"]). Node then
// prints the reason.

const (
	maxExplained   = 10 // files whose reason is looked up; a few are enough
	explainTimeout = 30 * time.Second
	maxExplanation = 64 << 10 // bytes of standard error that are kept
)

func (j *Runner) explainLoadFailures(ctx context.Context, run *Run, env []string, marker string) error {
	node := nodeCommand(run)
	if node == nil {
		return nil
	}
	done := 0
	for i := range run.Report.Broken {
		b := &run.Report.Broken[i]
		unexplained := b.Missing == "" && report.IsScript(b.File) && strings.HasPrefix(b.Message, "test failed")
		if !unexplained || done == maxExplained {
			continue
		}
		done++
		text, err := j.load(ctx, append(slices.Clone(node), filepath.FromSlash(b.File)), env, marker)
		if err != nil {
			return err
		}
		if text != "" {
			run.Report.Reload(b, j.place().Without(text))
		}
	}
	return nil
}

// nodeDied reports whether Node ended before it reported the result of any test. A rejected promise that nothing awaits
// ends it, and a test may make one as an argument for a function that is still to be written. Where tests should fail,
// the gate runs again, and Node only warns of such promises: then the runner can report how each test fails.
func (g *Run) nodeDied() bool {
	c := g.Report.Tests.Count()
	return g.Gate.Format.PerTest() && g.Exit != 0 && c.Passed+c.Failed == 0 &&
		slices.ContainsFunc(g.printed, func(line string) bool { return strings.HasPrefix(line, "Node.js v") })
}

// load loads a file with Node, and returns Node's error output; "" if the file can be loaded.
func (j *Runner) load(ctx context.Context, argv, env []string, marker string) (string, error) {
	stderr := report.Beginning{Most: maxExplanation}
	errs := j.Secrets.Forms().Stream(&stderr)
	res, err := proc.Run(ctx, proc.Spec{Argv: argv, Dir: j.Root, Env: env, Stderr: errs, Timeout: explainTimeout,
		Marker: marker})
	_ = errs.Close()
	if err = cmp.Or(err, ctx.Err()); err != nil || res.Ended != proc.Exited || res.Exit == 0 {
		return "", err
	}
	return string(stderr.Text), nil
}

var (
	nodeTest   = lazyregexp.New(`(?:^|\s)((?:\S*/)?node)(\s.*)?\s--test(?:[\s=]|$)(.*)`)
	nodeLoader = lazyregexp.New(`(?:--(?:import|require|loader|experimental-loader|conditions)[=\s]|-[rC]\s)\s*\S+|` +
		`--experimental-(?:strip-types|transform-types|vm-modules|default-type)\S*`)
)

// nodeCommand returns the words of a gate's command that determine how Node loads a file: the program and its loader
// options. It returns nil if the gate does not run `node --test`.
func nodeCommand(run *Run) []string {
	m := nodeTest.FindStringSubmatch(strings.NewReplacer(`"`, "", "'", "").Replace(run.Gate.Run.Text()))
	if m == nil {
		return nil
	}
	return append(m[1:2], strings.Fields(strings.Join(nodeLoader.FindAllString(m[2]+" "+m[3], -1), " "))...)
}
