package proc_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/proc"
)

func env(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C"}, more...)
}

func sh(script string) []string { return []string{"sh", "-c", script} }

func TestOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, errs, exit, err := proc.Output(t.Context(), proc.Cmd{
		Argv: sh(`cat; pwd -P; echo "$A$HOME_NOT_INHERITED" >&2; exit 3`), Dir: dir,
		Env: env(t, "A=1", "A=2"), Stdin: strings.NewReader("in\n"),
	})
	real, _ := filepath.EvalSymlinks(dir)
	if err != nil || exit != 3 || string(out) != "in\n"+real+"\n" || string(errs) != "2\n" {
		t.Fatalf("out %q, errs %q, exit %d, err %v", out, errs, exit, err)
	}
}

func TestOutputInheritsNothing(t *testing.T) {
	t.Setenv("WFS_TEST_LEAK", "leaked")
	at, err := proc.LookPath("env", os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	out, _, _, err := proc.Output(t.Context(), proc.Cmd{Argv: []string{at}})
	if err != nil || strings.Contains(string(out), "leaked") {
		t.Fatalf("%q, %v", out, err)
	}
}

func TestOutputOfSignalled(t *testing.T) {
	t.Parallel()
	_, _, exit, err := proc.Output(t.Context(), proc.Cmd{Argv: sh(`kill -9 $$`), Env: env(t)})
	if err != nil || exit != 137 {
		t.Fatalf("exit %d, err %v", exit, err)
	}
}

func TestOutputNotFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"no-such-command-of-wfs", "./no-such", filepath.Join(dir, "nothing"), plain, ""} {
		_, _, exit, err := proc.Output(t.Context(), proc.Cmd{Argv: []string{name}, Env: env(t)})
		if !errors.Is(err, proc.ErrNotFound) || exit != -1 {
			t.Errorf("%q: exit %d, err %v", name, exit, err)
		}
	}
	if _, _, _, err := proc.Output(t.Context(), proc.Cmd{}); !errors.Is(err, proc.ErrNotFound) {
		t.Errorf("empty argv: %v", err)
	}
	_, _, _, err := proc.Output(t.Context(), proc.Cmd{Argv: sh("true"), Dir: filepath.Join(dir, "gone"), Env: env(t)})
	if err == nil || errors.Is(err, proc.ErrNotFound) {
		t.Errorf("a directory that is gone: %v", err)
	}
}

func TestLookPathSkipsRelativeEntries(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("git", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", ".", ":", "." + string(filepath.ListSeparator)} {
		if at, err := proc.LookPath("git", path); err == nil {
			t.Errorf("PATH=%q finds %s", path, at)
		}
	}
	if at, err := proc.LookPath("git", ".:"+dir); err != nil || at != filepath.Join(dir, "git") {
		t.Errorf("%q, %v", at, err)
	}
	out, _, exit, err := proc.Output(t.Context(), proc.Cmd{Argv: []string{"./git"}, Dir: dir, Env: env(t)})
	if err != nil || exit != 0 || len(out) != 0 {
		t.Errorf("relative to Dir: %q, %d, %v", out, exit, err)
	}
}

// watchFor cancels when the text is written.
type watchFor struct {
	text   string
	cancel context.CancelFunc
	seen   bytes.Buffer
}

func (w *watchFor) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if strings.Contains(w.seen.String(), w.text) {
		w.cancel()
	}
	return len(p), nil
}

func TestStreamCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watchFor{text: "ready", cancel: cancel}
	_, err := proc.Stream(ctx, proc.Cmd{
		Argv: sh(`trap 'echo bye; exit 1' TERM; echo ready; while :; do sleep 0.01; done`), Env: env(t),
	}, w, w)
	if !errors.Is(err, context.Canceled) || !strings.Contains(w.seen.String(), "bye") {
		t.Fatalf("%v, %q", err, w.seen.String())
	}
}

func TestInteractive(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	exit, err := proc.Interactive(t.Context(), proc.Cmd{Argv: sh(`echo paged; exit 4`), Env: env(t)}, nil, out, out)
	got, _ := os.ReadFile(out.Name())
	if err != nil || exit != 4 || string(got) != "paged\n" {
		t.Fatalf("%d, %v, %q", exit, err, got)
	}
}
