package phases

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// frozenGate runs one gate in the clean tree of the tree with frozen tests. One that runs in place otherwise, and fails, may
// want what lies in the work tree beside the tree.
func (j *Judge) frozenGate(ctx context.Context, g workflows.Gate, r session.JudgeRequest) (session.GateResult, *gateRun, error) {
	inPlace := g.Where != workflows.Clean
	g.Where = workflows.Clean
	run := func(j *Judge) (session.GateResult, *gateRun, error) {
		files := j.lapFiles(ctx, r)
		if shown := j.shown(ctx, r.Tree); shown != nil {
			files.now = func(path string) []byte { data, _ := shown(path); return data }
		}
		return j.judgeGate(ctx, g, r, files)
	}
	res, done, err := run(j)
	if err != nil || res.Verdict == session.Pass || !inPlace || j.Whole == nil {
		return res, done, err
	}
	whole := *j
	whole.Clean = j.Whole
	again, second, err := run(&whole)
	if err != nil {
		return res, done, nil // what is known is the first
	}
	if _, err := j.Clean(ctx, r.Tree); err != nil { // what was brought may be secret
		return res, done, err
	}
	return again, second, nil
}

// testsOf names the frozen tests.
func testsOf(r session.JudgeRequest) string {
	if r.FrozenAt == nil {
		return "the tests as they were"
	}
	return fmt.Sprintf("the tests of checkpoint %d", *r.FrozenAt)
}
