package main

import (
	"embed"
	"fmt"
	"path/filepath"
	"time"
)

// attemptBar is how much longer an attempt may take than its agent, its gates and its checkpoint by hand, in
// milliseconds.
const attemptBar = 50

//go:embed testdata/stream.jsonl
var recorded embed.FS

const attemptWorkflow = `version: 1
name: again
start: WORK
phases:
  WORK:
    run: agent
    gates: [{use: never}]
    on: {pass: done, fail: WORK}
`

// attempts times attempts whose agent prints a recorded stream and exits, and compares them with the same steps by
// hand.
func (b *bench) attempts(files, changes, rounds int) error {
	repo, stream := filepath.Join(b.dir, "repo-run"), filepath.Join(b.dir, "stream.jsonl")
	text, err := recorded.ReadFile("testdata/stream.jsonl")
	if err != nil {
		return err
	}
	card := fmt.Sprintf("version: 1\nname: player\ncommand: [cat, %q]\nprompt: stdin\ndecoder: claude\n", stream)
	for _, f := range []struct{ dir, name, text string }{
		{b.dir, "stream.jsonl", string(text)}, {repo, ".wfs/config.yaml", "version: 1\nworkflow: again\nagent: {use: player}\ngates:\n  never: {run: test -f never}\n"},
		{repo, ".wfs/agents/player.yaml", card}, {repo, ".wfs/workflows/again.yaml", attemptWorkflow},
	} {
		if err := b.write(f.dir, f.name, f.text); err != nil {
			return err
		}
	}
	if err := b.makeRepo(repo, files, 0); err != nil {
		return err
	}
	for _, args := range [][]string{{"trust", "--yes"}, {"new", "attempts"}} {
		if err := b.run(repo, append([]string{b.wfs}, args...)...); err != nil {
			return err
		}
	}
	var over []float64
	for n := range rounds + 1 {
		var took [2]time.Duration
		for i := range took {
			which := (i + n) % 2
			b.edit++
			for c := range changes { // the agent's edits, as the checkpoint sees them
				if err := b.write(repo, fileName((b.edit*changes+c*37)%files), fmt.Sprintf("package p\n\n// Edit %d.\n", b.edit)); err != nil {
					return err
				}
			}
			cmds := [][]string{{"cat", stream}, {"sh", "-c", "test ! -f never"}, {b.wfs, "checkpoint", "-m", "x"}}
			if which == 1 {
				cmds = [][]string{{b.wfs, "run", "--reset-breaker", "--max-attempts", "1"}}
				if err := b.run(repo, b.wfs, "checkpoint", "-m", "edits"); err != nil { // before the attempt
					return err
				}
			}
			if took[which], err = b.timed(repo, cmds...); err != nil {
				return err
			}
		}
		if n > 0 {
			over = append(over, (took[1]-took[0]).Seconds()*1000)
		}
	}
	fmt.Printf("%-50s %.0f ms   (median of %d rounds; the bar is %d ms)\n", "an attempt beyond agent, gate and checkpoint", median(over), rounds, attemptBar)
	if median(over) > attemptBar {
		return fmt.Errorf("an attempt costs %.0f ms beyond its agent, its gate and its checkpoint; the bar is %d ms", median(over), attemptBar)
	}
	return nil
}
