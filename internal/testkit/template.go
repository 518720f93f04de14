package testkit

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Template is a directory that is created once per test process. Each test gets a copy of it.
type Template struct {
	Fast bool // put it in memory if there is room, because it need not survive a power cut

	once sync.Once
	top  string
}

// Parent returns the directory in which the template and its copies are, or "" for the default directory.
func (p *Template) Parent() string {
	if p.Fast {
		return Memory()
	}
	return ""
}

// CopyTo copies the template to `top`, a path that does not exist yet. The first call creates the template with `make`.
func (p *Template) CopyTo(t testing.TB, top string, make func(top string)) {
	t.Helper()
	p.once.Do(func() {
		top, err := os.MkdirTemp(p.Parent(), "wfs-template-")
		if err != nil {
			t.Fatal(err)
		}
		atEnd(top)
		make(top)
		p.top = top
	})
	if p.top == "" {
		t.Fatal("the template could not be made; the first test that asked for it says why")
	}
	if out, err := exec.Command("cp", "-a", p.top, top).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
