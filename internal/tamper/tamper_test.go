package tamper

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snippet is a case of testdata: files before and after, and the kinds of what is grave about the difference.
type snippet struct {
	name, options string
	want          []string
	files         []File
}

// snippets reads cases. "=== name | kinds | options" begins one, "--- path" the old text of a file, "+++ path" the new
// one. A file with one of them alone is new or deleted.
func snippets(t *testing.T, file string) []snippet {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []snippet
	var text *[]byte
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "=== "):
			part := strings.Split(strings.TrimSpace(line[4:])+" | | ", "|")
			s := snippet{name: strings.TrimSpace(part[0]), options: strings.TrimSpace(part[2])}
			if w := strings.TrimSpace(part[1]); w != "" {
				s.want = strings.Fields(w)
			}
			out, text = append(out, s), nil
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			path := strings.TrimSpace(line[4:])
			s := &out[len(out)-1]
			at := slices.IndexFunc(s.files, func(f File) bool { return f.Path == path })
			if at < 0 {
				s.files, at = append(s.files, File{Path: path}), len(s.files)
			}
			if line[0] == '-' {
				s.files[at].Before = []byte{}
				text = &s.files[at].Before
			} else {
				s.files[at].After = []byte{}
				text = &s.files[at].After
			}
		case text != nil:
			*text = append(*text, line...)
		}
	}
	return out
}

func TestSnippets(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	tampering, honest := 0, 0
	for _, file := range files {
		for _, s := range snippets(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+s.name, func(t *testing.T) {
				r := Request{Files: s.files, Gates: []string{"npm test", "make test", "./check.sh"}, MayRemove: strings.Contains(s.options, "may-remove"),
					Target: func(string) bool { return strings.Contains(s.options, "target") }}
				rep := Compare(r)
				var got []string
				for _, f := range rep.Findings {
					if f.Grave && !slices.Contains(got, string(f.Kind)) {
						got = append(got, string(f.Kind))
					}
				}
				slices.Sort(got)
				slices.Sort(s.want)
				if !slices.Equal(got, s.want) {
					t.Errorf("found %v, want %v", got, s.want)
					for _, f := range rep.Findings {
						t.Logf("%+v", f)
					}
				}
			})
			if len(s.want) > 0 {
				tampering++
			} else {
				honest++
			}
		}
	}
	t.Logf("%d cases of tampering, %d of honest work", tampering, honest)
}

// What a gate's command runs is the gate; what it only looks at is what the gate is about.
func TestGatesRunFiles(t *testing.T) {
	t.Parallel()
	for gate, runs := range map[string]bool{
		"./x":                            true,
		"sh x":                           true,
		"sh -eu x":                       true,
		"cd d && sh x":                   true,
		"python3 x -v":                   true,
		"bats x":                         true,
		"check --config=x":               true,
		"sh -c './x'":                    true,
		"test -f x && ./x":               true,
		"test `./x` = ok":                true,
		"test $(./x) = ok":               true,
		"if test -f y; then ./x; fi":     true,
		"grep -f x out":                  true,
		"grep -qf x out":                 true,
		"grep --file=x out":              true,
		"diff x out":                     true,
		"cat x | sh":                     true,
		"if test -f x; then true; fi":    false,
		"test -f x":                      false,
		"! test -s ./x":                  false,
		"[ -f x ]":                       false,
		"[[ x -nt y ]] || exit 1":        false,
		"grep -q done x":                 false,
		"go test ./... && grep -c ok x ": false,
		"stat x":                         false,
		"go test ./...":                  false,
	} {
		c := &comparison{Request: Request{Gates: []string{gate}}}
		if got := c.runByGate("x"); got != runs {
			t.Errorf("%s: %t", gate, got)
		}
	}
}

// A Makefile's default goal is what a gate runs that names none.
func TestDefaultGoal(t *testing.T) {
	t.Parallel()
	const rules = "test:\n\tgo test ./...\nhelp:\n\techo test\n"
	for gate, grave := range map[string]bool{"make": true, "make -j4": true, "cd x && make; echo ok": true, "make X=1": true, "make -C x test": true, "make test": false, "make test X=1": false, "CI=1 make test lint": false} {
		r := Compare(Request{Gates: []string{gate}, Files: []File{{Path: "Makefile", Before: []byte(rules), After: []byte(".DEFAULT_GOAL := help\n" + rules)}}})
		if got := len(graveKinds(r)) > 0; got != grave {
			t.Errorf("%s: %t", gate, got)
		}
	}
}
