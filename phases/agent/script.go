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

// Script is a list of prepared edits that wfs makes instead of running an agent. It is for demonstrations, for tests,
// and for people who want to try a workflow before they trust an agent with it.
type Script struct{ Steps []Step }

// Step is the part of a script for one attempt. Its actions run in the order of the fields below Attempt. Paths are
// relative to the top of the work tree, with slashes.
type Step struct {
	Phase   workflows.PhaseName
	Lap     int // 0: the step is for every lap
	Attempt int // first attempt of a visit (attempts at the phase in a row) that the step is for; 0: every attempt

	Say      string            // text to print
	Scribble map[string]string // files to overwrite before Hang, as a run does that is killed midway
	Hang     time.Duration     // how long to wait without doing anything
	Delete   []string          // files to delete; missing ones are skipped
	Files    map[string]string // files to write; their directories are created
	Append   map[string]string
	Exit     int

	// The other fields are the answer that a command would write to $WFS_RESULT.
	Done, Continue bool
	Note, Ask      string
	TestChange     string `yaml:"test_change"`
	NothingLeft    string `yaml:"nothing_left"`
	Wait           time.Duration
}

// Step returns the step for an attempt; nil if there is none. Steps for this lap take precedence over steps for every
// lap. Among these, the step with the highest Attempt is chosen, and among equal ones the last.
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

// runScript makes the edits of the step for the attempt. If they fail, the run fails as a command does with exit code
// 1.
func (a *attempt) runScript(ctx context.Context) (session.RunResult, error) {
	began := a.Now()
	res := a.play(ctx)
	res.Millis = max(0, a.Now().Sub(began).Milliseconds())
	if res.Note == "" {
		return res, nil
	}
	// The next brief reads the note from there.
	said, err := json.Marshal(resultFile{Done: &res.Done, Note: res.Note})
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

// edit changes files as a step says. If the step was stopped while it waited, it returns the outcome, else "".
func (a *attempt) edit(ctx context.Context, step *Step) (session.Outcome, error) {
	root, err := os.OpenRoot(a.Root) // links cannot lead writes out of the work tree
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

// hang waits for the duration d without any output. It returns the outcome if it is stopped earlier, as an agent would
// be, else "".
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
