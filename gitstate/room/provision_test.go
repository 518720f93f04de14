package room

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

func TestProvision(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	r.write("tracked/a", "a\n")
	r.write(".gitignore", "*.ignored\ncache\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "more")
	outside := filepath.Join(r.home, "outside")
	if err := os.MkdirAll(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.write("tracked/x.ignored", "x\n")
	r.write("run.ignored", "#!/bin/sh\n")
	if err := os.Chmod(r.path("run.ignored"), 0o750); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(r.path("run.ignored"), old, old); err != nil {
		t.Fatal(err)
	}
	r.write("cache/deep/er", "cached\n")
	r.write("a.txt.ignored", "beside a tracked one\n")
	for link, to := range map[string]string{
		"lib/out": outside, "lib/python": "/usr/bin/env", "lib/near": "../a.txt", "lib/far": "../../outside/secret",
		"lib/loop": "loop",
	} {
		if err := os.MkdirAll(filepath.Dir(r.path(link)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, r.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	r.git("init", "-q", r.path("lib/nested"))
	r.write("lib/nested/n", "n\n")
	made := filepath.Join(r.home, "new")
	r.git("worktree", "add", "-q", "--detach", made)
	into := &testRepo{Set: &Set{Git: gitcmd.New(gitcmd.Place{Root: made})}, t: t, home: r.home, env: r.env}
	into.write("a.txt.ignored", "there before\n")

	p, err := r.Provision(ctx, made, []string{"*.ignored", "lib", "tracked/*.ignored", "none"},
		[]string{"cache", "missing"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(p.Copied, " "), "run.ignored lib tracked/x.ignored"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	var skipped []string
	for _, s := range p.Skipped {
		skipped = append(skipped, s.Path+": "+s.Why)
	}
	if got, want := strings.Join(skipped, "\n"), `missing: is not in the main work tree
a.txt.ignored: already exists in the new work tree
lib/far: a link out of the work tree, to ../../outside/secret
lib/nested/: a nested repository
none: no untracked file of the main work tree has this name`; got != want {
		t.Errorf("skipped\n%s\nwant\n%s", got, want)
	}
	if readFile(t, into.path("a.txt.ignored")) != "there before\n" ||
		readFile(t, into.path("tracked/x.ignored")) != "x\n" || readFile(t, into.path("cache/deep/er")) != "cached\n" {
		t.Error("wrong files")
	}
	for name, want := range map[string]string{"lib/out": outside, "lib/near": "../a.txt", "lib/loop": "loop",
		"cache": r.path("cache")} {
		if to, err := os.Readlink(into.path(name)); err != nil || to != want {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	if info, err := os.Stat(into.path("run.ignored")); err != nil || info.Mode().Perm() != 0o750 ||
		!info.ModTime().Equal(old) {
		t.Errorf("run.ignored: %v, %v", info, err)
	}
	for _, name := range []string{"lib/far", "lib/nested"} {
		if _, err := os.Lstat(into.path(name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

func TestProvisionRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	outside := filepath.Join(r.home, "outside")
	if err := os.MkdirAll(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	r.write("packages/mine/x.js", "x\n")
	r.write("node_modules/left/x.js", "x\n")
	r.write("venv/lib/python3/site-packages/__editable__.mine.pth", r.Git.Root+"/src\n")
	r.write("scoped/@me/x", "x\n")
	for link, to := range map[string]string{
		"out": outside, "over/out": outside, "node_modules/mine": "../packages/mine",
		"scoped/@me/mine": "../../packages/mine", "back": r.Git.Root + "/packages",
	} {
		if err := os.MkdirAll(filepath.Dir(r.path(link)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, r.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	made := filepath.Join(r.home, "new")
	r.git("worktree", "add", "-q", "--detach", made)
	var back *LeadsBackError
	for _, link := range []string{"node_modules", "venv", "scoped"} {
		if _, err := r.Provision(ctx, made, nil, []string{link}); !errors.As(err, &back) {
			t.Errorf("link %s: %v", link, err)
		}
	}
	for _, pattern := range []string{"venv", "back", "**/*.pth"} {
		if _, err := r.Provision(ctx, made, []string{pattern}, nil); !errors.As(err, &back) {
			t.Errorf("copy %s: %v", pattern, err)
		}
	}
	for _, link := range []string{"out", "over/out", "a.txt"} {
		if _, err := r.Provision(ctx, made, nil, []string{link}); !errors.Is(err, ErrCannotLink) {
			t.Errorf("link %s: %v", link, err)
		}
	}
	if entries, err := os.ReadDir(made); err != nil || len(entries) != 3 { // .git, a.txt, and a directory without files
		t.Errorf("what is there: %v, %v", entries, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
