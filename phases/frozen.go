package phases

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// frozenGate runs one gate in the clean tree of the tree with frozen tests.
func (j *Judge) frozenGate(ctx context.Context, g workflows.Gate, r session.JudgeRequest) (session.GateResult, *gateRun, error) {
	g.Where = workflows.Clean
	files := j.lapFiles(ctx, r)
	if shown := j.shown(ctx, r.Tree); shown != nil {
		files.now = func(path string) []byte { data, _ := shown(path); return data }
	}
	return j.judgeGate(ctx, g, r, files)
}

// testsOf names the frozen tests.
func testsOf(r session.JudgeRequest) string {
	if r.FrozenAt == nil {
		return "the former tests"
	}
	return fmt.Sprintf("the tests of checkpoint %d", *r.FrozenAt)
}
