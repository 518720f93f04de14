package phases

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

const (
	maxGateLog   = 64 << 20 // bytes of a gate's log; the parsers see everything
	printedLines = 20       // of a gate's output that an error about it quotes
)

// Exit codes with which a shell says that a command is not there, or may not be executed (POSIX, Shell Command Language,
// 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// gateMarker begins the entry by which processes of a gate are found; what its run leaves in the run's directory follows.
const gateMarker = "WFS_GATE_RUN="

// gateRun is what was seen of one gate.
type gateRun struct {
	gate    workflows.Gate
	log     string // file name in the run's directory
	ended   proc.Ended
	exit    int
	millis  int64
	started string // why it could not be started
	report  *report
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

// runGate runs a gate where it says, in the work tree or in a clean one. With again, results that a runner has cached do not count. An error means that
// the gate could not be watched, or that ctx ended it.
func (j *Judge) runGate(ctx context.Context, g workflows.Gate, runDir string, again bool) (*gateRun, error) {
	if g.Where == workflows.Clean && j.clean == nil {
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
	if j.clean != nil || j.SetUpHere {
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
	old, err := reportStamps(j.Root, g.Report)
	if err != nil {
		return nil, err
	}
	log, err := newLog(filepath.Join(runDir, run.log), maxGateLog)
	if err != nil {
		return nil, err
	}
	marker := gateMarker + reportFile
	// Python takes what it compiled for current when the source has the same size and was written in the same second. What a
	// gate compiled must not answer for what the next attempt wrote. Whatever the environment says comes later and counts.
	env := append(append([]string{"PYTHONDONTWRITEBYTECODE=1"}, j.Env...), "WFS_REPORT="+reportFile, marker)
	if again && g.Format == workflows.FormatGoTest {
		env = goWithoutCache(env)
	}
	tail := &lastLines{}
	spec := proc.Spec{Argv: argv, Dir: j.Root, Env: env, Timeout: g.Timeout, Marker: marker}
	// What comes out of a pipe is redacted once, and passed on to all who read it, one pipe at a time. Parsers keep names, and
	// beginnings and ends of texts: half a secret would not be recognised.
	var mu sync.Mutex
	var pipes []*lockedStream
	lines, live := lineParserOf(g.Format, j.place())
	count := func() {
		if live != nil && j.Counted != nil {
			j.Counted(len(live.tests))
		}
	}
	pipe := func(people, parser io.Writer) io.Writer {
		pipes = append(pipes, &lockedStream{&mu, j.Secrets.Streams(people, parser), count})
		return pipes[len(pipes)-1]
	}
	read := func() *report { return newReport() }
	compiler := newBuildErrors(j.place())
	switch {
	case g.Format == workflows.FormatGoTest:
		tail.secrets = j.Secrets // what is in the events of one test comes together only there
		p := newGoParser(filepath.ToSlash(j.Root), tail.add)
		live = p.r
		spec.Stdout, spec.Stderr = pipe(log, p.stream(false)), pipe(log, p.stream(true))
		read = p.finish
	case lines != nil:
		// One pipe for both streams keeps their lines in order.
		feed := &lineFeed{to: lines.line}
		all := pipe(both{log, tail}, io.MultiWriter(feed, compiler.stream()))
		spec.Stdout, spec.Stderr = all, all
		read = func() *report { feed.close(); return lines.finish() }
	case g.Format.InFiles() && g.Report == "":
		// Stdout may be the report, unless $WFS_REPORT turns out to be written.
		out := startDocument(fileParserOf(g.Format, j.place()))
		spec.Stdout, spec.Stderr = pipe(both{log, tail}, io.MultiWriter(compiler.stream(), out)), pipe(both{log, tail}, compiler.stream())
		read = out.finish
	default:
		all := pipe(both{log, tail}, compiler.stream())
		spec.Stdout, spec.Stderr = all, all
	}
	keepBegan(runDir)
	res, err := proc.Run(ctx, spec)
	for _, p := range pipes {
		_ = p.Close() // what went wrong is known to the log
	}
	parsed := read()
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
	run.printed, run.report = tail.lines(), parsed
	if j.clean != nil && j.clean.Changed != nil {
		run.changed = j.clean.Changed()
	}
	if len(res.Survivors) > 0 {
		j.say(fmt.Sprintf("gate %s left processes behind: %v", g.Name, res.Survivors))
	}
	if g.Format.InFiles() {
		err := j.readReports(run, reportFile, old)
		if err := cleanLeft(reportFile, j.Secrets); err != nil {
			j.say("the report of gate " + g.Name + " could not be saved without secrets: " + reason(err))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := j.explainLoadFailures(ctx, run, env, marker); err != nil {
		return nil, err
	}
	if run.ran() && run.exit != 0 && g.Format != workflows.FormatCargo {
		compiler.explain(run.report, func(file string) bool { return j.read(file) != nil })
	}
	run.close()
	if j.clean != nil {
		run.leadBack(j.clean.Root, j.clean.Live[0])
	}
	return run, nil
}

// leadBack makes what a gate printed in a clean tree name the work tree: there is where people and agents look.
func (g *gateRun) leadBack(room, live string) {
	for i, line := range g.printed {
		g.printed[i] = strings.ReplaceAll(line, room, live)
	}
	for id, text := range g.report.messages {
		g.report.messages[id] = strings.ReplaceAll(text, room, live)
	}
}

// close adds the entry for the gate as a whole: an exit-code gate's result, or a failure that no test explains, such as
// a coverage threshold, an error outside of all tests, or a report that was cut.
func (g *gateRun) close() {
	id, tests := gateID(g.gate.Name), g.report.tests
	if !g.gate.Format.PerTest() {
		if g.ran() {
			tests[id] = session.TestPass
			if g.exit != 0 {
				tests[id] = session.TestFail
				g.report.say(id, strings.Join(g.printed, "\n"))
			}
		}
		return
	}
	if !g.report.noTests {
		g.report.noTests = len(tests) == 0 && saysNoTests(g)
	}
	c := tests.Count()
	if g.ran() && (g.report.damaged != "" || g.exit != 0 && c.Failed+c.Errors == 0 && c.Total() > 0) {
		g.report.set(id, session.TestError)
		g.report.say(id, strings.Join(g.printed, "\n"))
	}
}

// toolMissing returns the line in which an interpreter or a package manager says that the runner is not installed, ""
// without one. They end with ordinary exit codes, and an agent's code is not to blame.
func (g *gateRun) toolMissing() string {
	lines := g.quoted()
	if at := slices.IndexFunc(lines, toolMissingRE().MatchString); at >= 0 {
		return lines[at]
	}
	return ""
}

var toolMissingRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`No module named (?:pytest|unittest)|npx canceled due to missing packages|` +
		`could not determine executable to run|bundler: command not found|Could not find command |` +
		`error: no such command|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL|Couldn't find the binary |` +
		`Could not open input file: vendor/bin|error: toolchain |No \.NET SDKs were found|` +
		`^sh: .*not found|^error Command ".*not found\.$`)
})

// saysNoTests knows how runners end when there is no test: go and node with 0, pytest with 5, Jest and Vitest with 1 and
// a sentence, node with 1 when nothing has the names that it was given.
func saysNoTests(g *gateRun) bool {
	python := g.gate.Format == workflows.FormatJUnit || g.gate.Format == workflows.FormatUnittest
	return g.exit == 0 || g.exit == 5 && python || slices.ContainsFunc(g.printed, noTestsRE().MatchString)
}

var noTestsRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Could not find '|No tests found|No test files found|no packages to test`)
})

// readReports reads the reports that this very run wrote: files of the gate's glob, or $WFS_REPORT, or what was printed.
func (j *Judge) readReports(run *gateRun, reportFile string, old map[string]stamp) error {
	var files []string
	if run.gate.Report != "" {
		now, err := reportStamps(j.Root, run.gate.Report)
		if err != nil {
			return err
		}
		for _, name := range sortedKeys(now) {
			if before, ok := old[name]; !ok || before != now[name] {
				files = append(files, filepath.Join(j.Root, filepath.FromSlash(name)))
			}
		}
	} else {
		var err error
		if files, err = writtenReports(reportFile); err != nil || len(files) == 0 {
			return err
		}
	}
	p := fileParserOf(run.gate.Format, j.place())
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		p.parse(j.Secrets.Forms().Reader(f))
		_ = f.Close()
	}
	run.report = p.finish()
	return nil
}

// place is the work tree as tools print it.
func (j *Judge) place() place {
	roots := place{filepath.ToSlash(j.Root)}
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
	secrets *redact.Redactor // of what is not redacted yet
	kept    []byte
	begins  bool // in the middle of a line
}

// maxKept is how much of a text is kept, in bytes.
const maxKept = 64 << 10

func (l *lastLines) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p...)
	if over := len(l.kept) - maxKept; over > maxKept {
		l.kept, l.begins = append(l.kept[:0], l.kept[over:]...), true
	}
	return len(p), nil
}

func (l *lastLines) add(line string) { _, _ = l.Write([]byte(line + "\n")) }

func (l *lastLines) lines() []string {
	text := l.kept
	if l.begins { // half a secret would not be recognised
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	return lastLinesOf(l.secrets.String(string(text)), printedLines, 300)
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
