package phases

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Bounds of what is kept of results. Entries are some kilobytes for a hundred tests.
const (
	maxResults    = 300
	maxResultSize = 4 << 20
	maxResultAge  = 7 * 24 * time.Hour // tests may depend on the date
)

const resultsVersion = 1

// atWork is the file that says that somebody may be at work who could write entries of his own.
const atWork = "at-work"

// Results keeps what gates said about trees, so that no tree is judged twice by the same gate in the same surroundings.
// It is a directory of files, named after all that a result depends on; see resultKey. It may be removed at any time.
//
// Whoever works in the work tree could write there. So what is there is noted before somebody is set to work, and what
// came or changed since then, but by this process, is thrown away. If this process dies in between, all of it is.
type Results struct {
	Dir    string
	Now    func() time.Time
	Retest bool // nothing is taken from what is kept

	noted   bool
	entries map[string]resultStamp // by name, as they may be
}

type resultStamp struct {
	size    int64
	written time.Time
	file    fileID
}

// keptRun is what is kept of one gate run.
type keptRun struct {
	Version  int                       `json:"version"`
	At       int64                     `json:"at"` // Unix seconds
	Exit     int                       `json:"exit"`
	Millis   int64                     `json:"millis"` // that it took
	Printed  []string                  `json:"printed,omitempty"`
	Tests    session.Tests             `json:"tests"`
	Messages map[session.TestID]string `json:"messages,omitempty"`
	Files    map[session.TestID]string `json:"files,omitempty"`
	Broken   []breakage                `json:"broken,omitempty"`
	Crashed  map[string]bool           `json:"crashed,omitempty"`
	Raised   map[session.TestID]bool   `json:"raised,omitempty"`
	NoTests  bool                      `json:"no_tests,omitempty"`
}

// list looks at what is there.
func (r *Results) list() map[string]resultStamp {
	found := map[string]resultStamp{}
	entries, _ := os.ReadDir(r.Dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") && info.Mode().IsRegular() {
			found[e.Name()] = stampFor(info)
		}
	}
	return found
}

func stampFor(info fs.FileInfo) resultStamp {
	return resultStamp{info.Size(), info.ModTime(), idOf(info)}
}

// note takes what is there for what it is, once, unless a process died while somebody was at work.
func (r *Results) note() {
	if r.noted {
		return
	}
	r.noted = true
	if _, err := os.Lstat(filepath.Join(r.Dir, atWork)); err == nil {
		_ = os.RemoveAll(r.Dir)
	}
	r.entries = r.list()
	entries, _ := os.ReadDir(r.Dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), durable.TempPrefix) { // of a process that was killed
			_ = os.Remove(filepath.Join(r.Dir, e.Name()))
		}
	}
}

// Before is called before somebody is set to work, After when nobody of that is left.
func (r *Results) Before() {
	if r == nil {
		return
	}
	r.note()
	if durable.MkdirAll(r.Dir) == nil {
		_ = durable.WriteCache(filepath.Join(r.Dir, atWork), nil, 0o600)
	}
}

// After throws away what others have written.
func (r *Results) After() {
	if r == nil {
		return
	}
	for name, now := range r.list() {
		if r.entries[name] != now {
			_ = os.Remove(filepath.Join(r.Dir, name))
		}
	}
	_ = os.Remove(filepath.Join(r.Dir, atWork))
}

// get returns what is kept under a key, nil for nothing.
func (r *Results) get(key string) *keptRun {
	if r == nil || key == "" || r.Retest {
		return nil
	}
	r.note()
	name := key + ".json"
	file := filepath.Join(r.Dir, name)
	known, ok := r.entries[name]
	if info, err := os.Lstat(file); !ok || err != nil || stampFor(info) != known {
		return nil
	}
	data, err := durable.ReadFile(file, maxResultSize)
	if err != nil {
		return nil
	}
	var k keptRun
	age := time.Duration(0)
	if json.Unmarshal(data, &k) == nil {
		age = r.Now().Sub(time.Unix(k.At, 0))
	}
	if k.Version != resultsVersion || k.Tests == nil || age < 0 || age > maxResultAge {
		return nil
	}
	return &k
}

// put keeps a run that was complete and is stable. That it cannot be kept is no matter.
func (r *Results) put(key string, g *gateRun, secrets *redact.Redactor) {
	if r == nil || key == "" || !g.ran() || g.report.damaged != "" {
		return
	}
	r.note()
	k := keptRun{Version: resultsVersion, At: r.Now().Unix(), Exit: g.exit, Millis: g.millis, Tests: g.report.tests, Files: g.report.files,
		Crashed: g.report.crashed, Raised: g.report.raised, NoTests: g.report.noTests, Messages: map[session.TestID]string{}}
	for _, line := range g.printed {
		k.Printed = append(k.Printed, secrets.String(line))
	}
	for id, m := range g.report.messages {
		k.Messages[id] = secrets.String(m)
	}
	for _, b := range g.report.broken {
		b.Message = secrets.String(b.Message)
		k.Broken = append(k.Broken, b)
	}
	data, err := json.Marshal(k)
	if err != nil || len(data) > maxResultSize || durable.MkdirAll(r.Dir) != nil {
		return
	}
	r.bound()
	name := key + ".json"
	file := filepath.Join(r.Dir, name)
	if durable.WriteCache(file, data, 0o600) != nil {
		return
	}
	durable.Hit(durable.ResultKept)
	if info, err := os.Lstat(file); err == nil {
		r.entries[name] = stampFor(info)
	}
}

// forget removes what is kept under a key.
func (r *Results) forget(key string) {
	if r == nil || key == "" {
		return
	}
	r.note()
	name := key + ".json"
	_ = os.Remove(filepath.Join(r.Dir, name))
	delete(r.entries, name)
}

// bound removes the oldest entries when there are too many.
func (r *Results) bound() {
	all := r.list()
	if len(all) < maxResults {
		return
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return all[a].written.Compare(all[b].written) })
	for _, name := range names[:len(names)-maxResults*3/4] {
		_ = os.Remove(filepath.Join(r.Dir, name))
		delete(r.entries, name)
	}
}

// run is a gate run as it was kept.
func (k *keptRun) run(g workflows.Gate, log string) *gateRun {
	rep := newReport()
	rep.tests, rep.broken, rep.noTests = k.Tests, k.Broken, k.NoTests
	if k.Messages != nil {
		rep.messages = k.Messages
	}
	if k.Files != nil {
		rep.files = k.Files
	}
	if k.Crashed != nil {
		rep.crashed = k.Crashed
	}
	if k.Raised != nil {
		rep.raised = k.Raised
	}
	return &gateRun{gate: g, log: log, exit: k.Exit, printed: k.Printed, report: rep, ended: proc.Exited, cached: true}
}

// text is the log of a run that was kept.
func (k *keptRun) text() string {
	var b strings.Builder
	b.WriteString("This gate has judged the same tree in the same surroundings before, on " + time.Unix(k.At, 0).UTC().Format("2006-01-02 15:04 UTC") +
		".\nIt was not run again; wfs run --retest does that. It ended with this:\n\n")
	for _, line := range k.Printed {
		b.WriteString(safetext.Strip(line) + "\n")
	}
	return b.String()
}
