package phases

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// runCommand keeps the contract of a command agent: the brief on its input and in $WFS_BRIEF, its answer in $WFS_RESULT,
// exit code 75 to be called again later.
func (r *Runner) runCommand(ctx context.Context, c workflows.Command, req session.RunRequest, brief []byte, out *output) (session.RunResult, error) {
	idle, timeout := req.Plan.Agent.Idle, req.Plan.Agent.Timeout // also for a command of the workflow's own
	p, err := r.start(ctx, req, proc.Spec{
		Argv: argv(c), Env: r.env(req), Stdin: brief, Stdout: out, Stderr: out, Idle: idle, Timeout: timeout,
	})
	if err != nil {
		return session.RunResult{}, err
	}
	out.flush()
	res := conclude(p.Exit, readResult(filepath.Join(req.RunDir, ResultFile), r.Secrets, r.Now))
	switch p.Ended {
	case proc.Exited:
		if c.Shell != "" && shellRefused(p.Exit, out.progress.last) {
			res.Outcome, res.Note = session.OutcomeNotStarted, out.progress.last
		}
	case proc.NotStarted:
		res.Outcome, res.Note = session.OutcomeNotStarted, clipped(p.StartError)
		out.note(p.StartError)
	case proc.Idle:
		res.Outcome = session.OutcomeIdle
		out.note("no output for " + idle.String() + ": stopped")
	case proc.Timeout:
		res.Outcome = session.OutcomeTimeout
		out.note("not done after " + timeout.String() + ": stopped")
	case proc.Cancelled:
		res.Outcome = session.OutcomeInterrupted
		out.note("interrupted")
	}
	res.Millis, res.Survivors = p.Millis, p.Survivors
	if n := len(out.progress.tail); n > 0 && !res.Outcome.Orderly() {
		res.Message, res.Printed = r.Secrets.String(out.progress.last), r.lastLines(strings.Join(out.progress.tail, "\n"))
	}
	return res, nil
}

// lastLines are the last lines of what a run printed, without secrets.
func (r *Runner) lastLines(text string) (lines []string) {
	for line := range strings.SplitSeq(r.Secrets.String(text), "\n") {
		if line = safetext.Line(line, maxShown); line != "" {
			lines = append(lines[max(0, len(lines)+1-session.MaxPrinted):], line)
		}
	}
	return lines
}

func argv(c workflows.Command) []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Argv
}

// shellRefused tells a command that the shell could not execute from an agent that ends with the same code: the shell's
// last word then begins with its own name, in whatever language it goes on.
func shellRefused(exit int, last string) bool {
	return (exit == exitNotFound || exit == exitNotExecutable) && strings.HasPrefix(last, "sh: ")
}

// withSettings gives git further settings by way of the environment, after those that are there already.
func withSettings(env, settings []string) []string {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, count); ok {
			n, _ = strconv.Atoi(text)
		}
	}
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, count) })
	for i := 0; i+1 < len(settings); i += 2 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, settings[i+1]))
		n++
	}
	return append(env, count+strconv.Itoa(n))
}

// env is the environment of a run. Variables of a wfs that this one runs under do not reach it.
func (r *Runner) env(req session.RunRequest) []string {
	env := DefaultEnv(r.Environ, req.Plan.Env)
	kept := env[:0]
	for _, entry := range env {
		if !strings.HasPrefix(entry, "WFS_") && !strings.HasPrefix(entry, "PWD=") {
			kept = append(kept, entry)
		}
	}
	if req.Phase.Run.Agent && !req.Plan.Agent.Push {
		kept = withSettings(kept, r.Settings)
	}
	kept = append(kept, r.marks(req.Session.ID, req.RunDir, req.Started.RunID)...)
	return append(kept,
		"PWD="+r.Root,
		"WFS_RESULT="+filepath.Join(req.RunDir, ResultFile),
		"WFS_WORKFLOW="+req.Plan.Workflow.Name,
		"WFS_PHASE="+string(req.Started.Phase),
		"WFS_LAP="+strconv.Itoa(req.Started.Lap),
		"WFS_ATTEMPT="+strconv.Itoa(req.Started.Attempt),
	)
}
