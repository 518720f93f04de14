package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// reviewers are pairs of agents: the worker and its reviewer. model, another model for the reviewer, is set if both are
// the same program.
var reviewers = []struct{ worker, reviewer, model string }{
	{"claude-2.1.329", "codex-0.169.0", ""},
	{"claude-2.1.329", "claude-2.1.329", "played-other"},
	{"codex-0.169.0", "claude-2.1.329", ""},
	{"claude-2.1.329", "gemini-0.61.0", ""},
	{"codex-0.169.0", "opencode-1.18.33", ""},
}

// look returns the model's call to read a file.
func (r *realAgent) look(top, path string) reply {
	switch r.name {
	case "claude":
		return tool("Read", jsonMap{"file_path": filepath.Join(top, path)})
	case "gemini":
		return tool("read_file", jsonMap{"file_path": filepath.Join(top, path)})
	case "opencode":
		return tool("read", jsonMap{"filePath": filepath.Join(top, path)})
	}
	return r.run("cat " + path)
}

// says returns the model's turns that give a verdict: in the requested form, if the program supports one.
func (r *realAgent) says(verdict jsonMap) []reply {
	switch r.name {
	case "claude":
		return []reply{tool("StructuredOutput", verdict), {Text: "Done."}}
	case "codex":
		data, _ := json.Marshal(verdict)
		return []reply{{Text: string(data)}}
	}
	data, _ := json.Marshal(verdict)
	return []reply{{Text: "I have read all of it.\nWFS_RESULT: " + string(data)}}
}

const realFinding = "adds where it should subtract"

func verdictOf(approve bool) jsonMap {
	if approve {
		return jsonMap{"verdict": "approve", "findings": []any{}, "ask": "", "note": ""}
	}
	return jsonMap{"verdict": "reject", "findings": []any{jsonMap{"path": "sub.go", "line": 4, "what": realFinding}}, "ask": "", "note": ""}
}

// TestRealReviews plays the workflow "reviewed" with two real agents: a review rejects the work with a finding, the
// work is corrected, and the review approves. In a second session the reviewer never approves, until a person
// decides. WFS_REAL_REVIEWS selects pairs by a part of their names.
func TestRealReviews(t *testing.T) {
	dir := os.Getenv("WFS_REAL_AGENTS")
	if dir == "" {
		t.Skip("WFS_REAL_AGENTS is not set: .ci/agents reviews")
	}
	wfs := testkit.Wfs(t)
	for _, pair := range reviewers {
		name := pair.worker + " by " + pair.reviewer
		if !strings.Contains(name, os.Getenv("WFS_REAL_REVIEWS")) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			agents := map[string]realAgent{}
			for _, name := range []string{pair.worker, pair.reviewer} {
				agent, bin := realAgents[name], filepath.Join(dir, name, "node_modules", ".bin")
				if _, err := os.Stat(filepath.Join(bin, agent.name)); err != nil {
					t.Skipf("SKIPPED: %s is not installed: %v", agent.npm, err)
				}
				agents[bin] = agent
			}
			playReviews(t, wfs, agents, realAgents[pair.worker], realAgents[pair.reviewer], pair.model)
		})
	}
}

// reviewedNight plays the model in sessions of "reviewed", and records the messages to it.
type reviewedNight struct {
	mu               sync.Mutex
	worker, reviewer realAgent
	top              string
	never            bool // the reviewer never approves

	phase  string
	turns  map[string]int // how often each phase began
	told   bool           // the finding was in a brief of the working phase
	again  bool           // and in a brief of the reviewer
	form   bool           // the reviewer had to give its verdict in a structured form
	models map[string]bool
}

func (v *reviewedNight) hear(at modelAt, body jsonMap) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at.Phase != v.phase {
		v.phase = at.Phase
		v.turns[at.Phase]++
	}
	text, _ := json.Marshal(body)
	if strings.Contains(string(text), "sub.go:4: "+realFinding) {
		v.told = v.told || at.Phase == "IMPLEMENT"
		v.again = v.again || at.Phase == "REVIEW"
	}
	if model, ok := body["model"].(string); ok {
		v.models[at.Phase+" "+model] = true
	}
	asked, _ := json.Marshal([]any{body["tools"], body["text"]})
	v.form = v.form || at.Phase == "REVIEW" && strings.Contains(string(asked), "approve, or reject for what must be fixed first")
}

func (v *reviewedNight) play(at modelAt) reply {
	v.mu.Lock()
	defer v.mu.Unlock()
	var steps []reply
	switch turn := v.turns[at.Phase]; at.Phase {
	case "PLAN":
		plan := filepath.Join(".workflow", map[bool]string{false: "mended", true: "never"}[v.never], "plan.md")
		steps = append(v.worker.write(v.top, plan, "# Plan\n\n- [x] Sub subtracts, and a test shows it\n", false), v.worker.done...)
	case "IMPLEMENT":
		body := "a + b"
		if turn > 1 {
			body = "a - b + " + strings.Repeat("0 + ", turn-2) + "0" // another text each time
		}
		steps = append(v.worker.write(v.top, "sub.go", realSub(body), turn > 1), v.worker.done...)
	case "REVIEW":
		steps = append([]reply{v.reviewer.look(v.top, "sub.go")}, v.reviewer.says(verdictOf(turn > 1 && !v.never))...)
	}
	if at.Step < len(steps) {
		return steps[at.Step]
	}
	return reply{Text: "There is nothing more to do."}
}

func playReviews(t *testing.T, wfs string, agents map[string]realAgent, worker, reviewer realAgent, model string) {
	top, _ := filepath.EvalSymlinks(t.TempDir())
	v := &reviewedNight{worker: worker, reviewer: reviewer, top: top, turns: map[string]int{}, models: map[string]bool{}}
	n := newNight(t, wfs, top, &modelServer{play: v.play, hear: v.hear}, agents)
	var other []string
	if model != "" {
		other = append(other, "model: "+model)
	}
	n.project("workflow: reviewed\nagent: " + worker.use() + "\nagents: {reviewer: " + reviewer.use(other...) + "}\n")

	n.do(0, "wfs", "new", "mended")
	n.do(0, "wfs", "run", "--verbose")
	n.do(0, "wfs", "log")
	if status := n.do(0, "wfs", "status", "--json"); !strings.Contains(status, `"status":"completed"`) {
		t.Errorf("it is not completed")
	}
	if v.turns["REVIEW"] != 2 || v.turns["IMPLEMENT"] != 2 {
		t.Errorf("the phases began so often: %v", v.turns)
	}
	if !v.told || !v.again {
		t.Errorf("the finding stood in a brief of IMPLEMENT: %v, of the second REVIEW: %v", v.told, v.again)
	}
	if _, ok := map[string]bool{"claude": true, "codex": true}[reviewer.name]; ok != v.form {
		t.Errorf("asked for a verdict in its own form: %v, want %v", v.form, ok)
	}
	if model != "" && !v.models["REVIEW "+model] {
		t.Errorf("the models were %v", v.models)
	}
	events := n.do(0, "wfs", "log", "--events", "--json")
	if !strings.Contains(events, `"by":"`+reviewer.name+`"`) {
		t.Errorf("no event tells of a review by %s", reviewer.name)
	}
	n.do(0, "wfs", "finish")
	n.do(0, "git", "switch", "-q", "main")

	v.mu.Lock()
	v.never, v.turns, v.phase = true, map[string]int{}, ""
	v.mu.Unlock()
	n.do(0, "wfs", "new", "never")
	if out := n.do(3, "wfs", "run"); !strings.Contains(out, "the work was sent back 3 times") || !strings.Contains(out, realFinding) {
		t.Errorf("a person is not told of three reviews")
	}
	if v.turns["REVIEW"] != 3 {
		t.Errorf("it was reviewed %d times, want 3", v.turns["REVIEW"])
	}
	n.do(0, "wfs", "approve", "-m", "it is good enough")
	if status := n.do(0, "wfs", "status", "--json"); !strings.Contains(status, `"status":"completed"`) {
		t.Errorf("it is not completed")
	}
}
