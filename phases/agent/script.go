package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Script is a list of prepared edits, played instead of an agent: for demonstrations, tests, and people who want to
// see a workflow before they trust an agent with it.
type Script struct{ Steps []Step }

// Step describes one attempt. Its actions run in the order of the fields below Attempt. Paths are relative to the top
// of the work tree, with slashes.
type Step struct {
	Phase   workflows.PhaseName
	Lap     int // 0: every lap
	Attempt int // it applies from this attempt of a visit to the phase on; 0: to every attempt

	Say      string            // printed
	Scribble map[string]string // files overwritten before Hang, as by a run that is killed midway
	Hang     time.Duration     // how long nothing happens
	Delete   []string          // missing files are skipped
	Files    map[string]string // written, directories are made
	Append   map[string]string
	Exit     int

	// A command would write these to $WFS_RESULT.
	Done, Continue bool
	Note, Ask      string
	TestChange     string `yaml:"test_change"`
	NothingLeft    string `yaml:"nothing_left"`
	Wait           time.Duration
}

// Step returns the step for an attempt; nil for none. A step for this lap precedes one for every lap. Then the latest
// Attempt up to the present one decides, and of equal steps the last.
func (s *Script) Step(phase workflows.PhaseName, lap, attempt int) *Step {
	var best *Step
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Phase != phase || step.Lap != 0 && step.Lap != lap || step.Attempt > attempt {
			continue
		}
		if best == nil || step.Lap > best.Lap || step.Lap == best.Lap && step.Attempt >= best.Attempt {
			best = step
		}
	}
	return best
}

// runScript plays the step for the attempt. A step that fails is a failed run, like a command with exit code 1.
func (a *attempt) runScript(ctx context.Context) (session.RunResult, error) {
	began := a.Now()
	res := a.play(ctx)
	res.Millis = max(0, a.Now().Sub(began).Milliseconds())
	if res.Note == "" {
		return res, nil
	}
	said, err := json.Marshal(resultFile{Done: &res.Done, Note: res.Note}) // for the next brief
	if err != nil {
		return session.RunResult{}, err
	}
	return res, durable.WriteCache(filepath.Join(a.req.RunDir, ResultFile), said, 0o600)
}

func (a *attempt) play(ctx context.Context) session.RunResult {
	if ctx.Err() != nil {
		return session.RunResult{Outcome: session.OutcomeInterrupted, Exit: -1}
	}
	script, err := ParseScript(a.req.Plan.Agent.Script)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		return a.notStarted("cannot read the script: " + why)
	}
	at, out := a.req.Started, a.out
	step := script.Step(at.Phase, at.Lap, at.Attempt)
	if step == nil {
		out.note(fmt.Sprintf("the script has no step for %s, lap %d, attempt %d", at.Phase, at.Lap, at.Attempt))
		return conclude(0, answer{})
	}
	if step.Say != "" {
		_, _ = fmt.Fprintln(out, step.Say)
	}
	said := answer{done: step.Done && !step.Continue, not: step.Continue, ask: clipped(step.Ask),
		note: clipped(step.Note), change: clipped(step.TestChange),
		left: clipped(step.NothingLeft)}
	if step.Wait > 0 {
		said.wait(step.Wait, a.Now)
	}
	stopped, err := a.edit(ctx, step)
	if err != nil {
		out.note(process.Reason(err))
		return conclude(1, answer{note: clipped("the script's step failed: " + process.Reason(err))})
	}
	if stopped != "" {
		return session.RunResult{Outcome: stopped, Exit: -1}
	}
	return conclude(step.Exit, said)
}

// edit changes the files of a step. It returns how the step was stopped; "" if it was not.
func (a *attempt) edit(ctx context.Context, step *Step) (session.Outcome, error) {
	root, err := os.OpenRoot(a.Root) // no write leaves the work tree, whatever links it contains
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()

	if err := writeAll(root, step.Scribble, os.O_TRUNC); err != nil {
		return "", err
	}
	if stopped := hang(ctx, step.Hang, a.req.Plan.Agent.Idle, a.req.Plan.Agent.Timeout); stopped != "" {
		return stopped, nil
	}
	for _, name := range step.Delete {
		if err := root.RemoveAll(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("delete %s: %w", name, err)
		}
	}
	if err := writeAll(root, step.Files, os.O_TRUNC); err != nil {
		return "", err
	}
	return "", writeAll(root, step.Append, os.O_APPEND)
}

func writeAll(root *os.Root, files map[string]string, how int) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeOne(root, name, files[name], how); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func writeOne(root *os.Root, name, text string, how int) error {
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|how, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// hang waits like an agent that prints nothing.
func hang(ctx context.Context, d, idle, timeout time.Duration) session.Outcome {
	if d <= 0 {
		return ""
	}
	var end session.Outcome
	if idle > 0 && idle < d {
		d, end = idle, session.OutcomeIdle
	}
	if timeout > 0 && timeout < d {
		d, end = timeout, session.OutcomeTimeout
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return session.OutcomeInterrupted
	case <-t.C:
		return end
	}
}
