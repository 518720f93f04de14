package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

// A gate that takes no time must not keep what an agent has thrown away from getting a ref: the next attempt's auto-save
// replaces the one that holds it.
func TestSaveOfWhatIsGoneIsNotCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the judgement is over
	saved := false
	s := saver{every: time.Hour, now: time.Now, say: func(string) {}, save: func(ctx context.Context, _ string) (session.AutoSaved, error) {
		saved = ctx.Err() == nil
		return session.AutoSaved{}, ctx.Err()
	}}
	if s.once(ctx, true); !saved {
		t.Error("the save was cut short")
	}
}

// TestAutoSaveEvery reads how often it is saved.
func TestAutoSaveEvery(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, environ := filepath.Join(top, "repo"), testkit.Env(top)
	if out, exit := testkit.Run(t, top, environ, "git", "init", "-q", dir); exit != 0 {
		t.Fatal(out)
	}
	every := func() time.Duration {
		t.Helper()
		w := New(&Env{Dir: dir, Environ: environ, Now: time.Now}, Front{Engine: func() engine.Engine { return engine.Engine{} }})
		if err := w.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.AutoSaves.every(t.Context())
	}
	testkit.Write(t, dir, ".wfs/config.yaml", "version: 1\n")
	for period, want := range map[string]time.Duration{"off": 0, "10ms": 10 * time.Millisecond, "2m": 2 * time.Minute} {
		testkit.Write(t, dir, ".wfs/local.yaml", "version: 1\nauto-save: "+period+"\n")
		if got := every(); got != want {
			t.Errorf("%s is %s", period, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, ".wfs/local.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := every(); got != 30*time.Second {
		t.Errorf("without a word it is %s", got)
	}
}

// TestSaverTellsOfTrouble fails three times in a row.
func TestSaverTellsOfTrouble(t *testing.T) {
	t.Parallel()
	var said []string
	log := filepath.Join(t.TempDir(), "log")
	fails := true
	s := &saver{say: func(line string) { said = append(said, line) }, now: time.Now, log: log,
		save: func(context.Context, string) (session.AutoSaved, error) {
			if fails {
				return session.AutoSaved{}, errors.New("the disk is full")
			}
			return session.AutoSaved{}, nil
		}}
	for range 2 {
		s.try(t.Context(), "")
	}
	fails = false
	s.try(t.Context(), "")
	fails = true
	for range 4 {
		s.try(t.Context(), "")
	}
	if len(said) != 1 || !strings.Contains(said[0], "3 times in a row: the disk is full") {
		t.Errorf("said %q", said)
	}
	if data, err := os.ReadFile(log); err != nil || strings.Count(string(data), "the disk is full") != 6 {
		t.Errorf("the log says %q, %v", data, err)
	}
}
