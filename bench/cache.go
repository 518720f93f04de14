package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// ecosystem is a small project in which sessions are worked through, to see which results of gates are known already.
type ecosystem struct {
	name  string
	needs string
	files map[string]string
	// tools are shell functions: red and green write the test and the code of lap $WFS_LAP, wrong writes code that is wrong,
	// tidy adds a line to the code, tests runs the tests as an agent would.
	tools string
}

var ecosystems = []ecosystem{
	{name: "go", needs: "go", files: map[string]string{
		"go.mod": "module example.com/cache\n\ngo 1.21\n", "zero.go": "package cache\n\nfunc Zero() int { return 0 }\n",
		"zero_test.go": "package cache\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif Zero() != 0 {\n\t\tt.Fatal()\n\t}\n}\n",
	}, tools: `n=$WFS_LAP
red() { printf 'package cache\n\nimport "testing"\n\nfunc TestF'$n'(t *testing.T) {\n\tif F'$n'() != '$n' {\n\t\tt.Fatal()\n\t}\n}\n' > f${n}_test.go; }
code() { printf 'package cache\n\nfunc F'$n'() int { return '$1' }\n' > f$n.go; }
tidy() { printf '\n// It is tidy.\n' >> f$n.go; }
tests() { go test ./...; }
`},
	{name: "unittest", needs: "python3", files: map[string]string{
		"zero.py": "def zero():\n    return 0\n", "tests/__init__.py": "", ".gitignore": "__pycache__/\n",
		"tests/test_zero.py": "import unittest\n\nimport zero\n\n\nclass ZeroTest(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(zero.zero(), 0)\n",
	}, tools: `n=$WFS_LAP
red() { printf 'import unittest\n\n\nclass F'$n'Test(unittest.TestCase):\n    def test_f'$n'(self):\n        import f'$n'\n        self.assertEqual(f'$n'.f(), '$n')\n' > tests/test_f$n.py; }
code() { printf 'def f():\n    return '$1'\n' > f$n.py; }
tidy() { printf '\n\n# It is tidy.\n' >> f$n.py; }
tests() { python3 -m unittest discover; }
`},
	{name: "node", needs: "node", files: map[string]string{
		"package.json": "{\"name\": \"cache\", \"private\": true, \"scripts\": {\"test\": \"node --test\"}}\n", "zero.js": "exports.zero = () => 0;\n",
		"test/zero.test.js": "const { test } = require('node:test');\nconst assert = require('node:assert');\n\ntest('zero', () => { assert.strictEqual(require('../zero.js').zero(), 0); });\n",
	}, tools: `n=$WFS_LAP
red() { printf "const { test } = require('node:test');\nconst assert = require('node:assert');\n\ntest('f$n', () => { assert.strictEqual(require('../f$n.js').f(), $n); });\n" > test/f$n.test.js; }
code() { echo "exports.f = () => $1;" > f$n.js; }
tidy() { printf '\n// It is tidy.\n' >> f$n.js; }
tests() { node --test; }
`},
}

// Agents of three laps. The plain one does what is asked and leaves what it finds in REFACTOR; the others run the tests by
// themselves, which leaves compiled files and caches beside the tree. The messy one claims too early, is wrong, comes back
// to what it had, and stops before it does anything.
var cacheAgents = []struct{ name, does string }{
	{"plain", "case $WFS_PHASE in RED) red ;; GREEN) code $n ;; esac\n"},
	{"tidy, tests by itself", "case $WFS_PHASE in RED) red ;; GREEN) code $n ;; REFACTOR) tidy ;; esac\ntests\n"},
	{"messy, tests by itself", `case $WFS_PHASE$WFS_ATTEMPT in RED1) red ;; GREEN2) code 70 ;; GREEN3) code $n ;; REFACTOR1) code 70 ;; REFACTOR2) code $n ;; esac
tests
`},
}

// cache works through sessions of three laps in each ecosystem, one after the other and each on the work of the one before,
// and prints how many results of gates were asked for, and how many of them were known.
func (b *bench) cache() error {
	fmt.Printf("%-10s %-24s %6s %6s %6s %9s %6s\n", "", "", "asked", "known", "run", "hit rate", "twice")
	for _, e := range ecosystems {
		if _, err := proc.LookPath(e.needs, os.Getenv("PATH")); err != nil {
			fmt.Printf("%-10s %s is not here\n", e.name, e.needs)
			continue
		}
		repo := filepath.Join(b.dir, "cache-"+e.name)
		for name, text := range e.files {
			if err := b.write(repo, name, text); err != nil {
				return err
			}
		}
		if err := b.runs(repo, []string{"git", "init", "-q"}, []string{"git", "add", "-A"}, []string{"git", "commit", "-q", "-m", "start"},
			[]string{b.wfs, "init", "--yes"}, []string{"git", "add", "-A"}, []string{"git", "commit", "-q", "-m", "how wfs judges this project"}); err != nil {
			return err
		}
		for i, a := range cacheAgents {
			t, err := b.cacheOne(e, repo, fmt.Sprintf("s%d", i), a.does)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", e.name, a.name, err)
			}
			fmt.Printf("%-10s %-24s %6d %6d %6d %8.0f%% %6d\n", e.name, a.name, t.asked, t.known, t.asked-t.known, 100*float64(t.known)/float64(t.asked), t.twice)
		}
	}
	fmt.Println("\ntwice: results of a gate that was run, though it had said the same of the same tree at the same place before")
	return nil
}

func (b *bench) runs(repo string, commands ...[]string) error {
	for _, args := range commands {
		if err := b.run(repo, args...); err != nil {
			return err
		}
	}
	return nil
}

// cacheOne is one session from new to finish. Its work is what the next one begins on.
func (b *bench) cacheOne(e ecosystem, repo, slug, does string) (tally, error) {
	agent := filepath.Join(b.dir, "agent.sh")
	script := e.tools + does + "printf '{\"done\": true}' > \"$WFS_RESULT\"\n"
	if slug != "s0" { // files of another name in each session
		script = strings.Replace(script, "n=$WFS_LAP\n", "n=$((WFS_LAP + 3 * "+strings.TrimPrefix(slug, "s")+"))\n", 1)
	}
	if err := os.WriteFile(agent, []byte(script), 0o600); err != nil {
		return tally{}, err
	}
	spec := filepath.Join(b.dir, "spec.md")
	if err := os.WriteFile(spec, []byte("- [ ] one\n- [ ] two\n- [ ] three\n"), 0o600); err != nil {
		return tally{}, err
	}
	err := b.runs(repo, []string{b.wfs, "new", slug, "--spec", spec, "--agent", "sh " + agent}, []string{b.wfs, "run", "--max-attempts", "40"}, []string{b.wfs, "finish", "--branch", "done-" + slug})
	if err != nil {
		return tally{}, err
	}
	var out bytes.Buffer
	res, err := proc.Run(context.Background(), proc.Spec{Argv: []string{b.wfs, "events", slug, "--json"}, Dir: repo, Env: b.env, Stdout: &out})
	if err != nil || res.Exit != 0 {
		return tally{}, fmt.Errorf("wfs events: exit code %d, %v", res.Exit, err)
	}
	return b.tally(&out)
}

// tally is how often results of gates were asked for.
type tally struct{ asked, known, twice int }

// tally counts what a session's events say of gates. What an earlier session of the repository has run counts as seen.
func (b *bench) tally(events *bytes.Buffer) (t tally, err error) {
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	count := func(tree session.Tree, gates []session.GateResult) {
		for _, g := range gates {
			key := fmt.Sprint(tree, g.Gate, g.Where)
			t.asked++
			switch {
			case g.Cached:
				t.known++
			case b.seen[key]:
				t.twice++
			}
			b.seen[key] = true
		}
	}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Kind string
			Data struct {
				Tree  session.Tree
				Gates []session.GateResult
				Proof *session.Proof
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return t, err
		}
		count(e.Data.Tree, e.Data.Gates)
		if p := e.Data.Proof; p != nil {
			count(p.Tree, p.Gates)
		}
	}
	return t, lines.Err()
}
