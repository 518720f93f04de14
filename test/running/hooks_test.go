package running

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// Agents call tools in parallel, so their hooks run in parallel. Every call is recorded, and each hook that has to
// save the files waits until they are saved.
func TestHooksSideBySide(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.ok("wfs", "new", "one")
	p.write("work.txt", "not in any checkpoint\n")
	const events = 24
	all := make([]*exec.Cmd, events)
	var said shared
	for i := range all {
		event, input := "PostToolUse", `{"session_id":"c","tool_name":"Edit","tool_input":{"file_path":"work.txt"}}`
		if i%6 == 0 {
			event, input = "PreToolUse", `{"session_id":"c","tool_name":"Bash","tool_input":{"command":"rm work.txt"}}`
		}
		c := exec.Command("wfs", "hook", "run", event)
		c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = p.dir, p.env, strings.NewReader(input), &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all[i] = c
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %v", c.Args, err)
		}
	}
	if n := strings.Count(said.String(), "checkpoint 1 before rm"); n != 1 || strings.Contains(said.String(), "wfs hook:") {
		t.Errorf("they said %q", said.String())
	}
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "not in any checkpoint")
	log := p.ok("cat", ".git/wfs/sessions/one/runs/interactive-c/events.jsonl")
	if n := len(strings.Split(log, "\n")); n != events-events/6 {
		t.Errorf("%d calls are written down:\n%s", n, log)
	}
}
