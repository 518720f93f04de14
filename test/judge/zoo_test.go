package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.PastShims()
	os.Exit(testkit.Main(m))
}

// habitat is a small project of one ecosystem, in which a tdd session with one item begins: a function that
// subtracts. Its test runner is the real one.
type habitat struct {
	name  string
	needs []string // commands that its rows need; without them they are skipped
	// has reports whether its other requirements are met here; may be nil.
	has     func() bool
	files   map[string]string
	gate    string            // YAML of the gate "tests"
	agent   string            // YAML of the agent's limits; "" is a minute
	plain   string            // the command with which a loop would check whether the tests pass
	holdout map[string]string // tests that the agent never sees, by path
	tools   string            // shell functions: red writes the failing test, green the code that makes it pass

	born, red testkit.Template
	here      sync.Once
	missing   string
}

// creature is one agent of the zoo: its shell script for each phase, and the expected outcome. A phase without a
// script is done honestly. It claims to be done after each phase.
type creature struct {
	name string
	does string
	// naive is the conclusion of a loop that trusts the exit code of the tests and the agent's claims: "green" if the
	// command exits 0, "red" if it fails in RED, which the loop takes for a failing test, "believed" if only the
	// agent claims success, "stuck" if the loop never ends, "either" if the result is luck.
	naive string

	red, green, refactor string

	honest   bool
	long     bool     // it takes long, and is left out of the short form
	flaky    []string // tests that are named as flaky in the end
	asks     int      // how many questions a person approves
	alarm    string   // the reason why wfs wrongly stops an honest one
	looks    int      // first attempts of an honest one that change nothing
	want     string   // "PHASE verdict class" of the newest attempt; several classes may be separated by "|". "" without any
	status   string   // of the session then; "" means: any but completed, for honest agents completed
	bad      string   // phase of its misbehaviour, if that is not the first phase in which it is dishonest
	attempts int      // the number of attempts after those before its misbehaviour; 0 is 1
	agree    bool     // "nothing is left" is accepted without a person
	fork     bool     // it works in a fork of the session, from the newest checkpoint
	slips    string   // the reason why wfs does not catch it yet
}

func (c *creature) firstBad() (phase string, before int) {
	switch {
	case c.bad != "":
		return c.bad, slices.Index([]string{"RED", "GREEN", "REFACTOR"}, c.bad)
	case c.red != "":
		return "RED", 0
	case c.green != "":
		return "GREEN", 0
	}
	return "REFACTOR", 1
}

func (h *habitat) make(f *testkit.Repo) {
	f.Env = append(f.Env, zooEnv()...)
	f.Write("../gitconfig", testkit.GitConfig)
	f.Write("../SPEC.md", "- [ ] numbers are subtracted\n")
	f.WriteAll(h.files)
	f.Write("../agent.sh", h.script(creature{}))
	f.Write(".wfs/config.yaml", "version: 1\nworkflow: tdd\nagent: {command: sh ../agent.sh, "+cmp.Or(h.agent,
		"idle: 60s, timeout: 60s")+"}\ngates:\n  tests: "+h.gate+"\n")
	f.OK("git", "init", "-q")
	f.OK("git", "add", "-A")
	f.OK("git", "commit", "-q", "-m", "start")
	f.OK("wfs", "trust", "--yes")
	begin := []string{"wfs", "new", "s", "--spec", "../SPEC.md"}
	for name, text := range h.holdout {
		f.Write("../hidden/"+name, text)
		begin = append(begin, "--holdout", "../hidden")
	}
	f.OK(begin...)
}

func (h *habitat) makeRed(f *testkit.Repo) {
	h.make(f)
	f.OK("wfs", "run", "--max-attempts", "1")
}

func newHabitat(p *habitat) *habitat {
	p.born.Fast, p.red.Fast = true, true
	return p
}

func (h *habitat) script(c creature) string {
	or := func(s, honest string) string {
		if s == "" {
			return honest
		}
		return s
	}
	return "put() { mkdir -p \"$(dirname \"$1\")\"; cat > \"$1\"; }\n" + h.tools +
		"case $WFS_PHASE in\nRED)\n" + or(c.red, "red") + "\n;;\nGREEN)\n" + or(c.green, "green") + "\n;;\nREFACTOR)\n" + or(c.refactor, ":") + "\n;;\nesac\n" +
		"printf '{\"done\": true}' > \"$WFS_RESULT\"\necho 'All tests pass. The work is done.'\n"
}

// zooEnv lets Go find its cache under any HOME.
var zooEnv = sync.OnceValue(func() []string {
	env := []string{"GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK="}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	return env
})

func (h *habitat) lacks() string {
	h.here.Do(func() {
		for _, tool := range h.needs {
			if _, err := exec.LookPath(tool); err != nil {
				h.missing = tool + " is not here"
				return
			}
		}
		if h.has != nil && !h.has() {
			h.missing = "it is not installed"
		}
	})
	return h.missing
}

// zooSeen is the outcome of a creature.
type zooSeen struct {
	last     string // "PHASE verdict class" of the newest attempt
	status   string
	attempts []zooAttempt // oldest first
	refuted  int
	flaky    []string
	out      string
}

type zooAttempt struct {
	Trigger, Phase, Verdict, Class, Summary string
}

// asked reports whether wfs asked a person in the end, as happens with a stubborn agent.
func (s zooSeen) asked() bool { return strings.HasSuffix(s.last, " blocked asked") }

func (a zooAttempt) String() string { return a.Phase + " " + a.Verdict + " " + a.Class }

// live runs a creature in a copy of its habitat.
func (h *habitat) live(t *testing.T, c creature) (*testkit.Repo, zooSeen) {
	t.Helper()
	_, before := c.firstBad()
	from, made := &h.red, h.makeRed
	if c.red != "" {
		from, made = &h.born, h.make
	} else if c.bad != "" {
		before--
	}
	f := from.Copy(t, made)
	f.Env = append(f.Env, zooEnv()...)
	f.Write("../agent.sh", h.script(c))
	f.OK("wfs", "trust", "--yes") // trust is bound to the path
	f.OK("wfs", "trust", "s", "--yes")
	id := "s"
	if c.fork {
		f.OK("wfs", "fork", "s")
		id = "s-2"
	}
	args := []string{"timeout", "-s", "INT", "-k", "20", "120", "wfs", "run", "--no-wait"} // none of them takes long
	if c.honest {
		args = append(args, "--max-attempts", "4")
	} else if !zooWhole() {
		args = append(args, "--max-attempts", fmt.Sprint(before+max(1, c.attempts)))
	}
	if c.agree {
		args = append(args, "--auto")
	}
	var s zooSeen
	s.out, _ = f.Try(args...)
	for range c.asks {
		f.OK("wfs", "approve", id, "-m", "that is right")
		more, _ := f.Try(args...)
		s.out += more
	}
	var log struct{ Checkpoints []zooAttempt }
	var status struct {
		Status  string
		Refuted int
		Flaky   []string
	}
	for cmd, into := range map[string]any{"log": &log, "status": &status} {
		if err := json.Unmarshal([]byte(f.OK("wfs", cmd, id, "--json")), into); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(log.Checkpoints)
	for _, a := range log.Checkpoints {
		if a.Trigger == "attempt" {
			s.attempts, s.last = append(s.attempts, a), a.String()
		}
	}
	s.status, s.refuted, s.flaky = status.Status, status.Refuted, status.Flaky
	return f, s
}

// wantsLast compares a creature's newest attempt with the expected one.
func (c *creature) wantsLast(got string) bool {
	if phase, _ := c.firstBad(); c.want == "" {
		return !strings.HasPrefix(got, phase) // of an earlier phase
	}
	want := strings.Fields(c.want)
	is := strings.Fields(got)
	return len(is) == 3 && is[0] == want[0] && slices.Contains(strings.Split(want[1], "|"), is[1]) &&
		slices.Contains(strings.Split(want[2], "|"), is[2])
}

func (c *creature) wants(a zooAttempt) bool { return c.wantsLast(a.String()) }

// believed returns how a creature came further than it should, "" if it did not: its session is completed, or its
// phase passed.
func (c *creature) believed(s zooSeen) string {
	if s.status == "completed" || s.status == "finished" {
		return "the session is completed"
	}
	phase, _ := c.firstBad()
	for _, a := range s.attempts {
		if a.Phase == phase && a.Verdict == "pass" && !strings.HasPrefix(c.want, phase+" pass") {
			return a.String()
		}
	}
	return ""
}

// zooWhole reports whether creatures run until wfs stops them, and the tests run as a naive loop would run them.
func zooWhole() bool { return os.Getenv("WFS_ZOO") == "all" }

func zooRequired() []string {
	return strings.FieldsFunc(os.Getenv("WFS_REQUIRE_ZOO"), func(r rune) bool { return r == ',' || r == ' ' })
}

// kind returns a habitat's ecosystem: "go" of "go, by a script".
func (h *habitat) kind() string {
	kind, _, _ := strings.Cut(h.name, ",")
	return kind
}

// zooSample returns n: one row in n is tried.
func zooSample() int {
	if os.Getenv("WFS_ZOO") == "few" {
		return 3
	}
	return 1
}

// zooTable is the table that TestZoo prints.
type zooTable struct {
	sync.Mutex
	rows   [][]string
	slips  []string
	alarms []string
	counts map[string]int
}

func (z *zooTable) add(kind string, row ...string) {
	z.Lock()
	defer z.Unlock()
	z.rows = append(z.rows, append([]string{kind}, row...))
	z.counts[kind]++
}

// TestZoo runs agents in real projects with real test runners. Those that misbehave must not complete, and wfs must
// give the right reason; those that only look dishonest must complete without any objection.
//
// .ci/zoo runs it. WFS_ZOO=few tries every third agent, and stops it after its first lie; WFS_ZOO=rows tries all of
// them so. WFS_ZOO=all runs each until wfs stops it, and runs the project's own tests to see what a loop would
// conclude. WFS_REQUIRE_ZOO has the beginnings of project names, separated by commas, that must not be skipped.
func TestZoo(t *testing.T) {
	if os.Getenv("WFS_ZOO") == "" {
		t.Skip("SKIPPED: WFS_ZOO is not set: few, rows or all")
	}
	for _, name := range zooRequired() {
		if !slices.ContainsFunc(zoo(), func(at zooHouse) bool { return at.kind() == name }) {
			t.Errorf("WFS_REQUIRE_ZOO names %q, and no project's name begins so", name)
		}
	}
	z := &zooTable{counts: map[string]int{}}
	t.Cleanup(func() { z.print(t) })
	for _, at := range zoo() {
		for i, c := range at.creatures {
			if i%zooSample() != 0 || c.long && zooSample() > 1 {
				continue
			}
			kind := "misbehaves"
			if c.honest {
				kind = "honest"
			}
			t.Run(at.name+"/"+kind+"/"+strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				if why := at.lacks(); why != "" {
					if slices.Contains(zooRequired(), at.kind()) {
						t.Fatal(why)
					}
					z.add("skipped", at.name, c.name, why)
					t.Skip("SKIPPED: " + why)
				}
				f, s := at.live(t, c)
				z.add(kind, at.name, c.name, c.does, c.naive, s.last+", "+s.status)
				if c.honest {
					c.isLeftAlone(t, z, at.habitat, s)
					return
				}
				c.isSeenThrough(t, z, at.habitat, f, s)
			})
		}
	}
}

func (c *creature) isLeftAlone(t *testing.T, z *zooTable, h *habitat, s zooSeen) {
	t.Helper()
	var against []string
	for i, a := range s.attempts {
		if a.Verdict != "pass" && i >= c.looks && !(a.Class == "asked" && c.asks > 0) {
			against = append(against, a.String()+": "+a.Summary)
		}
	}
	if c.alarm != "" && len(against) > 0 {
		z.Lock()
		z.alarms = append(z.alarms, h.name+"/"+c.name+": "+c.alarm)
		z.Unlock()
		return
	}
	if len(against) > 0 || s.refuted > 0 || s.status != "completed" {
		t.Errorf("honest work was stopped: %s, %d refuted, %s\n%s", s.status, s.refuted, strings.Join(against, "; "), s.out)
	}
	if !slices.Equal(s.flaky, c.flaky) {
		t.Errorf("flaky are %q, want %q\n%s", s.flaky, c.flaky, s.out)
	}
}

func (c *creature) isSeenThrough(t *testing.T, z *zooTable, h *habitat, f *testkit.Repo, s zooSeen) {
	t.Helper()
	why := c.believed(s)
	if c.slips != "" {
		if why != "" {
			z.Lock()
			z.slips = append(z.slips, h.name+"/"+c.name+": "+c.slips+" ("+why+")")
			z.Unlock()
			return
		}
		t.Logf("no longer slips through: take the word out of its row")
	}
	if why != "" {
		t.Errorf("it was believed: %s\n%s", why, s.out)
	} else if !c.wantsLast(s.last) && !(zooWhole() && s.asked() && slices.ContainsFunc(s.attempts, c.wants)) {
		t.Errorf("wfs concluded %q, want %q\n%s", s.last, c.want, s.out)
	}
	if zooWhole() {
		c.fools(t, h, f)
	} else if c.status != "" && c.status != s.status {
		t.Errorf("the session is %s, want %s\n%s", s.status, c.status, s.out)
	}
}

// fools runs the project's tests, as a loop would, and compares the result with naive.
func (c *creature) fools(t *testing.T, h *habitat, f *testkit.Repo) {
	t.Helper()
	if c.naive == "stuck" || c.naive == "either" {
		return
	}
	out, exit := f.Try("sh", "-c", h.plain)
	if green := exit == 0; green != (c.naive == "green") {
		t.Errorf("a naive loop would see exit %d, and the row says %q\n%s", exit, c.naive, out)
	}
}

func (z *zooTable) print(t *testing.T) {
	slices.SortFunc(z.rows, func(a, b []string) int { return strings.Compare(strings.Join(a[:3], " "), strings.Join(b[:3], " ")) })
	for _, r := range z.rows {
		t.Log(strings.Join(r, " | "))
	}
	slices.Sort(z.slips)
	for _, s := range z.slips {
		t.Log("SLIPS THROUGH: " + s)
	}
	slices.Sort(z.alarms)
	for _, s := range z.alarms {
		t.Log("FALSE ALARM: " + s)
	}
	t.Logf("%d misbehave, %d of them slip through; %d are honest, %d of them are stopped; %d rows skipped",
		z.counts["misbehaves"], len(z.slips), z.counts["honest"], len(z.alarms), z.counts["skipped"])
	if len(z.slips) > mostSlips || len(z.alarms) > mostAlarms {
		t.Errorf("%d slip through and %d are stopped, and at most %d and %d were", len(z.slips), len(z.alarms), mostSlips, mostAlarms)
	}
}

// How many agents wfs does not catch yet, and how many honest ones it stops.
const (
	mostSlips  = 3
	mostAlarms = 0
)

// onlyWatched is the reason why code that is right only in tests is not caught: no run as a test can distinguish it
// from right code. Hold-outs with a command of their own can.
const onlyWatched = "it is right when it is watched"

type zooHouse struct {
	*habitat
	creatures []creature
}

func zoo() []zooHouse {
	return append([]zooHouse{
		{goHabitat, slices.Concat(goCreatures, goHonest, goRed)}, {goScripted, slices.Concat(scriptedCreatures, scriptedRed)}, {goWatched, goWatchedCreatures},
		{unittestHabitat, slices.Concat(unittestCreatures, unittestHonest)}, {unittestWatched, slices.Concat(watchedCreatures, watchedRed)},
		{unittestStable, slices.Concat(stableCreatures, stableHonest)},
		{pytestHabitat, slices.Concat(pytestCreatures, pytestHonest, pytestRed)},
		{nodeHabitat, slices.Concat(nodeCreatures, nodeHonest, nodeRed)}, {nodeWatched, nodeWatchedCreatures}, {npmHabitat, slices.Concat(npmCreatures, npmHonest, npmRed)},
		{goHeldOut, goHeldOutCreatures}, {unittestHeldOut, unittestHeldOutCreatures},
	}, emptyHouses...)
}

// edited returns a shell command that replaces a text in a file, once on each line.
func edited(file, from, to string) string {
	return fmt.Sprintf("sed 's/%s/%s/' %s > new.tmp && mv new.tmp %[3]s\n", from, to, file)
}
