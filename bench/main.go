// Command bench compares wfs with git on this machine, in one run: it times the two in turn and prints ratios.
// Absolute times say more about the machine than about wfs.
//
//	go run ./bench                  # a checkpoint on 5,000 files, and the commands that must feel instant
//	go run ./bench -attempt         # an attempt's cost beyond its agent, its gates and its checkpoint
//	go run ./bench -clean           # gates in a clean tree, as a ratio to those in place
//	go run ./bench -history 1000    # late checkpoints against early ones, long lists against git's
//	go run ./bench -files 100000 -ignored 100000 -rounds 7
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
)

// checkpointBar is the highest accepted ratio of a durable checkpoint to `git add -A && git commit`, which syncs
// nothing.
const checkpointBar = 1.15

func main() {
	files := flag.Int("files", 5000, "tracked files")
	ignored := flag.Int("ignored", 0, "ignored files beside them")
	changes := flag.Int("changes", 10, "changes before each checkpoint: 7 edits, 2 new files, 1 deletion in ten")
	rounds := flag.Int("rounds", 15, "rounds; the median of their ratios is printed")
	strict := flag.Bool("strict", false, fmt.Sprintf("exit 1 when the checkpoint's ratio is over %.2f", checkpointBar))
	attempt := flag.Bool("attempt", false, fmt.Sprintf("time attempts instead, and exit 1 when one costs more than %d ms of its own", attemptBar))
	clean := flag.Bool("clean", false, "time gates in clean trees instead; -ignored installed files are beside the one in Node")
	history := flag.Int("history", 0, "make so many checkpoints and sessions instead, and list them")
	flag.Parse()
	b, err := setUp(*files, *ignored)
	if err == nil {
		defer os.RemoveAll(b.dir)
		if *clean {
			err = b.clean(max(*ignored, 50), *rounds) // the Node tests need the first of them
		} else if *history > 0 {
			err = b.history(*history, *changes, *rounds)
		} else if *attempt {
			err = b.attempts(*files, *changes, *rounds)
		} else {
			err = b.all(*changes, *rounds, *strict)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, wfs string
	env      []string
	edit     int
}

func setUp(files, ignored int) (*bench, error) {
	dir, err := os.MkdirTemp("", "wfs-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, wfs: filepath.Join(dir, "wfs")}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "XDG_STATE_HOME=") {
			b.env = append(b.env, kv)
		}
	}
	b.env = append(b.env, "CGO_ENABLED=0", // as in releases of wfs
		"GIT_CONFIG_GLOBAL="+filepath.Join(dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	config := "[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(dir, "gitconfig"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := b.run(".", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.wfs, "github.com/wfs-dev/wfs/cmd/wfs"); err != nil {
		return nil, err
	}
	for _, name := range []string{"git", "wfs"} { // the same tree in both
		if err := b.makeRepo(filepath.Join(dir, "repo-"+name), files, ignored); err != nil {
			return nil, err
		}
	}
	ours := filepath.Join(dir, "repo-wfs")
	if err := b.run(ours, b.wfs, "init", "--test", "true"); err != nil {
		return nil, err
	}
	workflow := "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n"
	if err := b.write(ours, ".wfs/workflows/plain.yaml", workflow); err != nil {
		return nil, err
	}
	if err := b.run(ours, b.wfs, "trust", "--yes"); err != nil {
		return nil, err
	}
	return b, b.run(ours, b.wfs, "new", "bench", "--workflow", "plain", "--agent", "true")
}

func (b *bench) write(repo, name, text string) error {
	path := filepath.Join(repo, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

func (b *bench) makeRepo(repo string, files, ignored int) error {
	if err := b.write(repo, ".gitignore", "node_modules/\n"); err != nil {
		return err
	}
	for i := range files {
		if err := b.write(repo, fileName(i), fmt.Sprintf("package p%d\n\n// File %d of the benchmark.\n%s", i/25, i, strings.Repeat("var _ = 0\n", 40))); err != nil {
			return err
		}
	}
	for i := range ignored {
		if err := b.write(repo, fmt.Sprintf("node_modules/m%03d/f%d.js", i/50, i), "module.exports = 1\n"); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "-c", "maintenance.auto=false", "commit", "-q", "-m", "start"}, {"git", "gc", "-q"}} {
		if err := b.run(repo, args...); err != nil {
			return err
		}
	}
	return nil
}

func fileName(i int) string { return fmt.Sprintf("src/d%03d/p%02d/f%d.go", i/250, i/25%10, i) }

func (b *bench) run(dir string, args ...string) error {
	if dir == "." {
		dir = ""
	}
	stdout, stderr, exit, err := proc.Output(context.Background(), proc.Cmd{Argv: args, Dir: dir, Env: b.env})
	if err == nil && exit != 0 {
		err = fmt.Errorf("%s: exit %d: %s%s", strings.Join(args, " "), exit, stdout, stderr)
	}
	return err
}

// change makes the same edits in both repositories.
func (b *bench) change(changes, files int) error {
	b.edit++
	for _, repo := range []string{filepath.Join(b.dir, "repo-git"), filepath.Join(b.dir, "repo-wfs")} {
		for i := range changes {
			name := fileName((b.edit*changes + i*37) % files)
			var err error
			switch {
			case i%10 < 7:
				err = b.write(repo, name, fmt.Sprintf("package p\n\n// Edit %d.\n", b.edit))
			case i%10 < 9:
				err = b.write(repo, fmt.Sprintf("src/new/n%d_%d.go", b.edit, i), "package n\n")
			default:
				os.Remove(filepath.Join(repo, filepath.FromSlash(name)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// timed runs commands one after the other and returns their total wall time. It syncs first: otherwise a command that
// syncs would pay for the writes of earlier edits and commands, and git's own commit syncs nothing.
func (b *bench) timed(dir string, cmds ...[]string) (time.Duration, error) {
	if err := b.run(".", "sync"); err != nil {
		return 0, err
	}
	start := time.Now()
	for _, c := range cmds {
		if err := b.run(dir, c...); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func (b *bench) all(changes, rounds int, strict bool) error {
	theirs, ours := filepath.Join(b.dir, "repo-git"), filepath.Join(b.dir, "repo-wfs")
	ratio, err := b.pair("checkpoint, durable / git add -A && git commit", rounds, func() error { return b.change(changes, 5000) },
		func() (time.Duration, error) { return b.timed(ours, []string{b.wfs, "checkpoint", "-m", "x"}) },
		func() (time.Duration, error) {
			return b.timed(theirs, []string{"git", "add", "-A"}, []string{"git", "commit", "-q", "-m", "x"})
		})
	if err != nil {
		return err
	}
	none := func() error { return nil }
	for name, cmds := range map[string][2][]string{
		"wfs version / git --version": {{b.wfs, "version"}, {"git", "--version"}},
		"wfs status / git status":     {{b.wfs, "status"}, {"git", "status", "--short"}},
		"wfs log / git log":           {{b.wfs, "log"}, {"git", "log", "--oneline"}},
	} {
		if _, err := b.pair(name, rounds, none,
			func() (time.Duration, error) { return b.timed(ours, cmds[0]) },
			func() (time.Duration, error) { return b.timed(theirs, cmds[1]) }); err != nil {
			return err
		}
	}
	if strict && ratio > checkpointBar {
		return fmt.Errorf("a checkpoint costs %.2f times git add and commit; the bar is %.2f", ratio, checkpointBar)
	}
	return nil
}

// pair times ours and theirs alternately, A B B A A B …, and prints the median of the rounds' ratios.
func (b *bench) pair(name string, rounds int, before func() error, ours, theirs func() (time.Duration, error)) (float64, error) {
	var ratios, x, y []float64
	for n := range rounds + 1 {
		if err := before(); err != nil {
			return 0, err
		}
		first, second := ours, theirs
		if n%2 == 1 {
			first, second = theirs, ours
		}
		d1, err := first()
		if err != nil {
			return 0, err
		}
		d2, err := second()
		if err != nil {
			return 0, err
		}
		if n%2 == 1 {
			d1, d2 = d2, d1
		}
		if n == 0 {
			continue // this round only warms the caches
		}
		ratios, x, y = append(ratios, float64(d1)/float64(d2)), append(x, d1.Seconds()*1000), append(y, d2.Seconds()*1000)
	}
	fmt.Printf("%-50s %.2f   (median of %d rounds; %.1f ms / %.1f ms)\n", name, median(ratios), rounds, median(x), median(y))
	return median(ratios), nil
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}
