package gitcmd

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestAskOfObjects asks about a commit twice: the second answer takes no git, and an error is asked about again.
func TestAskOfObjects(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	r.open(r.Root)
	commit := r.run("rev-parse", "HEAD")
	first, err := r.AskOfObjects(ctx, "cat-file", "-t", commit)
	if err != nil || len(first) == 0 {
		t.Fatalf("%q, %v", first, err)
	}
	away := filepath.Join(r.home, "away")
	if err := os.Rename(r.GitDir, away); err != nil {
		t.Fatal(err)
	}
	if again, err := r.AskOfObjects(ctx, "cat-file", "-t", commit); err != nil || string(again) != string(first) {
		t.Errorf("%q, %v", again, err)
	}
	if _, err := r.AskOfObjects(ctx, "cat-file", "-s", commit); err == nil {
		t.Error("another question was answered without a repository")
	}
	if err := os.Rename(away, r.GitDir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AskOfObjects(ctx, "cat-file", "-s", commit); err != nil {
		t.Errorf("an error was cached: %v", err)
	}
}
