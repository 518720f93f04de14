package agent

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// runCommand runs a command that acts as an agent. The command gets the brief on standard input and in the file at
// $WFS_BRIEF, and writes its answer to $WFS_RESULT. With exit code 75 it asks to be called again later.
func (a *attempt) runCommand(ctx context.Context, c workflows.Command) (session.RunResult, error) {
	p, err := a.start(ctx, proc.Spec{Argv: process.Argv(c), Env: a.env(nil), Stdin: bytes.NewReader(a.brief),
		Stdout: a.out, Stderr: a.out})
	if err != nil {
		return session.RunResult{}, err
	}
	a.out.flush()
	res := conclude(p.Exit, readResult(filepath.Join(a.req.RunDir, ResultFile), a.Secrets, a.Now))
	lines := process.LastLines(a.out.log.Tail(maxErrors), session.MaxPrinted, process.MaxShown)
	switch last := lines[max(0, len(lines)-1):]; {
	case p.Ended == proc.NotStarted:
		res = a.notStarted(p.StartError)
	case p.Ended == proc.Exited && c.Shell != "" && len(last) > 0 && shellRefused(p.Exit, last[0]):
		res.Outcome, res.Note = session.OutcomeNotStarted, last[0]
	}
	a.stopped(p, "", &res)
	res.Millis, res.Survivors = p.Millis, p.Survivors
	if lines = process.LastLines(a.out.log.Tail(maxErrors), session.MaxPrinted, process.MaxShown); len(lines) > 0 &&
		!res.Outcome.Orderly() {
		res.Message, res.Printed = lines[len(lines)-1], lines
	}
	return res, nil
}

// shellRefused reports whether a shell could not execute a command. An agent may end with the same exit code, so the
// last line of output must begin with the shell's name; the rest of the line depends on the user's language.
func shellRefused(exit int, last string) bool {
	return (exit == process.ExitNotFound || exit == process.ExitNotExecutable) && strings.HasPrefix(last, "sh: ")
}

// withSettings adds git settings to an environment that may have some already. `settings` has keys and values in turn.
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
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, settings[i]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, settings[i+1]))
		n++
	}
	return append(env, count+strconv.Itoa(n))
}

// bareEnv returns the environment for commands in the work tree. It has no variables of a wfs that started this one.
// `extra` has the names of more variables that commands may see.
func (r *Runner) bareEnv(extra []string) []string {
	env := slices.DeleteFunc(process.DefaultEnv(r.Environ, extra), func(entry string) bool {
		return strings.HasPrefix(entry, "WFS_") || strings.HasPrefix(entry, "PWD=")
	})
	return append(env, "PWD="+r.Root)
}

// env returns the environment of a run. `further` has the names of more variables that it may see.
func (a *attempt) env(further []string) []string {
	req := &a.req
	env := a.bareEnv(slices.Concat(req.Plan.Env, further))
	if req.Phase.Run.Agent && !req.Plan.Agent.Push {
		env = withSettings(env, a.Settings)
	}
	return append(append(env, a.marks(req.Session.ID, req.RunDir, req.Started.RunID)...),
		"WFS_RESULT="+filepath.Join(req.RunDir, ResultFile),
		"WFS_WORKFLOW="+req.Plan.Workflow.Name,
		"WFS_PHASE="+string(req.Started.Phase),
		"WFS_LAP="+strconv.Itoa(req.Started.Lap),
		"WFS_ATTEMPT="+strconv.Itoa(req.Started.Attempt),
	)
}
