package testkit

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// MemoryDir returns a directory that is removed after the test. It is in memory if the system has such a directory.
func MemoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "wfs-model-")
	if err != nil {
		return t.TempDir()
	}
	if os.Getenv("WFS_KEEP") == "" {
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir
}

// Drawn sets how many histories a property test tries, and how many steps each has. They are the same in every run,
// unless WFS_RAPID is set to another number of histories: then they are random, and twice as long. Flags on the command
// line take precedence. Drawn returns a function that restores the old values.
func Drawn(t testing.TB, checks, steps int) func() {
	t.Helper()
	seed := "1"
	if many := os.Getenv("WFS_RAPID"); many != "" {
		if _, err := fmt.Sscan(many, &checks); err != nil {
			t.Fatalf("WFS_RAPID=%s", many)
		}
		seed, steps = "0", 2*steps
	}
	back := []func(){}
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(checks), "rapid.steps": fmt.Sprint(steps), "rapid.seed": seed, "rapid.nofailfile": "true"} {
		if slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(strings.TrimLeft(a, "-"), name) }) {
			continue
		}
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		back = append(back, func() { _ = flag.Set(name, old) })
	}
	return func() {
		for _, f := range back {
			f()
		}
	}
}
