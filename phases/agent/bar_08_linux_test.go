package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

const (
	zooVariable = "WFS_TEST_ZOO" // JSON of a zooRun: the test's program then runs it
	zooGrace    = 400 * time.Millisecond
	zooMemory   = 64 << 10 // kilobytes above idle
	zooLog      = 1 << 20  // bytes
)

// zooRun is one run of a beast, in a process of its own. Otherwise left-over processes and memory could not be
// attributed to it.
type zooRun struct {
	Root, RunDir, Temp, RunID, Script string
	Idle, Timeout                     time.Duration
	Cancel                            bool
}

type zooSeen struct {
	Result     session.RunResult
	Took       time.Duration
	Idle, Most int // kilobytes of memory: before, and maximum
}

func TestMain(m *testing.M) {
	if text := os.Getenv(zooVariable); text != "" {
		var z zooRun
		if err := json.Unmarshal([]byte(text), &z); err != nil {
			panic(err)
		}
		seen, err := z.run()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(seen)
		os.Exit(0)
	}
	os.Exit(testkit.Main(m))
}

func (z zooRun) run() (zooSeen, error) {
	req := attemptRequest()
	req.RunDir, req.Started.RunID = z.RunDir, z.RunID
	req.Plan.Agent = workflows.Agent{Idle: z.Idle, Timeout: z.Timeout, Card: &workflows.Card{Name: "zoo", Decoder: "claude",
		Command: []string{"bash", "-c", z.Script}, Prompt: workflows.PromptStdin, Set: map[string]string{"ZOO": z.RunID}, Interrupt: true}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := Runner{Root: z.Root, Temp: z.Temp, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + z.RunDir}, Now: time.Now,
		Grace: zooGrace, Settle: 300 * time.Millisecond, MaxLog: zooLog}
	r.Watch = func(agents.Event) {
		if z.Cancel {
			cancel()
		}
	}
	seen := zooSeen{Idle: memoryOf("VmRSS")}
	began := time.Now()
	var err error
	seen.Result, err = r.Run(ctx, req)
	seen.Took, seen.Most = time.Since(began), memoryOf("VmHWM")
	return seen, err
}

// memoryOf reads a line of proc(5)'s status, in kilobytes.
func memoryOf(name string) int {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), name+":")
	n := 0
	_, _ = fmt.Sscan(rest, &n)
	return n
}

// TestBar08Zoo: whatever an agent does, its run ends in time, with the right outcome, without left-overs, in little
// memory.
func TestBar08Zoo(t *testing.T) {
	t.Parallel()
	testkit.Long(t)
	const atOnce = 6 // most of them are idle most of the time
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	ran := make([]zooRan, len(zoo))
	for i, b := range zoo {
		ran[i] = b.prepare(t, fmt.Sprintf("zoo-%d-%d", os.Getpid(), i))
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			ran[i].out, ran[i].err = ran[i].cmd.Output()
		})
	}
	all.Wait()
	for i, b := range zoo {
		t.Run(b.name, func(t *testing.T) { b.check(t, ran[i]) })
	}
}

type zooRan struct {
	zooRun
	cmd *exec.Cmd
	out []byte
	err error
}

func (b beast) prepare(t *testing.T, id string) zooRan {
	top := shortDir(t)
	z := zooRun{Root: filepath.Join(top, "root"), RunDir: filepath.Join(top, "run"), Temp: filepath.Join(top, "tmp"), RunID: id,
		Script: zooHead + b.script, Idle: time.Duration(b.idle) * time.Millisecond, Timeout: time.Duration(b.timeout) * time.Millisecond, Cancel: b.cancel}
	for _, dir := range []string{z.Root, z.RunDir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := json.Marshal(z)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), zooVariable+"="+string(text))
	return zooRan{zooRun: z, cmd: cmd}
}

func (b beast) check(t *testing.T, z zooRan) {
	id, out, err := z.RunID, z.out, z.err
	var seen zooSeen
	if err == nil {
		err = json.Unmarshal(out, &seen)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := seen.Result.Outcome; got != b.want {
		t.Errorf("%s, want %s: %+v", got, b.want, seen.Result)
	}
	if most := time.Duration(b.within)*time.Millisecond + zooGrace + 2*time.Second; b.within > 0 && seen.Took > most {
		t.Errorf("it took %v, at most %v", seen.Took, most)
	}
	if grown := seen.Most - seen.Idle; grown > zooMemory*raceMemory {
		t.Errorf("%d KB of memory", grown)
	}
	if marked, called := proc.Marked(runMarker(id)), calledSo(id); len(marked)+len(called)+len(seen.Result.Survivors) > 0 {
		t.Errorf("alive: %v, %v, said to be alive: %v", marked, called, seen.Result.Survivors)
		for _, pid := range append(marked, called...) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for _, name := range []string{OutputFile, ErrorsFile} {
		if info, err := os.Stat(filepath.Join(z.RunDir, name)); err == nil && info.Size() > zooLog {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
	if left, _ := os.ReadDir(z.Temp); len(left) > 0 {
		t.Errorf("left in the directory for temporary files: %v", left)
	}
}

// calledSo lists processes by the first word of their command line.
func calledSo(name string) []int {
	var found []int
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		text, _ := os.ReadFile(path)
		if first, _, _ := strings.Cut(string(text), "\x00"); first == name {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, pid)
		}
	}
	return found
}
