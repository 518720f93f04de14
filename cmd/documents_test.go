package cmd

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var inlineCode = regexp.MustCompile("`(wfs [^`]+)`")

// TestReadmeIsShort limits the README to what you need before a first try; the rest belongs in docs/guide.md.
func TestReadmeIsShort(t *testing.T) {
	const most = 9216
	if data, err := os.ReadFile("../README.md"); err != nil || len(data) > most {
		t.Errorf("README.md has %d bytes, at most %d are allowed (%v)", len(data), most, err)
	}
}

// TestDocumentedCommands parses every wfs command in the user documentation.
func TestDocumentedCommands(t *testing.T) {
	for _, file := range []string{"README.md", "docs/guide.md", "docs/limits.md", "docs/workflows.md"} {
		data, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		found, fenced := 0, false
		for _, line := range strings.Split(string(data), "\n") {
			var commands []string
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if typed := strings.TrimPrefix(line, "$ "); !fenced {
				for _, m := range inlineCode.FindAllStringSubmatch(line, -1) {
					commands = append(commands, m[1])
				}
			} else if strings.HasPrefix(typed, "wfs ") || strings.Contains(typed, "wfs path ") || strings.Contains(typed, "&& wfs ") {
				commands = append(commands, typed)
			}
			for _, c := range commands {
				found++
				if err := tryDocumented(c); err != nil {
					t.Errorf("%s: %q: %v", file, c, err)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no command was found", file)
		}
	}
}

// tryDocumented parses a command. A bare command, such as `wfs note`, needs no arguments.
func tryDocumented(line string) error {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find(strings.Fields(line)[1:]); err == nil && !c.Hidden && c.CommandPath() == line {
		return nil
	}
	_, err := tryExample(line)
	return err
}

var (
	requirement = regexp.MustCompile(`^\| (R\d{3}) \| [TLPSM](?: [TLPSM])* \| [^|]+ \| \*\*([a-z ]+)\*\* \| ([^|]+) \|$`)
	codeSpans   = regexp.MustCompile("`([^`]+)`")
	testName    = regexp.MustCompile(`^Test\w+$`)
	links       = regexp.MustCompile(`\]\(([a-z]*(?:\.md)?)(?:#([a-z0-9-]+))?\)`)
	noAnchor    = regexp.MustCompile(`[^a-z0-9 -]`)
)

// TestRequirements checks docs/requirements.md: every requirement has one row with a known status, and every test,
// story, command and section that the page names exists. A row that is done names what shows it.
func TestRequirements(t *testing.T) {
	const most = 24 << 10
	data, err := os.ReadFile("../docs/requirements.md")
	if err != nil || len(data) > most {
		t.Fatalf("docs/requirements.md has %d bytes, at most %d are allowed (%v)", len(data), most, err)
	}
	want := map[string]int{}
	for _, r := range [][2]int{{1, 17}, {20, 28}, {30, 41}, {50, 65}, {70, 78}, {80, 85}, {90, 96}, {100, 115}, {120, 126},
		{130, 141}, {150, 156}, {160, 166}, {170, 174}} {
		for n := r[0]; n <= r[1]; n++ {
			want[fmt.Sprintf("R%03d", n)] = 1
		}
	}
	tests, counts := testFunctions(t), map[string]int{}
	for i, line := range strings.Split(string(data), "\n") {
		shown := 0
		for _, m := range codeSpans.FindAllStringSubmatch(line, -1) {
			var err error
			switch name := m[1]; {
			case testName.MatchString(name):
				if !tests[name] {
					err = fmt.Errorf("there is no such test")
				}
			case strings.HasSuffix(name, ".txtar") && name != "NAME.txtar":
				_, err = os.Stat("../test/stories/testdata/script/" + name)
			case strings.HasPrefix(name, "wfs ") || name == "wfs":
				err = tryDocumented(name)
			default:
				continue
			}
			if shown++; err != nil {
				t.Errorf("line %d: %s: %v", i+1, m[1], err)
			}
		}
		for _, m := range links.FindAllStringSubmatch(line, -1) {
			if shown++; !hasSection(t, m[1], m[2]) {
				t.Errorf("line %d: %s leads nowhere", i+1, m[0])
			}
		}
		if !strings.HasPrefix(line, "| R0") && !strings.HasPrefix(line, "| R1") {
			continue
		}
		m := requirement.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("line %d is no row: %s", i+1, line)
			continue
		}
		want[m[1]]--
		counts[m[2]]++
		switch m[2] {
		case "done":
			if shown == 0 {
				t.Errorf("line %d: nothing shows that %s is done", i+1, m[1])
			}
		case "different", "not applicable", "open":
		default:
			t.Errorf("line %d: %q is no status", i+1, m[2])
		}
	}
	for number, left := range want {
		if left != 0 {
			t.Errorf("%s has %d rows", number, 1-left)
		}
	}
	t.Log(counts)
}

// testFunctions returns the names of all test functions of the module.
func testFunctions(t *testing.T) map[string]bool {
	all := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				all[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hasSection reports whether a page of docs, or the page of requirements itself, has a heading with the anchor.
func hasSection(t *testing.T, page, anchor string) bool {
	if page == "" {
		page = "requirements.md"
	}
	data, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Error(err)
		return false
	}
	for line := range strings.Lines(string(data)) {
		if hashes, heading, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Trim(hashes, "#") == "" &&
			strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-") == anchor {
			return true
		}
	}
	return anchor == ""
}
