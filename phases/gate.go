package phases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

const maxGateLog = 64 << 20 // bytes of a gate's log; the parsers see everything

// printedLines are quoted of the output of a command by an error about it.
const printedLines = 20

// Exit codes with which a shell says that a command is not there, or may not be executed (POSIX, Shell Command
// Language,
// 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// gateMarker begins the entry by which processes of a gate are found; what its run leaves in the run's
// directory follows.
const gateMarker = "WFS_GATE_RUN="

// GateRunner runs gates in one place: in the work tree, or in a clean tree.
type GateRunner struct {
	Root string   // top of the tree, absolute
	Env  []string // the whole environment of gates, as DefaultEnv made it
	// Secrets are taken out of what gates leave and show. nil takes nothing out.
	Secrets *redact.Redactor
	// Report gets a line of progress now and then. May be nil.
	Report func(line string)
	// Counted gets the number of results that a running gate has printed so far. May be nil.
	Counted func(tests int)
	// Clean makes the clean tree of a tree. nil: there is no place for one.
	Clean func(ctx context.Context, tree session.Tree) (session.CleanTree, error)
	// Setup is the command that has installed what is in clean trees, "" for none. With SetUpHere it has done so in the
	// work tree as well.
	Setup     string
	SetUpHere bool

	judged session.Tree       // what gates in a clean tree run on
	anew   bool               // no result that a runner has cached counts
	trial  string             // what is tried there, for the names of logs; "" for a judgement
	inside *session.CleanTree // where it runs gates, nil in the work tree
}

// gateRun is what was seen of one gate.
type gateRun struct {
	gate    workflows.Gate
	log     string // file name in the run's directory
	ended   proc.Ended
	exit    int
	millis  int64
	started string // why it could not be started
	report  *report.Report
	printed []string
	leads   *session.LeadsBack // it was not run: it would have judged other files
	changed string             // an installed file that was changed while it ran
	setup   string             // what has installed what is there, "" for people
	cached  bool               // it was not run: see BaseRuns
	alone   bool               // see BaseRun
}

// ran reports whether the gate's command itself ran to its end, so that its exit code is its own.
func (g *gateRun) ran() bool {
	return g.ended == proc.Exited && g.exit != exitNotExecutable && g.exit != exitNotFound
}

// runGate runs a gate where it says, in the work tree or in a clean one. With again, results that a runner has
// cached do not count. An error means that the gate could not be watched, or that ctx ended it.
func (j *GateRunner) runGate(ctx context.Context, g workflows.Gate, runDir string, again bool) (*gateRun, error) {
	if g.Where == workflows.Clean && j.inside == nil {
		run, at, err := j.enterClean(ctx, g)
		if run != nil || err != nil {
			return run, err
		}
		j = at
	}
	name := fileName(g.Name)
	if j.trial != "" {
		name += "-" + j.trial
	}
	if again {
		name += "-again"
	}
	run := &gateRun{gate: g, log: "gate-" + name + ".log"}
	if j.inside != nil || j.SetUpHere {
		run.setup = j.Setup
	}
	reportFile := filepath.Join(runDir, "report-"+name+".xml")
	if err := os.RemoveAll(reportFile); err != nil { // it must be this run's
		return nil, err
	}
	argv := slices.Clone(argv(g.Run))
	if g.Run.Shell == "" { // see alone
		for i, word := range argv {
			argv[i] = strings.ReplaceAll(word, reportWord, reportFile)
		}
	}
	old, err := reportFiles(j.Root, g.Report)
	if err != nil {
		return nil, err
	}
	log, err := newLog(filepath.Join(runDir, run.log), maxGateLog)
	if err != nil {
		return nil, err
	}
	marker := gateMarker + reportFile
	// Python takes what it compiled for current when the source has the same size and was written in the same
	// second. What a gate compiled must not answer for what the next attempt wrote. Whatever the environment says
	// comes later and counts.
	env := append(append([]string{"PYTHONDONTWRITEBYTECODE=1"}, j.Env...), "WFS_REPORT="+reportFile, marker)
	if again && g.Format == workflows.FormatGoTest {
		env = goWithoutCache(env)
	}
	tail := newLastLines()
	spec := proc.Spec{Argv: argv, Dir: j.Root, Env: env, Timeout: g.Timeout, Marker: marker}
	// What comes out of a pipe is redacted once, and passed on to all who read it, one pipe at a time. Parsers
	// keep names, and beginnings and ends of texts: half a secret would not be recognised.
	var mu sync.Mutex
	var pipes []*lockedStream
	reader := report.NewReader(g, j.place(), tail.add)
	pipe := func(people, parser io.Writer) io.Writer {
		s := &lockedStream{&mu, j.Secrets.Streams(people, parser), func() {
			if n := reader.Count(); n > 0 && j.Counted != nil {
				j.Counted(n)
			}
		}}
		pipes = append(pipes, s)
		return s
	}
	people := io.Writer(both{log, tail})
	if g.Format == workflows.FormatGoTest {
		people, tail.secrets = log, j.Secrets // what is in the events of one test comes together only there
	}
	spec.Stdout = pipe(people, reader.Stdout)
	if spec.Stderr = spec.Stdout; reader.Stderr != reader.Stdout {
		spec.Stderr = pipe(people, reader.Stderr)
	}
	keepBegan(runDir)
	res, err := proc.Run(ctx, spec)
	for _, p := range pipes {
		_ = p.Close() // what went wrong is known to the log
	}
	if cerr := log.Close(); cerr != nil {
		j.say("the log of gate " + g.Name + " could not be written: " + cerr.Error())
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("gate %s: %w", g.Name, err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	run.ended, run.exit, run.millis, run.started = res.Ended, res.Exit, res.Millis, res.StartError
	run.printed = tail.lines()
	if j.inside != nil && j.inside.Changed != nil {
		run.changed = j.inside.Changed()
	}
	if len(res.Survivors) > 0 {
		j.say(fmt.Sprintf("gate %s left processes behind: %v", g.Name, res.Survivors))
	}
	if g.Format.InFiles() {
		err := j.readReports(reader, g, reportFile, old)
		if err := cleanLeft(reportFile, j.Secrets); err != nil {
			j.say("the report of gate " + g.Name + " could not be saved without secrets: " + reason(err))
		}
		if err != nil {
			return nil, err
		}
	}
	run.report = reader.Report()
	if err := j.explainLoadFailures(ctx, run, env, marker); err != nil {
		return nil, err
	}
	if run.ran() && run.exit != 0 {
		reader.Explain(func(file string) bool { return j.read(file) != nil })
	}
	run.close()
	if j.inside != nil {
		run.leadBack(j.inside.Root, j.inside.Live[0])
	}
	return run, nil
}

// leadBack makes what a gate printed in a clean tree name the work tree: there is where people and agents look.
func (g *gateRun) leadBack(room, live string) {
	for i, line := range g.printed {
		g.printed[i] = strings.ReplaceAll(line, room, live)
	}
	for id, text := range g.report.Messages {
		g.report.Messages[id] = strings.ReplaceAll(text, room, live)
	}
}

// close adds the entry for the gate as a whole: an exit-code gate's result, or a failure that no test explains, such as
// a coverage threshold, an error outside of all tests, or a report that was cut.
func (g *gateRun) close() {
	id, tests := gateID(g.gate.Name), g.report.Tests
	if !g.gate.Format.PerTest() {
		if g.ran() {
			tests[id] = session.TestPass
			if g.exit != 0 {
				tests[id] = session.TestFail
				g.report.Say(id, strings.Join(g.printed, "\n"))
			}
		}
		return
	}
	if !g.report.NoTests {
		g.report.NoTests = len(tests) == 0 && report.SaysNoTests(g.gate.Format, g.exit, strings.Join(g.printed, "\n"))
	}
	c := tests.Count()
	if g.ran() && (g.report.Damaged != "" || g.exit != 0 && c.Failed+c.Errors == 0 && c.Total() > 0) {
		g.report.Set(id, session.TestError)
		g.report.Say(id, strings.Join(g.printed, "\n"))
	}
}

// toolMissing returns the line that says that the runner is not installed, "" without one.
func (g *gateRun) toolMissing() string {
	for _, line := range g.quoted() {
		if report.ToolMissing(line) {
			return line
		}
	}
	return ""
}

// readReports reads the reports that this very run wrote: files of the gate's glob, or $WFS_REPORT.
func (j *GateRunner) readReports(reader *report.Reader, g workflows.Gate, reportFile string,
	old map[string]fs.FileInfo) error {
	files, err := writtenReports(reportFile)
	if g.Report != "" {
		var now map[string]fs.FileInfo
		now, err = reportFiles(j.Root, g.Report)
		files = nil
		for _, name := range sortedKeys(now) {
			if written(old[name], now[name]) {
				files = append(files, filepath.Join(j.Root, filepath.FromSlash(name)))
			}
		}
	}
	if err != nil {
		return err
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = reader.File(j.Secrets.Forms().Reader(f))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// place is the work tree as tools print it.
func (j *GateRunner) place() report.Place {
	roots := report.Place{filepath.ToSlash(j.Root)}
	if real, err := filepath.EvalSymlinks(j.Root); err == nil && real != j.Root {
		roots = append(roots, filepath.ToSlash(real))
	}
	return roots
}

// goWithoutCache makes `go test` run tests whose result it remembers.
func goWithoutCache(env []string) []string {
	flags := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "GOFLAGS="); ok {
			flags = v + " "
		}
	}
	return append(env, "GOFLAGS="+flags+"-count=1")
}

// lockedStream is for one of a program's two streams, or for both. The two share the lock, and whatever is behind it.
// proc.Run makes one pipe of two writers that are equal: a pointer is.
type lockedStream struct {
	mu *sync.Mutex
	*redact.Stream
	count func()
}

func (l *lockedStream) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.count()
	return l.Stream.Write(b)
}

// lastLines keeps the end of a text, for its last lines.
type lastLines struct {
	secrets *redact.Redactor // of lines that are not redacted yet
	report.End
}

const (
	maxTail = 64 << 10           // bytes in which the last lines are looked for
	maxKept = 2 * report.MaxName // bytes of a line
)

func newLastLines() *lastLines { return &lastLines{End: report.End{Most: maxTail}} }

func (l *lastLines) add(line string) { _, _ = l.Write([]byte(line + "\n")) }

func (l *lastLines) lines() []string {
	var list []string
	for line := range strings.SplitSeq(l.secrets.String(l.String()), "\n") {
		if line = safetext.Line(line[:min(len(line), maxKept)], 300); line != "" {
			list = append(list, line)
		}
	}
	return list[max(0, len(list)-printedLines):]
}

// fileName makes a gate's name fit for a file.
func fileName(gate string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, gate)
}

// gateID stands for a gate as a whole among its tests: an exit-code gate, or an exit code that no test explains.
func gateID(gate string) session.TestID { return session.TestID("gate " + gate) }

// count sums the tests up without the entry for the gate as a whole.
func count(tests session.Tests, gate string) session.Counts {
	c := tests.Count()
	switch tests[gateID(gate)] {
	case session.TestPass:
		c.Passed--
	case session.TestFail:
		c.Failed--
	case session.TestError:
		c.Errors--
	}
	return c
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
