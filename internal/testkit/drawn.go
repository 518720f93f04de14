package testkit

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// MemoryDir returns a directory that is removed after the test, in memory if possible.
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

// Drawn sets the number and the length of random histories, and returns a function that restores the old values. In the
// short form they are the same each time.
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
