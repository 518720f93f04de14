// Package agents plays sessions with real agent programs, from npm, against a scripted model on loopback. See
// .ci/agents.
package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

var counter atomic.Int64

func unique(kind string) string { return fmt.Sprintf("%s_played_%d", kind, counter.Add(1)) }

// realAgent has the set-up of one program for a session, and the model's tool calls for it.
type realAgent struct {
	name, npm string // the agent's name in wfs, the npm package with its version
	allow     string // YAML
	env       []string
	files     map[string]string // in HOME; ADDR and REPO are filled in
	write     func(top, path, text string, known bool) []reply
	run       func(command string) reply
	done      []reply // reports that the work is done
	limited   func() reply
	reads     bool // it reads notes while it works
}

const doneLine = `All of it is there.` + "\n" + `WFS_RESULT: {"done": true}`

func tool(name string, input jsonMap) reply { return reply{Tool: name, Input: input} }

func claudeLike(version string) realAgent {
	return realAgent{name: "claude", reads: true, npm: "@anthropic-ai/claude-code@" + version, allow: `["Bash(go test:*)"]`,
		env: []string{"ANTHROPIC_BASE_URL=http://ADDR", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-played", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_MAX_RETRIES=2"},
		write: func(top, path, text string, known bool) (steps []reply) {
			if known { // it refuses to overwrite a file that it has not read
				steps = append(steps, tool("Read", jsonMap{"file_path": filepath.Join(top, path)}))
			}
			return append(steps, tool("Write", jsonMap{"file_path": filepath.Join(top, path), "content": text}))
		},
		run:  func(c string) reply { return tool("Bash", jsonMap{"command": c, "description": "run it"}) },
		done: []reply{tool("StructuredOutput", jsonMap{"done": true, "ask": "", "note": ""}), {Text: "Done."}},
		limited: func() reply {
			reset := strconv.FormatInt(time.Now().Add(20*time.Second).Unix(), 10)
			return reply{Status: 429, Text: "This request would exceed your account's rate limit.", Headers: map[string]string{
				"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": reset, "anthropic-ratelimit-unified-representative-claim": "five_hour",
				"anthropic-ratelimit-unified-5h-status": "rejected", "anthropic-ratelimit-unified-5h-reset": reset, "anthropic-ratelimit-unified-5h-utilization": "1.0"}}
		},
	}
}

// planLimit is a limit as OpenAI reports it for a ChatGPT plan: codex prints its end, in local time and in minutes.
func planLimit() reply {
	return reply{Status: 429, Body: jsonMap{"error": jsonMap{"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
		"resets_at": time.Now().Add(5 * time.Second).Unix(), "resets_in_seconds": 5}}}
}

// capacityLimit is a limit as Google reports it for Code Assist: gemini would wait for its end by itself.
func capacityLimit() reply {
	return reply{Status: 429, Body: jsonMap{"error": jsonMap{"code": 429, "status": "RESOURCE_EXHAUSTED",
		"message": "You have exhausted your capacity on this model. Your quota will reset after 0h1m31s.",
		"details": []any{jsonMap{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "QUOTA_EXHAUSTED", "domain": "cloudcode-pa.googleapis.com"},
			jsonMap{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "91s"}}}}}
}

// tokenLimit is a limit as OpenAI's API reports it: opencode would wait for its end by itself.
func tokenLimit() reply {
	return reply{Status: 429, Headers: map[string]string{"retry-after": "91"}, Body: jsonMap{"error": jsonMap{"type": "tokens", "code": "rate_limit_exceeded",
		"message": "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 30000, Requested 500. Please try again in 91s."}}}
}

var realAgents = map[string]realAgent{
	"claude-2.1.329": claudeLike("2.1.329"),
	"claude-2.1.197": claudeLike("2.1.197"),
	"codex-0.169.0": {name: "codex", npm: "@openai/codex@0.169.0", env: []string{"OPENAI_API_KEY=played"}, limited: planLimit,
		files: map[string]string{".codex/config.toml": "model_provider = \"played\"\nmodel = \"played\"\n[model_providers.played]\nname = \"played\"\nwire_api = \"responses\"\n" +
			"base_url = \"http://ADDR/v1\"\nenv_key = \"OPENAI_API_KEY\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"},
		write: func(_, path, text string, _ bool) []reply {
			return []reply{tool("exec_command", jsonMap{"cmd": "mkdir -p " + filepath.Dir(path) + " && cat > " + path + " <<'END'\n" + text + "END\n"})}
		},
		run:  func(c string) reply { return tool("exec_command", jsonMap{"cmd": c}) },
		done: []reply{{Text: `{"done":true,"ask":"","note":""}`}}},
	"gemini-0.61.0": {name: "gemini", npm: "@google/gemini-cli@0.61.0", allow: `["run_shell_command(go test)", "run_shell_command(go vet)"]`, limited: capacityLimit,
		env: []string{"GEMINI_API_KEY=played", "GOOGLE_GEMINI_BASE_URL=http://ADDR"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false}}`,
			".gemini/trustedFolders.json": `{"REPO":"TRUST_FOLDER"}`},
		write: func(top, path, text string, _ bool) []reply {
			return []reply{tool("write_file", jsonMap{"file_path": filepath.Join(top, path), "content": text})}
		},
		run:  func(c string) reply { return tool("run_shell_command", jsonMap{"command": c, "description": "run it"}) },
		done: []reply{{Text: doneLine}}},
	"opencode-1.18.33": {name: "opencode", npm: "opencode-ai@1.18.33", allow: `["go test*"]`, limited: tokenLimit,
		files: map[string]string{".config/opencode/opencode.json": `{"provider":{"played":{"npm":"@ai-sdk/openai-compatible","name":"played",` +
			`"options":{"baseURL":"http://ADDR/v1","apiKey":"played"},"models":{"m":{"name":"m"}}}},"model":"played/m"}`},
		write: func(top, path, text string, known bool) (steps []reply) {
			if known {
				steps = append(steps, tool("read", jsonMap{"filePath": filepath.Join(top, path)}))
			}
			return append(steps, tool("write", jsonMap{"filePath": filepath.Join(top, path), "content": text}))
		},
		run:  func(c string) reply { return tool("bash", jsonMap{"command": c, "description": "run it"}) },
		done: []reply{{Text: doneLine}}},
}

const (
	realTest = "package calc\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tif got := Sub(3, 1); got != 2 {\n\t\tt.Errorf(\"Sub(3, 1) = %d\", got)\n\t}\n}\n"
	realMore = "package calc\n\nimport \"testing\"\n\nfunc TestSubStopsAtZero(t *testing.T) {\n\tif got := Sub(1, 3); got != 0 {\n\t\tt.Errorf(\"Sub(1, 3) = %d\", got)\n\t}\n}\n"
)

// realNote is left while the second attempt works.
const realNote = "NOTE-IN-THE-TURN"

// realKept is an edit of calc.go that a successful `git reset --hard` would lose.
const realKept = "package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n"

// realRules are the rule files of the project, each with a word of its own.
var realRules = map[string]string{"CLAUDE.md": "RULE-OF-CLAUDE", "AGENTS.md": "RULE-OF-AGENTS", "GEMINI.md": "RULE-OF-GEMINI"}

// briefWhole checks that a request that begins a conversation has the complete brief, and each rule file: loaded, or
// named.
func (r *realAgent) briefWhole(where modelAt, body jsonMap) (problems []string) {
	data, _ := json.Marshal(body)
	text := string(data)
	answer := "- `ask`: if only a person can decide"
	for _, want := range []string{"Words of the specification.", "## Your job", "## Rules", "## Done means", answer} {
		if !strings.Contains(text, want) {
			problems = append(problems, fmt.Sprintf("%v: the brief has no %q", where, want))
		}
	}
	for file, word := range realRules {
		_, named, _ := strings.Cut(text, "Project rules: read ")
		named, _, _ = strings.Cut(named, "before you edit")
		if loaded := strings.Contains(text, word); loaded == strings.Contains(named, "`"+file+"`") {
			problems = append(problems, fmt.Sprintf("%v: %s is loaded: %v, named: %q", where, file, loaded, named))
		}
	}
	return problems
}

func realSub(body string) string {
	return "package calc\n\n// Sub subtracts.\nfunc Sub(a, b int) int { return " + body + " }\n"
}

// plays returns the model's turns in each attempt. In lap 1 its first implementation is wrong, and it claims to be
// done.
func (r *realAgent) plays(top string) map[string][]reply {
	steps := func(parts ...[]reply) (all []reply) {
		for _, p := range append(parts, r.done) {
			all = append(all, p...)
		}
		return all
	}
	test := []reply{r.run("go test ./...")}
	right := r.write(top, "sub.go", realSub("max(a-b, 0)"), true)
	return map[string][]reply{
		"1/RED/1":   steps(r.write(top, "sub_test.go", realTest, false)),
		"1/GREEN/1": steps(r.write(top, "sub.go", realSub("a + b"), false)),
		"1/GREEN/2": steps(test, r.write(top, "sub.go", realSub("a - b"), true), test),
		"1/REFACTOR/1": steps(r.write(top, "calc.go", realKept, true), []reply{r.run("git push origin HEAD:pushed"),
			r.run("git commit -a -m forbidden"), r.run("git reset --hard")}),
		"2/RED/1":      steps(r.write(top, "zero_test.go", realMore, false)),
		"2/GREEN/1":    steps(right),
		"2/GREEN/2":    steps(right),
		"2/GREEN/3":    steps(right),
		"2/REFACTOR/1": steps(),
	}
}

// TestRealAgents plays a session of two laps of tdd with each real agent, against a model that is played on loopback:
// a wrong claim, a usage limit, a conversation that continues, and a kill in the middle. WFS_REAL_AGENTS names the
// directory in which .ci/agents has installed the programs.
func TestRealAgents(t *testing.T) {
	dir := os.Getenv("WFS_REAL_AGENTS")
	if dir == "" {
		t.Skip("WFS_REAL_AGENTS is not set: .ci/agents")
	}
	wfs := testkit.Wfs(t)
	for name, agent := range realAgents {
		t.Run(name, func(t *testing.T) {
			bin := filepath.Join(dir, name, "node_modules", ".bin")
			if _, err := os.Stat(filepath.Join(bin, agent.name)); err != nil {
				t.Skipf("SKIPPED: %s is not installed: %v", agent.npm, err)
			}
			playSession(t, wfs, bin, agent)
		})
	}
}

// night is one session with a real agent.
type night struct {
	t        *testing.T
	wfs, top string
	env      []string
}

func (n *night) command(args ...string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	if args[0] == "wfs" {
		c = exec.Command(n.wfs, args[1:]...)
	}
	c.Dir, c.Env = n.top, n.env
	return c
}

// do runs a command, checks its exit code and logs its output.
func (n *night) do(exit int, args ...string) string {
	n.t.Helper()
	out, err := n.command(args...).CombinedOutput()
	n.t.Logf("$ %s\n%s", strings.Join(args, " "), out)
	got := 0
	if err != nil {
		got = -1
		var e *exec.ExitError
		if errors.As(err, &e) {
			got = e.ExitCode()
		}
	}
	if got != exit {
		n.t.Fatalf("%s: exit %d, want %d", strings.Join(args, " "), got, exit)
	}
	return string(out)
}

// use returns the agent as a configuration names it.
func (r *realAgent) use(more ...string) string {
	parts := append([]string{"use: " + r.name}, more...)
	if r.allow != "" {
		parts = append(parts, "allow: "+r.allow)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// newNight serves a played model to agents, given by the directories of their programs.
func newNight(t *testing.T, wfs, top string, server *modelServer, agents map[string]realAgent) *night {
	t.Helper()
	home := t.TempDir()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: server}
	go func() { _ = web.Serve(socket) }()
	t.Cleanup(func() { _ = web.Close() })
	fill := strings.NewReplacer("ADDR", socket.Addr().String(), "REPO", top)
	path := os.Getenv("PATH")
	n := &night{t: t, wfs: wfs, top: top, env: []string{"HOME=" + home, "LANG=C.UTF-8", "TERM=dumb",
		"GOCACHE=" + goCache(t), "GOFLAGS=-mod=mod", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}}
	for bin, agent := range agents {
		path = bin + ":" + path
		for _, e := range agent.env {
			n.env = append(n.env, fill.Replace(e))
		}
		for name, text := range agent.files {
			n.put(filepath.Join(home, name), fill.Replace(text))
		}
	}
	n.env = append(n.env, "PATH="+path)
	return n
}

func (n *night) put(file, text string) {
	n.t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

// project makes a Go module with one function and its test, and a configuration with these lines.
func (n *night) project(config string) {
	n.t.Helper()
	n.put(filepath.Join(n.top, "go.mod"), "module example.org/calc\n\ngo 1.21\n")
	n.put(filepath.Join(n.top, "calc.go"), "package calc\n\nfunc Add(a, b int) int { return a + b }\n")
	n.put(filepath.Join(n.top, "calc_test.go"), "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error()\n\t}\n}\n")
	n.put(filepath.Join(n.top, "SPEC.md"), "# Subtraction\n\nWords of the specification.\n\n- [ ] Sub subtracts\n- [ ] Sub stops at zero\n")
	n.put(filepath.Join(n.top, ".wfs", "config.yaml"), "version: 1\n"+config+"gates:\n  tests: {run: go test -json ./..., format: go-test-json}\n")
	n.do(0, "git", "init", "-q", "-b", "main")
	n.do(0, "git", "add", "-A")
	n.do(0, "git", "commit", "-q", "-m", "start")
	n.do(0, "wfs", "trust", "--yes")
}

// goCache returns the shared build cache, so that the standard library is not built for each agent.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func playSession(t *testing.T, wfs, bin string, agent realAgent) {
	top, _ := filepath.EvalSymlinks(t.TempDir())
	plays := agent.plays(top)
	limited, hanging := false, make(chan struct{})
	hung, noted, heard := false, false, false
	var mu sync.Mutex
	var n *night
	server := &modelServer{play: func(p modelAt) reply {
		mu.Lock()
		defer mu.Unlock()
		steps := plays[p.key()]
		switch {
		case p.key() == "1/GREEN/2" && p.Step == 1 && !noted:
			noted = true
			out, err := n.command("wfs", "note", realNote, "--json").CombinedOutput()
			want := map[bool]string{true: "running", false: "next"}[agent.reads]
			if !strings.Contains(string(out), `"for":"`+want+`"`) {
				t.Errorf("wfs note: %v %s", err, out)
			}
		case heard && p.key() == "1/GREEN/2" && p.Step >= len(steps)-len(agent.done):
			return agent.done[0] // it may read the note after it has answered, and then answers again
		case p.key() == "2/RED/1" && p.Step == 1 && !limited:
			limited = true
			return agent.limited()
		case strings.HasPrefix(p.key(), "2/GREEN/") && p.Step >= 1 && !hung:
			hung = true
			close(hanging)
			return reply{Hang: true}
		}
		if p.Step < len(steps) {
			return steps[p.Step]
		}
		return reply{Text: "There is nothing more to do."}
	}}
	server.hear = func(where modelAt, body jsonMap) {
		if text, _ := json.Marshal(body); strings.Contains(string(text), "persistent file-based memory") {
			t.Errorf("%v: it has a memory beside the briefs", where)
		}
		if text, _ := json.Marshal(body); where.key() == "1/GREEN/2" && strings.Contains(string(text), realNote) {
			mu.Lock()
			heard = true
			mu.Unlock()
		}
		if where.Step == 0 && where.Briefs == 1 {
			for _, problem := range agent.briefWhole(where, body) {
				t.Error(problem)
			}
		}
	}
	n = newNight(t, wfs, top, server, map[string]realAgent{bin: agent})
	for file, word := range realRules {
		n.put(filepath.Join(top, file), word+"\n")
	}
	n.project("workflow: tdd\nagent: " + agent.use() + "\n")
	origin := t.TempDir()
	n.do(0, "git", "init", "-q", "--bare", origin)
	n.do(0, "git", "remote", "add", "origin", origin)
	check, _ := n.command("wfs", "agent", "check").CombinedOutput() // not all of them know who is logged in here
	t.Logf("$ wfs agent check\n%s", check)
	n.do(0, "wfs", "agent", "list")
	n.do(0, "wfs", "new", "subtract", "--spec", "SPEC.md")

	driver := n.command("wfs", "run", "--verbose")
	var log strings.Builder
	driver.Stdout, driver.Stderr = &log, &log
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- driver.Wait() }()
	select {
	case <-hanging:
		_ = driver.Process.Kill() // SIGKILL, to wfs only
		<-ended
		t.Logf("$ wfs run\n%s\nkilled with SIGKILL in the second lap", log.String())
	case err := <-ended:
		t.Fatalf("the first run ended by itself: %v\n%s", err, log.String())
	case <-time.After(8 * time.Minute): // opencode takes a minute for a run on a busy machine
		_ = driver.Process.Kill()
		t.Fatalf("the first run does not get on\n%s", log.String())
	}
	n.endSurvivors(n.do(0, "wfs", "status"))
	n.do(0, "wfs", "run")
	n.do(0, "wfs", "log")
	if status := n.do(0, "wfs", "status", "--json"); !strings.Contains(status, `"status":"completed"`) {
		t.Errorf("it is not completed")
	}
	n.conversations(server)
	if heard != agent.reads {
		t.Errorf("the running attempt has read the note: %v", heard)
	}
	if out := n.do(0, "git", "ls-remote", origin) + n.do(0, "git", "log", "--all", "--grep=forbidden", "--format=%h %s"); out != "" {
		t.Errorf("it pushed or committed: %s", out)
	}
	if text, err := os.ReadFile(filepath.Join(top, "calc.go")); string(text) != realKept {
		t.Errorf("git reset --hard ran: %v %s", err, text)
	}
	n.do(0, "wfs", "finish")
	n.do(0, "git", "log", "--stat", "--format=%h %s%n%b", "-1")
}

var alive = regexp.MustCompile("(?m)([0-9]+) `")

// endSurvivors ends an agent that outlived wfs, as wfs tells people to.
func (n *night) endSurvivors(status string) {
	for _, m := range alive.FindAllStringSubmatch(status, -1) {
		pid, _ := strconv.Atoi(m[1])
		n.t.Logf("$ kill %d", pid)
		_ = syscall.Kill(pid, syscall.SIGTERM)
		for range 200 { // until it is gone
			if syscall.Kill(pid, 0) != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // gemini ignores SIGTERM
	}
}

// conversations checks the requests to the model: the second attempt of lap 1 continued the same conversation, and so
// did the attempt after the one in which wfs was killed.
func (n *night) conversations(s *modelServer) {
	n.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	goneOn, killed := false, false
	for _, p := range s.seen {
		goneOn = goneOn || p.key() == "1/GREEN/2" && p.Briefs > 1
		killed = killed || p.Lap == "2" && p.Phase == "GREEN" && p.Briefs > 1
	}
	if !goneOn {
		n.t.Errorf("the second attempt did not go on with the conversation of the first: %+v", s.seen)
	}
	if !killed {
		n.t.Errorf("the attempt after the kill did not go on with the conversation that was cut: %+v", s.seen)
	}
	events, err := n.command("wfs", "log", "--events", "--json").Output()
	if err != nil {
		n.t.Error(err)
	}
	for _, want := range []string{`"agent_version"`, `"conversation"`, `"cause":"usage_limit"`} {
		if !strings.Contains(string(events), want) {
			n.t.Errorf("no event has %s", want)
		}
	}
}
