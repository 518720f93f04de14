package gate

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/report"
)

// Node's test runner says of a file that could not be loaded only that it failed; the reason is nowhere in its JUnit
// report. Loading such a file once more, the way the runner does it (`node FILE` [node:test, "Test runner execution
// model"]), makes Node say it.

const (
	maxExplained   = 10 // files; the first ones tell enough
	explainTimeout = 30 * time.Second
	maxExplanation = 64 << 10 // bytes of stderr that are read
)

func (j *Runner) explainLoadFailures(ctx context.Context, run *Run, env []string, marker string) error {
	node := nodeCommand(run)
	if node == nil {
		return nil
	}
	done := 0
	for i := range run.Report.Broken {
		b := &run.Report.Broken[i]
		if b.Missing != "" || !report.IsScript(b.File) || !strings.HasPrefix(b.Message, "test failed") ||
			done == maxExplained {
			continue
		}
		done++
		stderr := report.Beginning{Most: maxExplanation}
		errs := j.Secrets.Forms().Stream(&stderr)
		res, err := proc.Run(ctx, proc.Spec{Argv: append(append([]string{}, node...), filepath.FromSlash(b.File)),
			Dir: j.Root,
			Env: env, Stderr: errs, Timeout: explainTimeout, Marker: marker})
		_ = errs.Close()
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case res.Ended != proc.Exited || res.Exit == 0:
			continue
		}
		run.Report.Reload(b, j.place().Without(string(stderr.Text)))
	}
	return nil
}

var (
	nodeTest   = lazyregexp.New(`(?:^|\s)((?:\S*/)?node)(\s.*)?\s--test(?:[\s=]|$)(.*)`)
	nodeLoader = lazyregexp.New(`(?:--(?:import|require|loader|experimental-loader|conditions)[=\s]|-[rC]\s)\s*\S+|` +
		`--experimental-(?:strip-types|transform-types|vm-modules|default-type)\S*`)
)

// nodeCommand is the part of a gate's command that says how Node loads a file, nil if the gate does not run
// `node --test`.
func nodeCommand(run *Run) []string {
	m := nodeTest.FindStringSubmatch(strings.NewReplacer(`"`, "", "'", "").Replace(run.Gate.Run.Text()))
	if m == nil {
		return nil
	}
	return append(m[1:2], strings.Fields(strings.Join(nodeLoader.FindAllString(m[2]+" "+m[3], -1), " "))...)
}
