package corpus

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestMakeCorpus makes the corpus, with the binary in WFS_CORPUS_MAKE, built with the tag failpoints. The archive in
// testdata was made once, before much of the program was rewritten, and is not made again: its repositories are like
// those of users.
func TestMakeCorpus(t *testing.T) {
	binary := os.Getenv("WFS_CORPUS_MAKE")
	if binary == "" {
		t.Skip("it is made once: WFS_CORPUS_MAKE names the binary")
	}
	contents := &pool{}
	var all []*frozen
	seen := map[string]int{}
	for _, s := range situations {
		if only := os.Getenv("WFS_CORPUS_ONLY"); only != "" && !strings.Contains(s.name, only) {
			continue
		}
		m := &maker{t: t, binary: binary, s: s, contents: contents}
		if m.made() == nil {
			continue
		}
		all = append(all, m.freezeAfter(""))
		for _, at := range m.steps(seen) {
			if r := m.freezeAfter(at); r != nil {
				all = append(all, r)
			}
		}
		t.Logf("%4d repositories, %5d contents: %s", len(all), len(contents.list), s.name)
	}
	if t.Failed() {
		return
	}
	for _, r := range all {
		h := &home{t: t, dir: filepath.Join(testkit.Temp(t, testkit.Memory()), "home"), binary: binary}
		r.thaw(t, h.dir, func(number int) []byte { return contents.list[number] })
		h.settleIn()
		for i, command := range road(r) {
			r.Road = append(r.Road, h.take(command, i >= looks))
		}
	}
	pack(t, all, contents)
}

// maker makes the repositories of one situation.
type maker struct {
	t        *testing.T
	binary   string
	s        situation
	contents *pool
	log      string

	home  *home  // always at the same path: trust and work trees are bound to it
	saved string // a copy of the home before the command
}

// made returns the home in its state before the command.
func (m *maker) made() *home {
	if m.home == nil {
		if m.home = m.begin(); m.home == nil {
			return nil
		}
		m.saved = m.home.dir + "-saved"
		m.copy(m.home.dir, m.saved)
		return m.home
	}
	testkit.RemoveAll(m.t, m.home.dir)
	m.copy(m.saved, m.home.dir)
	return m.home
}

func (m *maker) copy(from, to string) {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
}

// begin makes a new home, up to the point where the command of the situation comes next.
func (m *maker) begin() *home {
	h := &home{t: m.t, dir: filepath.Join(testkit.Temp(m.t, testkit.Memory()), "home"), binary: m.binary}
	repo := filepath.Join(h.dir, "repo")
	if err := os.MkdirAll(repo, 0o700); err != nil {
		m.t.Fatal(err)
	}
	testkit.Write(m.t, h.dir, "gitconfig", testkit.GitConfig)
	base, env := m.s.base, ""
	switch base {
	case "":
		base = "plain"
	case "sha256":
		base, env = "plain", "FORMAT=--object-format=sha256"
	}
	if out, exit := h.run([]string{env}, "sh", "-c", prelude+bases[base]+"\n"+m.s.before); exit != 0 {
		m.t.Errorf("%s: exit %d: %s", m.s.name, exit, out)
		return nil
	}
	return h
}

// freezeAfter returns the repository after the command, or killed at a step of it; nil if it was not killed there.
func (m *maker) freezeAfter(at string) *frozen {
	h := m.made()
	r := &frozen{Name: m.s.name, Damage: m.s.damage != "", Killed: at, Before: h.contents()}
	if out, exit := h.run(nil, "sh", "-c", prelude+m.s.damage); exit != 0 {
		m.t.Errorf("%s: exit %d: %s", m.s.name, exit, out)
	}
	if at != "" {
		r.Name += ", killed at " + at
	}
	m.log = filepath.Join(m.t.TempDir(), "points")
	out, exit := h.run([]string{"WFS_FAILPOINT=" + at, "WFS_FAILPOINT_LOG=" + m.log}, "sh", "-c", "exec wfs "+m.s.command)
	if at != "" && exit != -1 {
		return nil // its steps may differ by chance
	}
	if at == "" && exit == -1 {
		m.t.Errorf("%s: %s", r.Name, out)
	}
	r.Files = freeze(m.t, h.dir, m.contents)
	r.Road = []taken{{Command: m.s.command, Exit: exit}}
	return r
}

// steps returns the steps at which to kill the command: each that it passes, if the step is still rare in the corpus.
// The steps of attempts and turns are always included in the runs of test-driven development, which cover each phase.
func (m *maker) steps(seen map[string]int) (list []string) {
	const rare = 1 // for each verb
	verb, _, _ := strings.Cut(m.s.command, " ")
	data, _ := os.ReadFile(m.log)
	count := map[string]int{}
	for _, p := range strings.Fields(string(data)) {
		count[p]++
		each := m.s.base == "tdd" && (strings.HasPrefix(p, "run/") || p == "ledger/moved" || p == "checkpoint/journaled")
		if count[p] == 1 && seen[verb+p] < rare || each {
			seen[verb+p]++
			list = append(list, p+"#"+itoa(count[p]))
		}
	}
	return list
}
