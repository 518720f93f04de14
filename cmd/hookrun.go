package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/phases/agent"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// hookedRun is the prefix of run directories for conversations in which a user talks to an agent directly, without wfs
// run.
const hookedRun = "interactive-"

const (
	maxHookLog   = 8 << 20
	hookPatience = 10 * time.Second // how long a hook waits for another one that makes a checkpoint
)

// hookRunVerb is `wfs hook run`, which the agent calls for each of its events.
type hookRunVerb struct{ *app }

func (a *hookRunVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "run EVENT", Short: "called by the agent, not by you",
		Long: `Run reads what an agent passes to its hooks, as JSON on standard input. It prints nothing on standard
output, and its exit code is 0 whatever happens, so that it never blocks the agent.`,
		Example: "  wfs hook run PreToolUse < event.json",
		Args:    func(*cobra.Command, []string) error { return nil },
		RunE: func(c *cobra.Command, args []string) error {
			defer func() {
				if what := recover(); what != nil {
					a.note("wfs hook: %v", what)
				}
			}()
			if err := a.run(c.Context(), first(args)); err != nil {
				a.note("wfs hook: %v", err)
			}
			return nil
		},
	}
}

// run handles one event of the agent. It does nothing if the directory has no session, or if wfs run works on the
// session.
func (a *hookRunVerb) run(ctx context.Context, event string) error {
	h, err := agents.ReadHook(a.Redactor().Forms().Reader(a.env.Stdin))
	if err != nil {
		return fmt.Errorf("cannot read the agent's message: %w", err)
	}
	if a.env.Get("WFS_RUN_ID") != "" {
		return nil // wfs run reads its agent's output, and makes checkpoints itself
	}
	if h.Event = cmp.Or(event, h.Event); filepath.IsAbs(h.Dir) && isDir(h.Dir) {
		a.env.Dir = h.Dir
	}
	if !inRepository(a.env.Dir) {
		return nil
	}
	if err := a.Open(ctx); err != nil {
		var not *gitcmd.ReadyError
		if errors.As(err, &not) {
			return nil // wfs cannot work with this repository
		}
		return err
	}
	id, err := a.Current(ctx)
	if err != nil || id == "" {
		return err
	}
	if who, held, err := a.Clone.Session(id).Driver(); err != nil || held && workspace.IsRun(who) {
		return err // wfs run makes checkpoints itself
	}
	run, err := a.record(id, h)
	if err != nil {
		return err
	}
	switch {
	case h.Event == "PreToolUse":
		if risk := agents.Risk(h.Command); risk != "" {
			return a.checkpoint(ctx, id, run, "before "+risk+", while working with an agent")
		}
	case h.Event == "PostToolUse":
		n, err := run.count()
		if every := int64(a.saves.Config(ctx).Calls); err != nil || every < 0 || n%every != 0 {
			return err
		}
		return a.checkpoint(ctx, id, run, fmt.Sprintf("after %d tool calls, while working with an agent", n))
	case h.Event == "Stop":
		return a.claim(id, h)
	}
	return nil
}

// inRepository reports whether the directory or one of its parents contains .git. It does not start git, because hooks
// have to be fast.
func inRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// hookedDir is the run directory of one conversation. It contains the conversation's log.
type hookedDir string

// count counts one tool call of the conversation, and returns the number of calls so far.
func (d hookedDir) count() (int64, error) {
	f, err := os.OpenFile(filepath.Join(string(d), "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		return 0, err
	}
	return f.Seek(0, io.SeekCurrent) // the end of this write, even if other hooks append meanwhile
}

// record appends the event to the log of its conversation, unless the log is larger than maxHookLog bytes.
func (a *hookRunVerb) record(id session.ID, h agents.Hook) (hookedDir, error) {
	dir, err := a.Clone.Session(id).MakeRunDir(hookedRun + inFileName(h.Conversation))
	if err != nil {
		return "", err
	}
	e, ok := hookEvent(h)
	if !ok {
		return hookedDir(dir), nil
	}
	f, err := os.OpenFile(filepath.Join(dir, agent.EventsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxHookLog {
		return hookedDir(dir), err
	}
	_, err = f.Write(agents.EncodeRecord(a.env.Now(), e.Map(a.Redactor().String)))
	return hookedDir(dir), err
}

// inFileName returns a conversation's ID with only those characters that are safe in a file name. The ID comes from
// outside.
func inFileName(id string) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, id)
	return id[:min(len(id), 64)]
}

// hookEvent converts a hook event into an agent event, as runs have them. It returns false if there is no such event.
func hookEvent(h agents.Hook) (agents.Event, bool) {
	switch h.Event {
	case "SessionStart":
		return agents.Event{Kind: agents.Started, Conversation: h.Conversation, Model: h.Model}, true
	case "PostToolUse":
		return agents.Event{Kind: agents.ToolCall, Tool: h.Tool}, true
	case "Stop":
		return agents.Event{Kind: agents.Text, Text: h.Last}, h.Last != ""
	case "SessionEnd":
		return agents.Event{Kind: agents.Result, Text: h.Why}, true
	}
	return agents.Event{}, false
}

// checkpoint makes a checkpoint of the current files. Agents call tools in parallel, so it waits while another hook of
// the conversation makes a checkpoint.
func (a *hookRunVerb) checkpoint(ctx context.Context, id session.ID, run hookedDir, summary string) error {
	var lock *durable.Lock
	for waited := time.Duration(0); ; waited += 20 * time.Millisecond {
		var err error
		if lock, err = durable.TryLock(filepath.Join(string(run), "hook.lock"), nil); err == nil {
			break
		}
		if !errors.Is(err, durable.ErrLocked) || waited >= hookPatience {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	defer lock.Release()
	err := a.keep(ctx, id, summary)
	var held *registry.HeldError
	if errors.As(err, &held) {
		return nil // the command that holds the lock takes care of the files
	}
	return err
}

func (a *hookRunVerb) keep(ctx context.Context, id session.ID, summary string) error {
	a.Forget() // wfs hook has opened the repository for reading only
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs hook", Session: string(id), Current: true})
	if err != nil {
		return err
	}
	if h.S.Status.Final() {
		return nil
	}
	c, err := h.Hooked(ctx, summary)
	if c != nil {
		a.note("wfs: checkpoint %d %s", c.Number, c.Summary)
	}
	return err
}

// claim leaves the agent's progress report as a note for the next attempt. wfs does not believe it: gates decide, as
// with every claim.
func (a *hookRunVerb) claim(id session.ID, h agents.Hook) error {
	text := agent.ClaimNote(h.Last, a.env.Now)
	if text == "" {
		return nil
	}
	_, err := a.Clone.Session(id).Inbox().Post(session.Request{Kind: session.RequestNote,
		Text: "An agent that a person worked with " + a.Redact(text)}, a.env.Now(), a.env.NewID(4))
	return err
}
