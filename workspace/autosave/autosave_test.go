package autosave

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/system"
)

// Even if a gate ends at once, files that the agent deleted must get a ref: the next attempt's auto-save replaces the
// one that has them.
func TestSaveOfWhatIsGoneIsNotCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the judgement is over
	saved := false
	s := saver{config: workflows.AutoSave{Time: time.Hour}, now: time.Now, say: func(string) {},
		save: func(ctx context.Context, _ session.Reason) (session.AutoSaved, error) {
			saved = ctx.Err() == nil
			return session.AutoSaved{}, ctx.Err()
		}}
	if s.once(ctx, true); !saved {
		t.Error("the save was cut short")
	}
}

// TestAutoSaveEvery reads the interval between auto-saves.
func TestAutoSaveEvery(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, environ := filepath.Join(top, "repo"), testkit.Env(top)
	if out, exit := testkit.Run(t, top, environ, "git", "init", "-q", dir); exit != 0 {
		t.Fatal(out)
	}
	every := func() workflows.AutoSave {
		t.Helper()
		w := workspace.New(&system.Env{Dir: dir, Environ: environ, Now: time.Now},
			workspace.Front{Engine: func(b *hand.Base) *engine.Engine { return engine.New(b, nil) }})
		if err := w.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		return New(w).Config(t.Context())
	}
	testkit.Write(t, dir, ".wfs/config.yaml", "version: 1\n")
	for period, want := range map[string]workflows.AutoSave{"off": {Time: -1, Calls: 20, Files: 20},
		"10ms":                           {Time: 10 * time.Millisecond, Calls: 20, Files: 20},
		"{time: 2m, calls: 5, files: 3}": {Time: 2 * time.Minute, Calls: 5, Files: 3},
		"{calls: off, files: off}":       {Time: 30 * time.Second, Calls: -1, Files: -1}} {
		testkit.Write(t, dir, ".wfs/local.yaml", "version: 1\nauto-save: "+period+"\n")
		if got := every(); got != want {
			t.Errorf("%s is %+v", period, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, ".wfs/local.yaml")); err != nil {
		t.Fatal(err)
	}
	if got, want := every(), (workflows.AutoSave{Time: 30 * time.Second, Calls: 20, Files: 20}); got != want {
		t.Errorf("without a word it is %+v", got)
	}
}

// TestSaverTellsOfTrouble expects a warning after three failures in a row.
func TestSaverTellsOfTrouble(t *testing.T) {
	t.Parallel()
	var said []string
	log := filepath.Join(t.TempDir(), "log")
	fails := true
	s := &saver{say: func(line string) { said = append(said, line) }, now: time.Now, log: log,
		save: func(context.Context, session.Reason) (session.AutoSaved, error) {
			if fails {
				return session.AutoSaved{}, errors.New("the disk is full")
			}
			return session.AutoSaved{}, nil
		}}
	for range 2 {
		s.try(t.Context(), session.Reason{})
	}
	fails = false
	s.try(t.Context(), session.Reason{})
	fails = true
	for range 4 {
		s.try(t.Context(), session.Reason{})
	}
	if len(said) != 1 || !strings.Contains(said[0], "3 times in a row: the disk is full") {
		t.Errorf("said %q", said)
	}
	if data, err := os.ReadFile(log); err != nil || strings.Count(string(data), "the disk is full") != 6 {
		t.Errorf("the log says %q, %v", data, err)
	}
}

func TestAutoSavesByWhatAnAgentDoes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	var asked []string
	w := &watchful{now: func() time.Time { return now }, most: 5}
	// no saver is running
	w.event(agents.Event{Kind: agents.ToolCall, Tool: agents.Tool{Action: agents.Runs, Detail: "rm -rf ."}})
	w.saving(func(why session.Reason) { asked = append(asked, why.Why) })
	tool := func(kind agents.Kind, action agents.Action, detail string) {
		w.event(agents.Event{Kind: kind, Tool: agents.Tool{Action: action, Detail: detail}})
	}
	expect := func(want string) {
		t.Helper()
		if got := strings.Join(asked, "|"); got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
		asked = nil
	}
	tool(agents.ToolResult, agents.Writes, "a.go")
	expect("")
	now = now.Add(saveAfterWrite)
	tool(agents.ToolResult, agents.Writes, "a.go")
	expect("after a file was written")
	tool(agents.ToolResult, agents.Writes, "b.go")
	w.event(agents.Event{Kind: agents.Text})
	expect("")
	now = now.Add(saveAfterWrite)
	tool(agents.ToolResult, agents.Writes, "b.go")
	expect("after a file was written")
	tool(agents.ToolCall, agents.Runs, "git reset --hard")
	expect("before a command that may throw work away")
	for range 5 {
		tool(agents.ToolCall, agents.Reads, "a.go")
	}
	expect("after 5 tool calls")
	w.saving(nil)
	tool(agents.ToolCall, agents.Runs, "git reset --hard")
	expect("")
}

// TestTicked counts the ticked tasks of two documents, of which one is not there at first.
func TestTicked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Write(t, dir, "spec.md", "- [x] one\n- [ ] two\n")
	var lists tasks
	lists.of(dir, []string{"spec.md", "plan.md"})
	for _, step := range []struct {
		file, text string
		want       bool
	}{
		{"plan.md", "- [ ] three\n", false},
		{"spec.md", "- [x] one\n- [x] two\n", true},
		{"spec.md", "- [ ] one\n- [x] two\n", false},
		{"spec.md", "- [x] one\n- [x] two, again\n", false},
		{"plan.md", "- [x] three\n", true},
	} {
		testkit.Write(t, dir, step.file, step.text)
		if got := lists.ticked(); got != step.want {
			t.Errorf("%s with %q: %v", step.file, step.text, got)
		}
		if lists.ticked() {
			t.Errorf("%s with %q counts twice", step.file, step.text)
		}
	}
}

func TestRiskyCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"rm -rf build", "cd x && rm -r y", "git reset --hard HEAD~1", "git -C sub clean -fdx",
		"git checkout .", "git stash",
		"mv a b", "echo x > a.go", "cat a>b", "truncate -s 0 a", "find . -name '*.go' -delete",
		"git --no-pager restore a", "(rm -f a)"} {
		if !risky(c) {
			t.Errorf("%q is not seen", c)
		}
	}
	for _, c := range []string{"go test ./... 2>&1", "git status", "git log --grep reset", "ls -l", "echo a >> log",
		"cat a | grep b", "go vet 2> /dev/null",
		"grep -rn farm -e x", "npm run format", "git diff --stat", "echo 'a -> b'"} {
		if risky(c) {
			t.Errorf("%q is taken for risky", c)
		}
	}
}

// TestWatchWithoutSaves: with auto-saves off, what the agent does asks for none.
func TestWatchWithoutSaves(t *testing.T) {
	a := &Saves{}
	a.Saw(agents.Event{Kind: agents.ToolCall, Tool: agents.Tool{Action: agents.Runs, Detail: "rm -rf ."}})
	a.Saw(agents.Event{Kind: agents.ToolResult, Tool: agents.Tool{Action: agents.Writes}})
}
