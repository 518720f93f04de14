// Package gate runs the command of a gate on a tree, in the work tree or in a clean checkout. It also finds out in
// which of the two a gate's results are valid.
package gate

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
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/measure"
)

const maxGateLog = 64 << 20 // limit of a gate's log in bytes; parsers read the whole output

// Runner runs gates in one place: in the work tree or in one clean checkout.
type Runner struct {
	Root string   // top of the tree, absolute
	Env  []string // the whole environment of gates, from process.DefaultEnv
	// Secrets removes secrets from everything that gates print and write. May be nil.
	Secrets *redact.Redactor
	// Report receives lines of progress. May be nil.
	Report func(line string)
	// Counted is called with the number of test results that a running gate has printed so far. May be nil.
	Counted func(tests int)
	// Clean makes a clean checkout of a tree. It is nil if there is no place for one.
	Clean func(ctx context.Context, tree session.Tree) (session.CleanTree, error)
	// Setup is the command that installed the packages of clean checkouts; "" if there was none. SetUpHere is set if
	// it installed those of the work tree too.
	Setup     string
	SetUpHere bool

	Inside *session.CleanTree // the clean checkout in which gates run; nil for the work tree
}

// On has the details of one run of a gate.
type On struct {
	Tree session.Tree // the tree to run on, for a gate that runs in a clean checkout
	Dir  string       // directory for the log and the report of the run
	Name string       // kind of experiment, used in the names of logs; "" for a judgement
	Anew bool         // run again all tests of which the test runner has cached results
}

// Run runs a gate in the work tree or in a clean checkout, as the gate requires. An error means that the gate could
// not be run and observed, or that ctx ended.
func (j *Runner) Run(ctx context.Context, g workflows.Gate, on On) (*Run, error) {
	if g.Where == workflows.Clean && j.Inside == nil {
		run, at, err := j.EnterClean(ctx, g, on.Tree)
		if run != nil || err != nil {
			return run, err
		}
		j = at
	}
	x, err := j.observe(ctx, g, on)
	if err == nil && g.Expect == workflows.ExpectRed && x.run.nodeDied() {
		warns := *j
		warns.Env = withOption(slices.Clip(j.Env), "NODE_OPTIONS", "--unhandled-rejections=warn")
		x, err = warns.observe(ctx, g, on)
	}
	if err != nil {
		return nil, err
	}
	x.run.close()
	if j.Inside != nil {
		x.run.leadBack(j.Inside.Root, j.Inside.Live[0])
	}
	return x.run, nil
}

// observe runs a gate once and reads its results.
func (j *Runner) observe(ctx context.Context, g workflows.Gate, on On) (*execution, error) {
	x, err := j.prepare(g, on)
	if err == nil {
		err = x.execute(ctx)
	}
	if err == nil {
		err = x.read(ctx)
	}
	return x, err
}

// execution is one run of a gate's command, with the readers of its output and its reports.
type execution struct {
	*Runner
	run        *Run
	dir        string
	spec       proc.Spec
	reader     *report.Reader
	tail       *lastLines
	reportFile string                 // path in $WFS_REPORT
	before     map[string]fs.FileInfo // state of the report files before the run
}

// prepare makes the command line and the environment for a run of a gate.
func (j *Runner) prepare(g workflows.Gate, on On) (*execution, error) {
	name := fileName(g.Name)
	if on.Name != "" {
		name += "-" + on.Name
	}
	if on.Anew {
		name += "-again"
	}
	x := &execution{Runner: j, run: &Run{Gate: g, Log: "gate-" + name + ".log"}, dir: on.Dir, tail: newLastLines(),
		reportFile: filepath.Join(on.Dir, "report-"+name+".xml")}
	x.reader = report.NewReader(g, j.place(), x.tail.add)
	if j.Inside != nil || j.SetUpHere {
		x.run.setup = j.Setup
	}
	var err error
	if x.before, err = reportFiles(j.Root, g.Report); err != nil {
		return nil, err
	}
	argv := slices.Clone(process.Argv(g.Run))
	for i, word := range argv {
		if g.Run.Shell == "" { // Alone has split the command into words
			argv[i] = strings.ReplaceAll(word, process.ReportWord, x.reportFile)
		}
	}
	marker := process.GateMarker + x.reportFile
	// If a source file is changed within the same second and keeps its size, Python goes on using the old compiled
	// file. Therefore gates write no compiled files: they could hide changes of the next attempt. The user's
	// environment comes later and takes precedence.
	env := append(append([]string{"PYTHONDONTWRITEBYTECODE=1"}, j.Env...), "WFS_REPORT="+x.reportFile, marker)
	if on.Anew && g.Format == workflows.FormatGoTest {
		env = withOption(env, "GOFLAGS", "-count=1")
	}
	x.spec = proc.Spec{Argv: argv, Dir: j.Root, Env: env, Timeout: g.Timeout, Marker: marker}
	return x, os.RemoveAll(x.reportFile) // the report must come from this run
}

// execute runs the command. Its output goes to a log and to the parser for its format.
func (x *execution) execute(ctx context.Context) error {
	run, g := x.run, x.run.Gate
	log, err := process.NewLog(filepath.Join(x.dir, run.Log), maxGateLog)
	if err != nil {
		return err
	}
	pipes := x.connect(log)
	process.KeepBegan(x.dir)
	res, err := proc.Run(ctx, x.spec)
	for _, p := range pipes {
		_ = p.Close() // the log keeps the error
	}
	if cerr := log.Close(); cerr != nil {
		x.Say("the log of gate " + g.Name + " could not be written: " + cerr.Error())
	}
	switch {
	case err != nil:
		return fmt.Errorf("gate %s: %w", g.Name, err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	run.Ended, run.Exit, run.Millis, run.started = res.Ended, res.Exit, res.Millis, res.StartError
	run.printed = x.tail.lines()
	if len(g.Numbers) > 0 {
		run.Numbers = measure.Read(g.Numbers, textOf(filepath.Join(x.dir, run.Log)))
	}
	if x.Inside != nil && x.Inside.Changed != nil {
		run.Changed = x.Inside.Changed()
	}
	if len(res.Survivors) > 0 {
		x.Say(fmt.Sprintf("gate %s left processes behind: %v", g.Name, res.Survivors))
	}
	return nil
}

// textOf returns the text of a log, at most its last maxNumbers bytes; "" if it cannot be read.
func textOf(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > maxNumbers {
		_, _ = f.Seek(-maxNumbers, io.SeekEnd)
	}
	text, _ := io.ReadAll(f)
	return string(text)
}

const maxNumbers = 16 << 20 // bytes searched for the numbers of a gate

// connect makes the pipes for the output of a run. It removes secrets from the output once, before it passes the
// output to the log and the parser. Parsers store parts of texts, in which half a secret would not be recognised. The
// pipes share a lock, because they write to the same log.
func (x *execution) connect(log *process.Log) (pipes []*lockedStream) {
	var mu sync.Mutex
	people := io.MultiWriter(log, x.tail)
	if x.run.Gate.Format == workflows.FormatGoTest {
		// The parser extracts the lines for people from the events and passes them to x.tail. A secret may be complete
		// only then, so secrets are removed there again.
		people, x.tail.secrets = log, x.Secrets
	}
	pipe := func(parser io.Writer) io.Writer {
		s := &lockedStream{&mu, x.Secrets.Streams(people, parser), x.count}
		pipes = append(pipes, s)
		return s
	}
	x.spec.Stdout = pipe(x.reader.Stdout)
	if x.spec.Stderr = x.spec.Stdout; x.reader.Stderr != x.reader.Stdout {
		x.spec.Stderr = pipe(x.reader.Stderr)
	}
	return pipes
}

// count passes on the number of test results so far.
func (x *execution) count() {
	if n := x.reader.Count(); n > 0 && x.Counted != nil {
		x.Counted(n)
	}
}

// read reads the reports that the command wrote. If the output of Node lacks a reason, it asks Node for the reason.
func (x *execution) read(ctx context.Context) error {
	if x.run.Gate.Format.InFiles() {
		err := x.readReports(x.reader, x.run.Gate, x.reportFile, x.before)
		if err := process.Clean(x.reportFile, x.Secrets); err != nil {
			x.Say("the report of gate " + x.run.Gate.Name + " could not be saved without secrets: " + process.Reason(err))
		}
		if err != nil {
			return err
		}
	}
	x.run.Report = x.reader.Report()
	if err := x.explainLoadFailures(ctx, x.run, x.spec.Env, x.spec.Marker); err != nil {
		return err
	}
	if x.run.Ran() && x.run.Exit != 0 {
		x.reader.Explain(func(file string) bool { return x.Read(file) != nil })
	}
	return nil
}

// readReports reads the reports that this run wrote. These are the files that match the gate's glob or, without a
// glob, the files at $WFS_REPORT.
func (j *Runner) readReports(reader *report.Reader, g workflows.Gate, reportFile string,
	old map[string]fs.FileInfo) error {
	files, err := writtenReports(reportFile)
	if g.Report != "" {
		var now map[string]fs.FileInfo
		now, err = reportFiles(j.Root, g.Report)
		files = nil
		for _, name := range report.SortedKeys(now) {
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

// place returns the paths of the tree's root as tools may print them.
func (j *Runner) place() report.Place {
	roots := report.Place{filepath.ToSlash(j.Root)}
	if real, err := filepath.EvalSymlinks(j.Root); err == nil && real != j.Root {
		roots = append(roots, filepath.ToSlash(real))
	}
	return roots
}

// withOption appends an option to a variable with a list of options, as GOFLAGS. With -count=1, `go test` reruns tests
// with cached results.
func withOption(env []string, name, option string) []string {
	options := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			options = v + " "
		}
	}
	return append(env, name+"="+options+option)
}

// fileName converts a gate's name to a text that can be part of a file name.
func fileName(gate string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, gate)
}

// Say reports a line of progress, without secrets.
func (j *Runner) Say(line string) {
	if j.Report != nil {
		j.Report(j.Secrets.String(line))
	}
}
