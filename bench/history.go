package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// history makes many checkpoints and many sessions. It prints how much a late checkpoint costs compared with an early
// one, and how much it costs to list all of them compared with git's own lists.
func (b *bench) history(count, changes, rounds int) error {
	ours := filepath.Join(b.dir, "repo-wfs")
	var times []float64
	for range count {
		if err := b.change(changes, 5000); err != nil {
			return err
		}
		took, err := b.timed(ours, []string{b.wfs, "checkpoint", "-m", "x"})
		if err != nil {
			return err
		}
		times = append(times, took.Seconds()*1000)
	}
	part := max(1, count/20)
	early, late := median(times[:part]), median(times[count-part:])
	fmt.Printf("%-50s %.2f   (medians of %d: %.1f ms / %.1f ms)\n", "late checkpoint / early checkpoint", late/early, part, late, early)
	if err := b.lists("wfs log / git log", rounds, []string{b.wfs, "log"}, []string{"git", "log", "--oneline"}); err != nil {
		return err
	}
	for i := range count {
		name := fmt.Sprintf("session %d", i)
		if err := b.run(ours, b.wfs, "new", name, "--workflow", "plain", "--agent", "true"); err != nil {
			return err
		}
	}
	return b.lists("wfs list / git for-each-ref", rounds, []string{b.wfs, "list"}, []string{"git", "for-each-ref"})
}

// lists times a command of wfs and a command of git, both in the repository that wfs uses.
func (b *bench) lists(name string, rounds int, wfs, git []string) error {
	ours := filepath.Join(b.dir, "repo-wfs")
	_, err := b.pair(name, rounds, func() error { return nil },
		func() (time.Duration, error) { return b.timed(ours, wfs) },
		func() (time.Duration, error) { return b.timed(ours, git) })
	return err
}
