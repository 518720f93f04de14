package cmd

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wfs-dev/wfs/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		"wfs":        func() { os.Exit(Main(System())) },
		"wfs-tracer": func() { os.Exit(tracerMain()) },
		// A command where no file has locks.
		"wfs-without-locks": func() { os.Exit(noLocksMain()) },
	})
}

// tidy removes the repositories that tests share once they are all done.
type tidy struct{ *testing.M }

func (m tidy) Run() int { return testkit.Main(m.M) }
