package running

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// client is a client of `wfs mcp`, in the place of an agent with which a person works.
type client struct {
	p       *place
	server  *exec.Cmd
	stdin   io.Closer
	session *mcp.ClientSession
}

// connect starts a server with these flags.
func (p *place) connect(flags ...string) *client {
	p.t.Helper()
	c := &client{p: p, server: exec.Command("wfs", append([]string{"mcp"}, flags...)...)}
	c.server.Dir, c.server.Env = p.dir, p.env
	in, err := c.server.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := c.server.StdoutPipe()
	if err == nil {
		err = c.server.Start()
	}
	if err == nil {
		c.stdin = in
		c.session, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(p.t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.vanish)
	return c
}

// vanish closes the server's input, without waiting for calls, and waits for the server's end.
func (c *client) vanish() {
	c.p.t.Helper()
	_ = c.stdin.Close()
	if err := c.server.Wait(); err != nil && c.server.ProcessState.ExitCode() != 0 {
		c.p.t.Errorf("the server: %v", err)
	}
}

// begin starts a session, which is stopped at the end of the test.
func (c *client) begin(goal string) answer {
	c.p.t.Helper()
	a := c.call(false, "start", with{"goal": goal})
	if a.PID == 0 || a.Worktree == "" || a.Session == "" {
		c.p.t.Fatalf("start: %+v", a)
	}
	c.p.t.Cleanup(func() { c.p.try("wfs", "stop", a.Session, "--now") })
	return a
}

// answer is the result of a call: its texts, and some fields of its structured content.
type answer struct {
	text                        string
	failed                      bool
	Session, Status, Hint, Code string
	PID, Exit                   int
	Worktree                    string
	Sessions                    []struct{ ID string }
	More                        struct{ Skip, Left int }
}

func (c *client) try(ctx context.Context, tool string, arguments map[string]any) (a answer, err error) {
	c.p.t.Helper()
	r, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return a, err
	}
	for _, part := range r.Content {
		a.text += part.(*mcp.TextContent).Text + "\n"
	}
	a.failed = r.IsError
	data, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	return a, err
}

// call calls a tool, and checks whether it fails and that its answer holds some texts.
func (c *client) call(fails bool, tool string, arguments map[string]any, texts ...string) answer {
	c.p.t.Helper()
	a, err := c.try(c.p.t.Context(), tool, arguments)
	if err != nil {
		c.p.t.Fatalf("%s: %v", tool, err)
	}
	if a.failed != fails {
		c.p.t.Fatalf("%s: fails: %v, want %v: %s", tool, a.failed, fails, a.text)
	}
	testkit.Holds(c.p.t, a.text, texts...)
	return a
}

type with = map[string]any

// waits is the beginning of an agent's script that says that it works, and waits for a line.
const waits = `test -p "$HOME/go" || mkfifo "$HOME/go"
echo works > "$HOME/working"
read -r line < "$HOME/go"
`

// TestMCP plays a person's agent: it starts a session, leaves while the run works, comes back, and looks at the result.
func TestMCP(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(waits + `yes "$line" | head -n 30000 > big.txt` + "\n")
	c := p.connect()
	c.call(false, "list", nil, `"sessions":[]`)
	const goal = "--agent=rm\n--help"
	started := c.begin(goal)
	id := started.Session
	if !strings.Contains(p.ok("wfs", "status", id, "--json"), `"goal":"--agent=rm\n--help"`) {
		t.Error("the goal is not as it was given")
	}
	p.await("working")
	if a := c.call(false, "watch", with{"session": id, "seconds": 1}); a.Status != "running" {
		t.Errorf("watch: %+v", a)
	}
	c.call(false, "note", with{"session": id, "message": "--help\n-m"}, `"for":"next"`)
	a := c.call(true, "run", with{"session": id}, "in use by `wfs run --detach`", "exit 5: wfs -C ")
	if a.Exit != 5 || a.Hint != "wfs watch "+id {
		t.Errorf("run: %+v", a)
	}
	if a := c.call(true, "status", with{"session": "--help"}, "no session"); a.Exit != 2 || a.Code != "no_session" {
		t.Errorf("status: %+v", a)
	}
	c.call(true, "start", with{}, "goal")
	c.call(true, "start", with{"goal": "x", "agent": "rm"}, "agent")
	c.call(true, "diff", with{"to": id}, "to needs from")

	c.vanish()
	if driver := p.driver(id); driver != strconv.Itoa(started.PID) {
		t.Fatalf("the run ended with the client: driven by %q", driver)
	}
	c = p.connect("--allow", "finish")
	watched := make(chan answer)
	for range 2 {
		go func() {
			a, err := c.try(t.Context(), "watch", with{"session": id, "seconds": 600})
			a.failed = a.failed || err != nil
			watched <- a
		}()
	}
	c.call(false, "status", with{"session": id}, `"status":"running"`) // while two calls wait
	p.write("../home/go", "of the agent\n")
	for range 2 {
		if a := <-watched; a.failed || a.Status != "completed" {
			t.Errorf("watch: %+v", a)
		}
	}
	c.call(false, "diff", with{"from": id}, `"path":"big.txt"`)
	first := c.call(false, "diff", with{"from": id, "patch": true}, "+of the agent\n", "all of it: wfs -C ")
	next := c.call(false, "diff", with{"from": id, "patch": true, "skip": 20000}, "+of the agent\n")
	last := c.call(false, "diff", with{"from": id, "patch": true, "skip": 29000}, "+of the agent\n")
	skip := strings.Count(first.text, "\n") - 1
	testkit.Holds(t, first.text, fmt.Sprintf("\n%d left: call diff with skip %d; ", 30006-skip, skip))
	for _, part := range []string{first.text, next.text, last.text} {
		for _, line := range strings.Split(part, "\n") {
			if strings.HasPrefix(line, "+of") && line != "+of the agent" {
				t.Errorf("a line is cut: %q", line)
			}
		}
		if len(part) > 70<<10 {
			t.Errorf("%d bytes of a diff", len(part))
		}
	}
	if n := strings.Count(last.text, "\n"); n != 1006 || strings.Contains(last.text, "left: call") {
		t.Errorf("the last part has %d lines: %s", n, last.text)
	}
	c.call(false, "finish", with{"session": id, "branch": "handed-over"})
	testkit.Holds(t, p.ok("git", "show", "--stat", "handed-over"), "big.txt")
}

// TestMCPParts lists sessions that are too much for one answer. Every part is whole JSON, and no session is missing.
func TestMCPParts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var want, got []string
	for i := range 12 {
		p.ok("wfs", "new", "--worktree", fmt.Sprint("s", i, strings.Repeat(" is a long goal", 700)))
	}
	var whole answer
	if err := json.Unmarshal([]byte(p.ok("wfs", "list", "--json")), &whole); err != nil || len(whole.Sessions) != 12 {
		t.Fatalf("%v: %+v", err, whole)
	}
	for _, s := range whole.Sessions {
		want = append(want, s.ID)
	}
	c := p.connect()
	for skip, parts := 0, 0; parts == 0 || skip > 0; parts++ {
		a := c.call(false, "list", with{"skip": skip})
		if skip = a.More.Skip; parts == 12 || len(a.text) > 70<<10 {
			t.Fatalf("part %d has %d bytes: %s", parts, len(a.text), a.text)
		}
		for _, s := range a.Sessions {
			got = append(got, s.ID)
		}
		if wrong := len(want) - len(got) - a.More.Left; wrong != 0 || parts == 0 && a.More.Left == 0 {
			t.Errorf("after %q: %+v", got, a.More)
		}
		shown, _, _ := strings.Cut(a.text, "\n")
		if !json.Valid([]byte(shown)) {
			t.Errorf("part %d is no JSON: %s", parts, shown)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("sessions %q, want %q", got, want)
	}
}

// TestMCPSpec checks that a spec is a file of the work tree: an agent could read any other file in the session.
func TestMCPSpec(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent("echo x > x.txt")
	p.write("../home/private", "- [ ] mine\n")
	p.write("docs/csv.md", "- [ ] quotes\n")
	p.write("docs/xml.md", "- [ ] escapes\n")
	p.ok("ln", "-s", p.home, "way")
	p.ok("ln", "-s", "docs/xml.md", "spec.md")
	p.ok("git", "add", "-A")
	p.ok("git", "commit", "-q", "-m", "spec")
	c := p.connect()
	for _, spec := range []string{
		p.home + "/private", "../home/private", "way/private", "docs/../../home/private", p.dir + "/way/private",
		"docs/../way/../home/private", ".git/config", ".GIT/config", "../home/missing", "missing",
	} {
		c.call(true, "start", with{"goal": "x", "spec": spec}, "spec "+spec+": not a file in the work tree "+p.dir,
			"wfs -C "+p.dir+" start --detach --spec=")
	}
	if out := p.ok("wfs", "list", "--json"); !strings.Contains(out, `"sessions":[]`) {
		t.Errorf("sessions: %s", out)
	}
	for spec, item := range map[string]string{p.dir + "/docs/../docs/csv.md": "quotes", "spec.md": "escapes"} {
		started := c.call(false, "start", with{"goal": item, "spec": spec})
		c.call(false, "watch", with{"session": started.Session, "seconds": 600}, `"text":"`+item+`"`)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestMCPNoise sends lines that are no messages. Each is answered with an error, and the server goes on.
func TestMCPNoise(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../home/lines", "hello {\n"+initialize+`
{"jsonrpc":"2.0","id":
7

{"jsonrpc":"2.0","id":2,"method":"ping"}
{} trailing
{"jsonrpc":"2.0","id":3,"method":"ping"}
`)
	answers := p.ok("sh", "-c", `out="$HOME/answers"; : > "$out"
waits() { until grep -q "\"id\":$1," "$out" || [ $((n += 1)) -gt 600 ]; do sleep 0.05; done; }
{ cat "$HOME/lines"; waits 1; waits 2; waits 3; printf '{"cut'; } | wfs mcp > "$out"
cat "$out"`)
	for text, times := range map[string]int{
		`"code":-32700`: 4, `"code":-32600`: 1, `"id":null`: 5, `"id":1,`: 1, `"id":2,`: 1, `"id":3,`: 1,
	} {
		if n := strings.Count(answers, text); n != times {
			t.Errorf("%s occurs %d times, want %d: %s", text, n, times, answers)
		}
	}
}

// TestMCPTools checks which tools are offered, and their hints.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	tools := func(flags ...string) (all, read, replacing string) {
		var names []string
		for tool, err := range p.connect(flags...).session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
			switch hints := tool.Annotations; {
			case hints.ReadOnlyHint:
				read += " " + tool.Name
			case *hints.DestructiveHint:
				replacing += " " + tool.Name
			}
			data, _ := json.Marshal(tool.InputSchema)
			if strings.Contains(string(data), "null") || tool.Description == "" {
				t.Errorf("%s: %s", tool.Name, data)
			}
		}
		slices.Sort(names)
		return strings.Join(names, " "), read, replacing
	}
	all, read, replacing := tools()
	if all != "diff fork list log note resume run show start status watch" ||
		read != " diff list log show status watch" || replacing != " resume" {
		t.Errorf("tools %q, read-only %q, destructive %q", all, read, replacing)
	}
	more, _, replacing := tools("--allow", "approve,finish", "--allow=reject,stop,undo,edit,abandon,delete")
	if len(strings.Fields(more)) != 19 || len(strings.Fields(replacing)) != 9 {
		t.Errorf("tools with all decisions %q, destructive %q", more, replacing)
	}
	p.exits(exitUsage, []string{"wfs", "mcp", "--allow", "trust"},
		"--allow trust: it is one of approve, reject, finish, stop, undo, edit, abandon, delete")
	p.exits(exitError, []string{"wfs", "-C", p.home, "mcp"}, "not a git repository")
}

// TestMCPLeaves checks that a call's command ends when the call is cancelled, and when the client disappears.
func TestMCPLeaves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent(waits + "echo x > x.txt\n")
	c := p.connect()
	id := c.begin("one").Session
	p.await("working")
	children := func() string {
		out, _ := exec.Command("pgrep", "-P", strconv.Itoa(c.server.Process.Pid)).Output()
		return strings.TrimSpace(string(out))
	}
	watch := func(ctx context.Context) (pid string, ended chan error) {
		ended = make(chan error, 1)
		go func() {
			_, err := c.try(ctx, "watch", with{"session": id, "seconds": 600})
			ended <- err
		}()
		p.until("wfs watch", func() bool { pid = children(); return pid != "" })
		return pid, ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	pid, ended := watch(ctx)
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled call has an answer")
	}
	p.gone(pid)
	pid, ended = watch(t.Context())
	c.vanish()
	<-ended
	p.gone(pid)
	if p.driver(id) == "" {
		t.Error("the run ended as well")
	}
}

// TestMCPOfAgent checks that an agent in a run can decide nothing through a server that it starts, not even if it hides
// that it belongs to the run.
func TestMCPOfAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	call := func(id int, tool, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}`,
			id, tool, arguments)
	}
	requests := []string{
		initialize,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		call(2, "note", `{"session":"other","message":"by the agent"}`),
		call(3, "finish", `{"session":"other"}`),
		call(4, "undo", `{"session":"other"}`),
	}
	p.write("../home/requests", strings.Join(requests, "\n")+"\n")
	p.agent(`for hide in WFS_NOTHING WFS_RUN_ID; do
	out="$HOME/$hide"; : > "$out"
	{ cat "$HOME/requests"; for id in 2 3 4; do until grep -q "\"id\":$id," "$out"; do sleep 0.05; done; done; } |
		env -u $hide wfs mcp --allow finish,undo > "$out"
done
echo x > x.txt
`)
	p.ok("wfs", "new", "other", "--worktree")
	p.ok("wfs", "new", "one")
	p.ok("wfs", "run", "one")
	for hide, refusals := range map[string]int{"WFS_NOTHING": 6, "WFS_RUN_ID": 4} { // each as text and structured
		answers := p.read(hide)
		if n := strings.Count(answers, "is for people; an agent's run cannot use it"); n != refusals {
			t.Errorf("without %s: %d refusals, want %d: %s", hide, n, refusals, answers)
		}
	}
	if status := p.ok("wfs", "status", "other", "--json"); !strings.Contains(status, `"status":"created"`) {
		t.Errorf("the agent has changed the other session: %s", status)
	}
	p.ok("wfs", "run", "other") // a note whose origin is not known is kept, and says so
	testkit.Holds(t, p.ok("wfs", "log", "other", "--events", "--json"), `"text":"by the agent"`, `"meanwhile":true`)
}
