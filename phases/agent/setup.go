package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// SetupFile is the log of the set-up command, in the directory of its run.
const SetupFile = "setup.log"

// maxSetupOutput limits how much of the end of its output is read for the error, in bytes.
const maxSetupOutput = 1 << 20

// SetupRequest describes how to set up a new work tree.
type SetupRequest struct {
	Command workflows.Command
	Timeout time.Duration
	Env     []string // names of more variables that the command may see
	Vars    []string // more variables, "NAME=value"
	RunDir  string
	RunID   string // id by which the command's processes are found
}

// Setup runs the command that prepares a new work tree. If the command fails, the error is a session.Refusal with the
// lines of its output that probably say why.
func (r *Runner) Setup(ctx context.Context, req SetupRequest) error {
	log, err := process.NewLog(filepath.Join(req.RunDir, SetupFile), r.MaxLog)
	if err != nil {
		return err
	}
	defer log.Close()
	out := newOutput(log, nil, r.Secrets, r.say)
	env := append(append(r.bareEnv(req.Env), runMarker(req.RunID)), req.Vars...)
	p, err := proc.Run(ctx, proc.Spec{Argv: process.Argv(req.Command), Dir: r.Root, Env: env, Stdout: out, Stderr: out,
		Timeout: req.Timeout, Grace: r.Grace, Hurry: r.Hurry, Marker: runMarker(req.RunID)})
	out.flush()
	if err != nil {
		return err
	}
	why := ""
	switch {
	case p.Ended == proc.Cancelled || ctx.Err() != nil:
		return ctx.Err()
	case p.Ended == proc.NotStarted:
		why = "could not be started: " + p.StartError
	case p.Ended == proc.Timeout:
		why = fmt.Sprintf("did not finish within %s", req.Timeout)
	case p.Exit != 0:
		why = fmt.Sprintf("failed with exit code %d", p.Exit)
	case len(p.Survivors) > 0:
		why = fmt.Sprintf("left processes that wfs could not stop: %v", p.Survivors)
	default:
		return nil
	}
	said := ""
	if lines := process.ErrorLines(log.Tail(maxSetupOutput), process.PrintedLines, process.MaxShown); len(lines) > 0 {
		said = "; its output:\n  " + strings.Join(lines, "\n  ")
	}
	return &session.Refusal{Code: session.RefuseSetup, Message: "the set-up of the work tree " + why + said,
		Hint: "fix worktree: setup in .wfs/config.yaml"}
}
