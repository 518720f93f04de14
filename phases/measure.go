package phases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// measure runs a gate, or takes what it said before about the same tree in the same surroundings. key is where a result is
// to be kept once it is known to be stable, "" for one that is not kept.
func (j *Judge) measure(ctx context.Context, g workflows.Gate, runDir string) (run *gateRun, key string, err error) {
	at := j
	if g.Where == workflows.Clean && j.clean == nil {
		if run, at, err = j.enterClean(ctx, g); run != nil || err != nil {
			return run, "", err
		}
	}
	if key, err = at.resultKey(ctx, g); err != nil {
		return nil, "", err
	}
	if k := j.Results.get(key); k != nil {
		log := "gate-" + fileName(g.Name) + ".log"
		if err := durable.WriteCache(filepath.Join(runDir, log), []byte(k.text()), 0o600); err != nil {
			return nil, "", err
		}
		return k.run(g, log), "", nil
	}
	run, err = at.runGate(ctx, g, runDir, false)
	return run, key, err
}

// resultKey is made of all that a gate's result depends on, as far as it can be known: the tree; what the gate is; where it
// runs; the environment; the programs and other files that its command names, and what says which version of them is meant;
// and what lies beside the tree, which in a clean tree is the dependencies alone. "" when one of these cannot be known, or
// when the gate is there to change something. What it does not hold, and what docs/workflows.md says so of: the network,
// services, the clock, packages of the system, and what scripts and tests read of git and in other directories.
func (j *Judge) resultKey(ctx context.Context, g workflows.Gate) (string, error) {
	if j.Results == nil || j.judged == "" || g.MayChangeTree {
		return "", nil
	}
	beside := ""
	switch {
	case j.clean != nil:
		beside = j.clean.Digest
	case j.Beside != nil:
		var err error
		if beside, err = j.Beside(ctx); err != nil {
			return "", err
		}
	}
	programs, known := j.programs(g)
	if beside == "" || !known {
		return "", nil
	}
	h := sha256.New()
	add := func(what string, v any) {
		data, _ := json.Marshal(v) // texts and numbers only
		fmt.Fprintf(h, "%s %s\n", what, data)
	}
	if g.Expect == workflows.ExpectRed {
		g.Stable = 0 // RED does not run it as often
	}
	g.Expect, g.Use, g.Timeout = "", "", 0
	add("wfs", []any{resultsVersion, runtime.GOOS, runtime.GOARCH})
	add("tree", j.judged)
	add("gate", g)
	add("root", j.Root)
	add("env", slices.DeleteFunc(slices.Clone(j.Env), func(e string) bool {
		return strings.HasPrefix(e, "XDG_SESSION_") || strings.HasPrefix(e, "XDG_VTNR=") || strings.HasPrefix(e, "XDG_SEAT")
	}))
	add("programs", programs)
	add("beside", beside)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// keep keeps a run that was complete, whose tests did the same twice where they ran twice, and that left the tree as it was.
func (j *Judge) keep(key string, run *gateRun, f finding) {
	if len(f.flaky) == 0 && f.verdict != session.Blocked && f.class != session.ClassTimeout && !run.report.timedOut &&
		run.leads == nil && run.changed == "" {
		j.Results.put(key, run, j.Secrets)
	}
}
