package phases

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/internal/installed"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// installation is what is installed, as a test says, and where it is kept what is known of it.
type installation struct {
	dir   string
	files map[string]string
}

func (i *installation) open() *Packages {
	return &Packages{Dir: i.dir, Read: func(p string) []byte { return []byte(i.files[p]) },
		Scan: func(context.Context, *installed.State) (*installed.State, error) {
			s := installed.NewState()
			s.Roots["node_modules"] = installed.Node
			for p, text := range i.files {
				s.Files[p] = installed.File{Size: int64(len(text)), Sum: text, Changed: 1, Version: installed.VersionOf([]byte(text))}
			}
			return s, nil
		}}
}

// TestPackages goes through what happens between commands: who is believed to have changed what is installed.
func TestPackages(t *testing.T) {
	ctx := context.Background()
	left := map[string]string{"node_modules/left/package.json": `{"version": "1"}`, "node_modules/left/index.js": "one"}
	edit := func(i *installation, text string) { i.files["node_modules/left/index.js"] = text }
	type step struct {
		what string
		do   func(i *installation, p **Packages) // before it is judged
		kind string                              // of the first finding; "" for none
		held bool
	}
	before := func(i *installation, p **Packages) {
		t.Helper()
		if err := (*p).Before(ctx, "tree"); err != nil {
			t.Fatal(err)
		}
	}
	next := func(i *installation, p **Packages) { *p = i.open() }
	steps := func(list ...func(*installation, **Packages)) func(*installation, **Packages) {
		return func(i *installation, p **Packages) {
			for _, f := range list {
				f(i, p)
			}
		}
	}
	editing := func(text string) func(*installation, **Packages) {
		return func(i *installation, _ **Packages) { edit(i, text) }
	}
	approved := false
	for name, list := range map[string][]step{
		"an attempt edits, and puts back": {
			{"nothing", before, "", false},
			{"edits", steps(before, editing("two")), installed.Edited, true},
			{"leaves it", before, installed.Edited, true},
			{"puts it back", steps(before, editing("one")), "", false},
		},
		"the next command does not take it for a person's": {
			{"edits", steps(before, editing("two")), installed.Edited, true},
			{"another command", steps(next, before), installed.Edited, true},
			{"puts it back", steps(next, before, editing("one")), "", false},
		},
		"a person edits between commands": {
			{"nothing", before, "", false},
			{"a person", steps(next, editing("two"), before), "", false},
			{"an attempt", steps(before, editing("three")), installed.Edited, true},
			{"a person again", steps(next, editing("four"), before), "", false},
		},
		"a person works": {
			{"nothing", before, "", false},
			{"a person", editing("two"), "", false},
			{"an attempt that changes nothing", before, "", false},
		},
		"the process dies": {
			{"nothing", before, "", false},
			{"dies after an edit", steps(before, editing("two"), next, before), installed.Edited, true},
		},
		"a person approves": {
			{"edits", steps(before, editing("two")), installed.Edited, true},
			{"approved", func(i *installation, p **Packages) { *p = i.open(); approved = true }, "", false},
			{"goes on", func(i *installation, p **Packages) { *p = i.open(); approved = false; before(i, p) }, "", false},
		},
		"a package comes": {
			{"installs", steps(before, func(i *installation, _ **Packages) { i.files["node_modules/right/package.json"] = `{"version": "2"}` }), installed.Installed, false},
			{"told once", before, "", false},
		},
		"what is kept is torn": {
			{"nothing", before, "", false},
			{"torn", func(i *installation, p **Packages) {
				next(i, p)
				if err := os.WriteFile(filepath.Join(i.dir, "known"), []byte("wfs installed 1 x"), 0o600); err != nil {
					t.Fatal(err)
				}
				before(i, p)
			}, "", false},
			{"edits", steps(before, editing("two")), installed.Edited, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			approved = false
			i := &installation{dir: filepath.Join(t.TempDir(), "packages"), files: map[string]string{}}
			for p, text := range left {
				i.files[p] = text
			}
			p := i.open()
			for _, s := range list {
				s.do(i, &p)
				j := &Judge{Root: t.TempDir(), Packages: p}
				r := session.JudgeRequest{Tree: "tree", Approved: approved, Plan: workflows.Plan{Workflow: workflows.Workflow{Tamper: workflows.TamperStrict}}}
				var out session.Judgement
				held, err := j.packages(ctx, &out, r, "the attempt")
				if err != nil {
					t.Fatal(err)
				}
				if kind := first(out.Tampered); held != s.held || kind != s.kind {
					t.Errorf("%s: held %v, %q, want %v, %q", s.what, held, kind, s.held, s.kind)
				}
				p.rests()
			}
		})
	}
	// Policies: in every phase, also where tests are written; not where nobody asks for it.
	red := workflows.Phase{Name: "RED", Gates: []workflows.Gate{{Name: "tests", Expect: workflows.ExpectRed}}}
	w := workflows.Workflow{Phases: []workflows.Phase{red, {Name: "GREEN"}}}
	if got := w.PackagesIn(&w.Phases[0]); got != workflows.TamperStrict {
		t.Errorf("where tests are written it is %q", got)
	}
	if got := (&workflows.Workflow{}).PackagesIn(&workflows.Phase{}); got != workflows.TamperOff {
		t.Errorf("where nobody asks for it it is %q", got)
	}
	w.Tamper = workflows.TamperWarn
	if got := w.PackagesIn(&w.Phases[0]); got != workflows.TamperWarn {
		t.Errorf("with a policy of its own it is %q", got)
	}
}

func first(list []session.Tampering) string {
	if len(list) == 0 {
		return ""
	}
	return list[0].Kind
}
