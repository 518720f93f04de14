package agents

import (
	"strings"
	"testing"
)

func TestReadHook(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Hook{
		`{"session_id":"s","transcript_path":"/t","cwd":"/r","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1",
			"tool_input":{"command":"rm -rf\n  build","description":"clean"}}`: {Event: "PreToolUse", Conversation: "s", Dir: "/r", Command: "rm -rf\n  build",
			Tool: Tool{ID: "t1", Name: "Bash", Action: Runs, Detail: "rm -rf build"}},
		`{"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"a.go"},"tool_response":{"x":[1]},"new":{"field":1}}`: {
			Event: "PostToolUse", Tool: Tool{Name: "Edit", Action: Writes, Detail: "a.go"}},
		`{"hook_event_name":"PostToolUse","tool_name":"mcp__x__y","tool_input":"a text","tool_response":"another"}`: {
			Event: "PostToolUse", Tool: Tool{Name: "mcp__x__y", Action: Does}},
		`{"hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"}`: {Event: "Stop", Last: "done"},
		`{"hook_event_name":"SessionStart","source":"resume","model":"m"}`:                   {Event: "SessionStart", Why: "resume", Model: "m"},
		`{"hook_event_name":"SessionEnd","reason":"logout","model":{"id":"m"}}`:              {Event: "SessionEnd", Why: "logout"},
		`{}`: {},
	} {
		if h, err := ReadHook(strings.NewReader(in)); err != nil || h != want {
			t.Errorf("%s: %+v, %v", in, h, err)
		}
	}
	for _, in := range []string{"", "[]", "{", `{"tool_name":1}`} {
		if h, err := ReadHook(strings.NewReader(in)); err == nil {
			t.Errorf("%q is %+v", in, h)
		}
	}
}

func FuzzReadHook(f *testing.F) {
	f.Add(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git -C x clean -fd; rm x"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		h, err := ReadHook(strings.NewReader(in))
		if err != nil {
			return
		}
		if len(h.Tool.Detail) > MaxDetail || len(h.Last) > MaxText || strings.Contains(h.Tool.Detail, "\n") {
			t.Fatalf("%+v", h)
		}
		_ = Risk(h.Command)
	})
}

func TestRisk(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test ./...": "", "ls -la && cat x": "", "git status --short": "", "git commit -am x": "", "git log -n 3": "", "git clean -n": "",
		"git reset HEAD~1": "", "git checkoutx": "", "farm it": "", "git switch main": "", "": "", "git": "", "git -C": "", "git diff > rm.txt": "",
		"rm -rf build": "rm", "cd x; rm y": "rm", "sh -c 'rm x'": "rm", "/bin/rm x": "rm", "echo $(rm x)": "rm", "a&&rm x": "rm", "find . -name '*.o' -delete": "find with deletion",
		"mv a b": "mv", "git reset --hard HEAD": "git reset", "git -C sub clean -fd": "git clean", "git clean -fdx": "git clean", "git checkout -- .": "git checkout",
		"git checkout main": "git checkout", "git restore .": "git restore", "git stash": "git stash", "git switch -f main": "git switch", "git --no-pager -c a=b rebase -i": "git rebase",
		"git branch -D x": "git branch", "xargs -0 rm": "rm", "rsync -a --delete-after a b": "rsync with deletion", "dd if=x of=y": "dd", "git status; git pull": "git pull",
	} {
		if got := Risk(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
