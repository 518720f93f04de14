package phases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/trial"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// lab is a small project in a directory of its own, with gates that really run.
type lab struct {
	t     *testing.T
	judge *Judge
	snaps map[session.Tree]map[string]string
	said  []string
}

func newLab(t *testing.T, files map[string]string) *lab {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, snaps: map[session.Tree]map[string]string{}}
	l.judge = &Judge{Dirty: l.snapshot, Links: func(context.Context, session.Tree) (map[string]string, error) { return nil, nil }}
	l.judge.Runner = gate.Runner{Root: root, Env: labEnv(t), Report: func(s string) { l.said = append(l.said, s) }}
	l.judge.Trees = trial.Trees{Changes: l.changes,
		Show: func(_ context.Context, tree session.Tree, path string) ([]byte, error) {
			text, ok := l.snaps[tree][path]
			if !ok {
				return nil, nil
			}
			return []byte(text), nil
		}}
	l.write(files)
	return l
}

var goCache = sync.OnceValue(func() string {
	out, _, _, _ := proc.Output(context.Background(), proc.Cmd{Argv: []string{"go", "env", "GOCACHE"}, Env: os.Environ()})
	return strings.TrimSpace(string(out))
})

func labEnv(t *testing.T) []string {
	home := t.TempDir()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + home, "GOCACHE=" + goCache(), "GOFLAGS=-trimpath",
		"GOPROXY=off", "GOTOOLCHAIN=local", "GOENV=off", "LC_ALL=C", "TZ=UTC", "PYENV_VERSION=" + os.Getenv("PYENV_VERSION")}
}

// write writes files; the content "-" removes a file.
func (l *lab) write(files map[string]string) {
	l.t.Helper()
	for name, text := range files {
		path := filepath.Join(l.judge.Root, filepath.FromSlash(name))
		if text == "-" {
			if err := os.Remove(path); err != nil {
				l.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			l.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *lab) snapshot(context.Context) (session.Tree, error) {
	files := map[string]string{}
	err := filepath.WalkDir(l.judge.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == "ignored" || d.Name() == "__pycache__" || d.Name() == ".pytest_cache") {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(l.judge.Root, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %q\n", name, files[name])
	}
	tree := session.Tree(hex.EncodeToString(h.Sum(nil)))
	l.snaps[tree] = files
	return tree, err
}

func (l *lab) changes(_ context.Context, from, to session.Tree) ([]session.Change, error) {
	a, b := l.snaps[from], l.snaps[to]
	var out []session.Change
	for name, text := range a {
		if now, ok := b[name]; !ok {
			out = append(out, session.Change{Path: name, Status: "D"})
		} else if now != text {
			out = append(out, session.Change{Path: name, Status: "M"})
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, session.Change{Path: name, Status: "A"})
		}
	}
	slices.SortFunc(out, func(a, b session.Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// start is the judged beginning of a lap.
type start struct {
	base session.Baseline
	ev   session.Evidence
	snap map[string]string
}

func (l *lab) baseline(gates ...workflows.Gate) start {
	l.t.Helper()
	tree, err := l.snapshot(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	base, ev, err := l.judge.Baseline(l.t.Context(), workflows.Plan{Baseline: gates}, tree, l.t.TempDir())
	if err != nil {
		l.t.Fatal(err)
	}
	return start{base, ev, l.snaps[ev.Tree]}
}

// judged judges the present tree against a start.
func (l *lab) judged(s start, g workflows.Gate, expect workflows.Expect, targets []session.TestID, expected []string) session.Judgement {
	l.t.Helper()
	l.snaps[s.ev.Tree] = s.snap
	tree, err := l.snapshot(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	changed, _ := l.changes(l.t.Context(), s.ev.Tree, tree)
	g.Expect = expect
	j, err := l.judge.Judge(l.t.Context(), session.JudgeRequest{Tree: tree, RunDir: l.t.TempDir(), Changed: changed, Visit: changed,
		Phase: workflows.Phase{Name: "RED", Gates: []workflows.Gate{g}}, Baseline: s.ev, LapStart: s.ev,
		Known: slices.Concat(s.base.Red, s.base.Flaky), Targets: targets, Expected: expected})
	if err != nil {
		l.t.Fatal(err)
	}
	return j
}

func goGate() workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: "go test -json ./..."}, Format: workflows.FormatGoTest,
		Where: workflows.InPlace, Timeout: 5 * time.Minute}
}

func shGate(command string) workflows.Gate {
	return workflows.Gate{Name: "lint", Run: workflows.Command{Shell: command}, Format: workflows.FormatExit, Where: workflows.InPlace, Timeout: time.Minute}
}
