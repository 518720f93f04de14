package testkit

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Template is a directory that is made once in a test process, and copied by each test.
type Template struct {
	Fast bool // in memory, where there is room for that: nothing of it has to survive a power cut

	once sync.Once
	top  string
}

// Parent is the directory for the template and its copies, "" for the usual one.
func (p *Template) Parent() string {
	if p.Fast {
		return Memory()
	}
	return ""
}

// CopyTo makes a copy in a directory that is not there yet. The first one to ask makes the template.
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
