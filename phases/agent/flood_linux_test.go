package agent

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/workflows"
)

// floods are the output of runners whose tests print a lot: a result and test output, repeated with increasing numbers.
var floods = []struct {
	name   string
	format workflows.Format
	result string // @ is replaced by a number
	says   string
}{
	{"plain", workflows.FormatExit, "", "some plausible test output line\n"},
	{"server", workflows.FormatExit, "", "2026-11-20 15:20:11 INFO server: request id=550e8400 path=/v1/users/@ took 12ms\n\tgot := parse(key, token) // @\n"},
	{"coloured", workflows.FormatExit, "", " \x1b[32m✓\x1b[39m src/cart.test.ts \x1b[2m(@ tests)\x1b[22m \x1b[33m12ms\x1b[39m\n"},
	{"pytest", workflows.FormatJUnit, "tests/test_calc.py::TestCalc::test_adds[@-two] PASSED                 [ 12%]\n",
		"INFO     app.db:session.py:@ SELECT name FROM users WHERE id = 17\nsome plausible test output line\n"},
	{"go", workflows.FormatGoTest, `{"Time":"2026-11-20T15:20:11.123456789Z","Action":"run","Package":"example.com/shop/cart","Test":"TestAdds/case_@"}` + "\n" +
		`{"Time":"2026-11-20T15:20:11.123466789Z","Action":"output","Package":"example.com/shop/cart","Test":"TestAdds/case_@","Output":"=== RUN   TestAdds/case_@\n"}` + "\n" +
		`{"Time":"2026-11-20T15:20:11.123496789Z","Action":"pass","Package":"example.com/shop/cart","Test":"TestAdds/case_@","Elapsed":0}` + "\n",
		`{"Time":"2026-11-20T15:20:11.123476789Z","Action":"output","Package":"example.com/shop/cart","Test":"TestFloods","Output":"    cart_test.go:17: got \"two\", tried @ times\n"}` + "\n" +
			`{"Time":"2026-11-20T15:20:11.123476789Z","Action":"output","Package":"example.com/shop/cart","Test":"TestFloods","Output":"some plausible test output line\n"}` + "\n"},
	{"cargo", workflows.FormatCargo, "running 9 tests\ntest cart::tests::adds_number_@ ... ok\n", "[INFO  shop::cart] added item @ to the cart\nsome plausible test output line\n"},
	{"tap", workflows.FormatTAP, "# Subtest: adds @\nok @ - adds @\n  ---\n  duration_ms: 0.105\n  type: 'test'\n  ...\n",
		"# added item @ to the cart\n# some plausible test output line\n"},
	{"unittest", workflows.FormatUnittest, "test_adds_@ (tests.test_calc.TestCalc.test_adds_@) ... ok\n", "INFO:shop.cart:added item @ to the cart\nsome plausible test output line\n"},
	{"minitest", workflows.FormatMinitest, "CalcTest#test_adds_@ = 0.00 s = .\n", "I, [2026-11-20T15:20:11.123456 #4711]  INFO -- : added item @ to the cart\nsome plausible test output line\n"},
}

// floodFile writes a file of a size.
func floodFile(b *testing.B, result, says string, size int) string {
	name := filepath.Join(b.TempDir(), "flood")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	var all strings.Builder
	for i := 0; all.Len() < size; i++ {
		text := says
		if i%10 == 0 {
			text = result + says
		}
		all.WriteString(strings.ReplaceAll(text, "@", fmt.Sprint(i)))
		if all.Len() > 1<<20 {
			size -= all.Len()
			if _, err := f.WriteString(all.String()); err != nil {
				b.Fatal(err)
			}
			all.Reset()
		}
	}
	_, _ = f.WriteString(all.String())
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const floodSize = 32 << 20

var floodEnviron = []string{"GITHUB_TOKEN=Xw3kQ9vR2mN8bT5yL1pZ", "DB_PASSWORD=correct-horse-7-battery", "NPM_TOKEN=Zq8xW2kLm5vTn1cR"}

// BenchmarkGate measures the whole path of a gate's output: pipe, log, parser and last lines. MB/cpu-s is the output
// handled in one second of this process's own CPU time.
func BenchmarkGate(b *testing.B) {
	for _, f := range floods {
		b.Run(f.name, func(b *testing.B) {
			j := &gate.Runner{Root: b.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Secrets: redact.New(floodEnviron)}
			g := workflows.Gate{Name: "flood", Format: f.format, Timeout: time.Minute, Run: workflows.Command{Argv: []string{"cat", floodFile(b, f.result, f.says, floodSize)}}}
			b.SetBytes(floodSize)
			began := cpu()
			for b.Loop() {
				if _, err := j.Run(b.Context(), g, gate.On{Dir: b.TempDir()}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(floodSize/1e6*float64(b.N)/(cpu()-began).Seconds(), "MB/cpu-s")
		})
	}
}

// BenchmarkAgent measures the path of agents' output from the pipe on: plain lines of a command, and a card's stream.
func BenchmarkAgent(b *testing.B) {
	const call = `{"type":"assistant","message":{"id":"msg_@","model":"m","content":[{"type":"tool_use","id":"toolu_@","name":"Bash","input":{"command":"go test ./... -run @"}}],"usage":{"input_tokens":1,"output_tokens":2}},"session_id":"s"}` + "\n" +
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_@","type":"tool_result","content":"@"}]},"session_id":"s"}` + "\n"
	says := strings.ReplaceAll(call, `"content":"@"`, `"content":"`+strings.Repeat(`some plausible test output line\n`, 60)+`"`)
	for name, text := range map[string]string{"lines": "some plausible test output line\n", "claude": says} {
		b.Run(name, func(b *testing.B) {
			file := floodFile(b, "", text, floodSize)
			r := &Runner{Root: b.TempDir(), Secrets: redact.New(floodEnviron), Now: time.Now, Report: func(string) {}}
			b.SetBytes(floodSize)
			began := cpu()
			for b.Loop() {
				dir := b.TempDir()
				log, _ := process.NewLog(filepath.Join(dir, OutputFile), 0)
				events, _ := r.newRunLog(dir)
				out := newOutput(log, events, r.Secrets, events.said)
				var to io.Writer = out
				if name == "claude" {
					decoder, _ := agents.New("claude", agents.Options{Emit: events.Event})
					to = r.Secrets.Stream(io.MultiWriter(log, decoder))
				}
				if _, err := proc.Run(b.Context(), proc.Spec{Argv: []string{"cat", file}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: to, Stderr: to}); err != nil {
					b.Fatal(err)
				}
				if err := out.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(floodSize/1e6*float64(b.N)/(cpu()-began).Seconds(), "MB/cpu-s")
		})
	}
}
