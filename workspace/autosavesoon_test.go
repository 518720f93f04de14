package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
)

func TestAutoSavesByWhatAnAgentDoes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	var asked []string
	w := &watchful{now: func() time.Time { return now }}
	w.event(agents.Event{Kind: agents.ToolCall, Tool: agents.Tool{Action: agents.Runs, Detail: "rm -rf ."}}) // nobody saves
	w.saving(func(why string) { asked = append(asked, why) })
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
	for range saveEveryCalls {
		tool(agents.ToolCall, agents.Reads, "a.go")
	}
	expect("after 20 tool calls")
	w.saving(nil)
	tool(agents.ToolCall, agents.Runs, "git reset --hard")
	expect("")
}

func TestRiskyCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"rm -rf build", "cd x && rm -r y", "git reset --hard HEAD~1", "git -C sub clean -fdx", "git checkout .", "git stash",
		"mv a b", "echo x > a.go", "cat a>b", "truncate -s 0 a", "find . -name '*.go' -delete", "git --no-pager restore a", "(rm -f a)"} {
		if !risky(c) {
			t.Errorf("%q is not seen", c)
		}
	}
	for _, c := range []string{"go test ./... 2>&1", "git status", "git log --grep reset", "ls -l", "echo a >> log", "cat a | grep b", "go vet 2> /dev/null",
		"grep -rn farm -e x", "npm run format", "git diff --stat", "echo 'a -> b'"} {
		if risky(c) {
			t.Errorf("%q is taken for risky", c)
		}
	}
}
