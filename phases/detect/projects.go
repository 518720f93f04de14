package detect

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// Proposal is a gate that may fit a project.
type Proposal struct {
	Gate  workflows.Gate
	Why   string // what in the project speaks for it
	Needs string // what is missing for results by test, without which `expect: red` cannot work; "" when nothing is
	// Install is a command that brings what the gate runs, for when it cannot run; "" when there is none to type.
	Install string
	// Ecosystem names the kind of project.
	Ecosystem string
	// Tools are commands that whoever works in such a project types.
	Tools []string
	// Beyond are gates for what the project's test command runs as well, and this gate does not: linters, type checks.
	Beyond []workflows.Gate
}

// project is what the proposals look at: a directory of the work tree.
type project struct {
	root     string // the directory, absolute
	readFile func(name string) ([]byte, error)
}

type ecosystem struct {
	name    string
	propose func(*project) []Proposal
	tools   []string
}

// ecosystems are asked in this order; the first proposal is the one to try first.
func ecosystems() []ecosystem {
	return []ecosystem{
		{"Go", proposeGo, []string{"go", "gofmt"}},
		{"Node", proposeNode, []string{"npm test", "npm run", "npx", "node"}},
		{"Deno", proposeDeno, []string{"deno"}},
		{"Python", proposePython, []string{"pytest", "python", "python3"}},
		{"Rust", proposeCargo, []string{"cargo"}},
		{"Maven", proposeMaven, []string{"mvn", "./mvnw"}},
		{"Gradle", proposeGradle, []string{"gradle", "./gradlew"}},
		{"sbt", proposeSbt, []string{"sbt"}},
		{"Ruby", proposeRuby, []string{"bundle exec", "rake", "ruby"}},
		{".NET", proposeDotnet, []string{"dotnet"}},
		{"PHP", proposePHP, []string{"php", "composer", "vendor/bin/phpunit"}},
		{"Bats", proposeBats, []string{"bats"}},
		{"make", proposeMake, []string{"make"}},
	}
}

// Projects looks for projects at root and in the directories right below, and proposes gates for the tests of each: the
// likeliest first, one of which is enough. With several projects each gate has a name of its own, and the paths that it is
// about. readFile is os.ReadFile.
func Projects(root string, readFile func(name string) ([]byte, error)) [][]Proposal {
	top := &project{root: root, readFile: readFile}
	list := top.propose()
	atTop := map[string]bool{}
	for i, group := range list {
		atTop[group[0].Ecosystem] = true
		if i > 0 {
			nameGates(group, "tests-"+group[0].Ecosystem)
		}
	}
	for _, dir := range top.dirs() {
		below := &project{root: filepath.Join(root, dir), readFile: readFile}
		for i, group := range below.propose() {
			if kind := group[0].Ecosystem; atTop[kind] || kind == "make" && len(list) > 0 {
				continue // the one above has it, or mostly runs the same
			} else if i > 0 {
				nameGates(group, dir+"-"+kind)
			} else {
				nameGates(group, dir)
			}
			for k := range group {
				for _, g := range group[k].gates() {
					g.Run.Shell = "cd " + dir + " && " + g.Run.Shell
					g.Paths = []string{"/" + dir + "/"}
				}
				group[k].Why = dir + ": " + group[k].Why
			}
			list = append(list, group)
		}
	}
	if len(list) == 1 {
		nameGates(list[0], "tests")
		for k := range list[0] {
			for _, g := range list[0][k].gates() {
				g.Paths = nil
			}
		}
	}
	taken := map[string]int{} // a directory may be called "tests", and two projects may have a linter
	for _, group := range list {
		name := group[0].Gate.Name
		if taken[name]++; taken[name] > 1 {
			nameGates(group, fmt.Sprintf("%s-%d", name[:min(len(name), 36)], taken[name]))
		}
	}
	for _, group := range list {
		for i := range group[0].Beyond {
			name := group[0].Beyond[i].Name
			if taken[name]++; taken[name] > 1 {
				name = fmt.Sprintf("%s-%d", name[:min(len(name), 36)], taken[name])
			}
			for k := range group {
				if i < len(group[k].Beyond) {
					group[k].Beyond[i].Name = name
				}
			}
		}
	}
	return list
}

// gates are the proposed gate and those beyond it.
func (p *Proposal) gates() []*workflows.Gate {
	list := []*workflows.Gate{&p.Gate}
	for i := range p.Beyond {
		list = append(list, &p.Beyond[i])
	}
	return list
}

// nameGates gives the gates of a project a name.
func nameGates(group []Proposal, text string) {
	for i := range group {
		group[i].Gate.Name = gateName(text)
	}
}

// gateName makes a name of letters that a gate's name may have.
func gateName(text string) string {
	text = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(text)), "-_")
	if text == "" || text[0] < 'a' {
		text = "tests-" + text
	}
	return text[:min(len(text), 40)]
}

// propose lists what is in one directory, by ecosystem. `make test` counts where nothing else is.
func (p *project) propose() [][]Proposal {
	var all [][]Proposal
	for _, e := range ecosystems() {
		list := e.propose(p)
		if len(list) == 0 || e.name == "make" && len(all) > 0 {
			continue
		}
		for i := range list {
			list[i].Ecosystem, list[i].Tools = e.name, append(list[i].Tools, e.tools...)
			if beside := p.besideTests(); len(list[i].Beyond) == 0 && list[i].Gate.Format.PerTest() && len(all) == 0 {
				list[i].Beyond = gatesOf(beside)
			}
		}
		all = append(all, list)
	}
	return all
}

// dirs names the directories in which a project may lie.
func (p *project) dirs() []string {
	entries, _ := os.ReadDir(p.root)
	var names []string
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir(), strings.HasPrefix(name, "."), !plainPath(name):
		case slices.Contains([]string{"node_modules", "vendor", "target", "build", "dist", "docs", "doc", "examples", "testdata", "third_party"}, name):
		default:
			names = append(names, name)
		}
	}
	return names
}

// plainPath reports whether a path means itself to a shell.
func plainPath(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./+@", r))
	}) < 0
}

func testsGate(command string, format workflows.Format) workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: command}, Format: format, Where: workflows.Auto,
		Timeout: workflows.DefaultGateTimeout}
}

func (p *project) read(name string) ([]byte, bool) {
	data, err := p.readFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return data, err == nil
}

// list names the files in a directory.
func (p *project) list(dir string) []string {
	entries, _ := os.ReadDir(filepath.Join(p.root, dir))
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func (p *project) has(name string) bool {
	_, ok := p.read(name)
	return ok
}

func (p *project) text(name string) string {
	data, _ := p.read(name)
	return string(data)
}

func proposeGo(p *project) []Proposal {
	switch {
	case p.has("go.work"):
		var dirs []string
		for _, dir := range workspaceDirs(p.text("go.work")) {
			dirs = append(dirs, "./"+path.Join(dir, "..."))
		}
		if len(dirs) == 0 {
			dirs = []string{"./..."}
		}
		return []Proposal{{Gate: testsGate("go test -json "+strings.Join(dirs, " "), workflows.FormatGoTest), Why: "go.work"}}
	case p.has("go.mod"):
		return []Proposal{{Gate: testsGate("go test -json ./...", workflows.FormatGoTest), Why: "go.mod"}}
	}
	return nil
}

// workspaceDirs reads the use directives of a go.work file.
func workspaceDirs(text string) []string {
	var dirs []string
	block := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case block && words[0] == ")":
			block = false
		case block:
			dirs = append(dirs, strings.Trim(words[0], `"`))
		case words[0] == "use" && len(words) > 1 && words[1] == "(":
			block = true
		case words[0] == "use" && len(words) > 1:
			dirs = append(dirs, strings.Trim(words[1], `"`))
		}
	}
	return slices.DeleteFunc(dirs, func(d string) bool {
		return strings.HasPrefix(d, "..") || strings.ContainsAny(d, " '\"$`;&|<>()\\")
	})
}

func proposeMake(p *project) []Proposal {
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile"} {
		for line := range strings.Lines(p.text(name)) {
			if strings.HasPrefix(line, "test:") && !strings.HasPrefix(line, "test:=") {
				return []Proposal{{Gate: testsGate("make test", workflows.FormatExit), Why: name + " has a target `test`",
					Needs: "make hides what its tests print; pass the command behind it, which has per-test results: wfs init --test 'COMMAND' --format FORMAT"}}
			}
		}
	}
	return nil
}

// proposeBats knows shell scripts that are tested with Bats.
func proposeBats(p *project) []Proposal {
	for _, dir := range []string{"test", "tests"} {
		for _, name := range p.list(dir) {
			if strings.HasSuffix(name, ".bats") {
				return []Proposal{{Gate: testsGate("bats --tap -r "+dir, workflows.FormatTAP), Why: dir + "/" + name}}
			}
		}
	}
	return nil
}

// GuessFormat says what a command is likely to report, by what stands in it.
func GuessFormat(command string) workflows.Format {
	has := func(words ...string) bool {
		for _, w := range words {
			if !strings.Contains(strings.ToLower(command), w) {
				return false
			}
		}
		return true
	}
	switch {
	case has("go test", "-json"):
		return workflows.FormatGoTest
	case has("jest", "--json"), has("vitest", "reporter=json"):
		return workflows.FormatJest
	case has("rspec", "json"):
		return workflows.FormatRSpec
	case has("junit"), has("reporter xunit"), has("reporter=xunit"):
		return workflows.FormatJUnit
	case has("cargo test"):
		return workflows.FormatCargo
	case has("unittest", " -v"), has("manage.py test", "-v 2"):
		return workflows.FormatUnittest
	case has("dotnet test", "trx"):
		return workflows.FormatTRX
	case has("--tap"), has("reporter=tap"):
		return workflows.FormatTAP
	}
	return workflows.FormatExit
}
