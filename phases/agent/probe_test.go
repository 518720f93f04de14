package agent

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

// TestProber: a program is asked once for its version, and again if it is another file, even with the same size and
// time. It sees the variables of its card, and no repository.
func TestProber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked, program := filepath.Join(dir, "asked"), filepath.Join(dir, "zoo")
	write := func(version, more string) {
		t.Helper()
		text := "#!/bin/sh\necho \"$ZOO_KEY$OTHER $(ls | wc -l)\" >> '" + asked + "'\necho zoo v" + version + "\n" + more
		next := program + ".next"
		syscall.ForkLock.RLock() // a program that is started meanwhile would hold the file open for writing
		err := os.WriteFile(next, []byte(text), 0o700)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(next, info.ModTime().Truncate(1e12), info.ModTime().Truncate(1e12)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, program); err != nil {
			t.Fatal(err)
		}
	}
	p := &Prober{Environ: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "ZOO_KEY=key", "OTHER=other"}, Cache: filepath.Join(dir, "cache", "agents.json")}
	c := &workflows.Card{Name: "zoo", Command: []string{"zoo", "-p"}, Env: []string{"ZOO_*"}, Probe: []string{"zoo", "--version"}, LoggedIn: []string{"zoo", "whoami"}}
	find := func(want Installed) {
		t.Helper()
		if got := p.Find(t.Context(), c); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	find(Installed{})
	write("1.2.3", "")
	find(Installed{Path: program, Version: "1.2.3"})
	find(Installed{Path: program, Version: "1.2.3"})
	write("1.2.4", "")
	find(Installed{Path: program, Version: "1.2.4"})
	if text, _ := os.ReadFile(asked); string(text) != "key 0\nkey 0\n" {
		t.Errorf("asked with %q", text)
	}
	if yes, known := p.LoggedIn(t.Context(), c); !yes || !known {
		t.Error("not logged in")
	}
	write("1.2.5", "exit 4\n")
	find(Installed{Path: program, Problem: "it exited with code 4 when run for its version"})
	if yes, known := p.LoggedIn(t.Context(), c); yes || !known {
		t.Error("somebody is logged in")
	}
	if err := os.WriteFile(p.Cache, []byte("[damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("1.2.6", "")
	find(Installed{Path: program, Version: "1.2.6"})
	c.Probe = nil
	find(Installed{Path: program})
}
