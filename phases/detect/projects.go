// Package detect looks at a repository and proposes settings for `wfs init`: gates for the tests of its projects, and
// the set-up of new work trees.
package detect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
)

// Proposal is a gate that may fit a project. Several proposals may be made for a project.
type Proposal struct {
	Gate  workflows.Gate
	Why   string // the evidence in the project
	Needs string // a sentence about why there are no per-test results, which `expect: red` needs; "" if there are
	// Install is the command that installs the tools which the gate needs; "" if unknown.
	Install string
	// Ecosystem is the kind of project, such as "Go".
	Ecosystem string
	// Tools are commands that people usually type in such a project.
	Tools []string
	// Beyond are gates for the other things that the project's test command does, such as linters and type checks. All
	// proposals for a project have the same.
	Beyond []workflows.Gate
}

// project is a directory that may contain a project.
type project struct {
	root     string // absolute path of the directory
	readFile func(name string) ([]byte, error)
	program  func(name string) bool
	lacks    string // a program that the project uses and that is not installed, see can
}

// Projects looks for projects at root and in the directories directly below it. For each project it returns the gates
// that may run its tests, likeliest first; one of them is enough. If there are several projects, each gate has a name
// of its own, and paths that limit it to its project. `readFile` is os.ReadFile or a substitute for it. `program` reports
// whether a program is installed.
func Projects(root string, readFile func(name string) ([]byte, error), program func(name string) bool) [][]Proposal {
	top := &project{root: root, readFile: readFile, program: program}
	list := top.propose()
	atTop := map[string]bool{}
	for i, group := range list {
		atTop[group[0].Ecosystem] = true
		if i > 0 {
			nameGates(group, "tests-"+group[0].Ecosystem)
		}
	}
	for _, dir := range top.dirs() {
		for _, group := range top.below(dir) {
			// Skip a project of a kind that the top has too: the top's gates cover it. A Makefile usually repeats the
			// others.
			if kind := group[0].Ecosystem; !atTop[kind] && (kind != "make" || len(list) == 0) {
				list = append(list, group)
			}
		}
	}
	if len(list) == 1 {
		nameGates(list[0], "tests")
		for _, g := range gates(list[0]) {
			g.Paths = nil
		}
	}
	uniqueNames(list)
	return list
}

// below returns the proposals for a directory below the top. Their gates run in that directory, and only if files in
// it changed.
func (p *project) below(dir string) [][]Proposal {
	list := (&project{root: filepath.Join(p.root, dir), readFile: p.readFile, program: p.program}).propose()
	for i, group := range list {
		if nameGates(group, dir); i > 0 {
			nameGates(group, dir+"-"+group[0].Ecosystem)
		}
		for k := range group {
			group[k].Why = dir + ": " + group[k].Why
		}
		for _, g := range gates(group) {
			g.Run.Shell = "cd " + dir + " && " + g.Run.Shell
			g.Paths = []string{"/" + dir + "/"}
		}
	}
	return list
}

// uniqueNames appends numbers to the names of gates that occur several times. This happens if a directory is called
// "tests", or if two projects have a linter.
func uniqueNames(list [][]Proposal) {
	taken := map[string]int{}
	unique := func(name string) string {
		if taken[name]++; taken[name] > 1 {
			return fmt.Sprintf("%s-%d", name[:min(len(name), 36)], taken[name])
		}
		return name
	}
	for _, group := range list {
		nameGates(group, unique(group[0].Gate.Name))
	}
	for _, group := range list {
		for i, g := range group[0].Beyond {
			group[0].Beyond[i].Name = unique(g.Name)
		}
	}
}

// gates returns all gates in the proposals for a project, including those in Beyond.
func gates(group []Proposal) (list []*workflows.Gate) {
	for i := range group {
		list = append(list, &group[i].Gate)
	}
	for i := range group[0].Beyond {
		list = append(list, &group[0].Beyond[i])
	}
	return list
}

func nameGates(group []Proposal, text string) {
	for i := range group {
		group[i].Gate.Name = gateName(text)
	}
}

var notInNames = lazyregexp.New(`[^a-z0-9_-]`)

// gateName returns a valid name of a gate, made from a text.
func gateName(text string) string {
	text = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-_")
	if text == "" || text[0] < 'a' {
		text = "tests-" + text
	}
	return text[:min(len(text), 40)]
}

// propose returns the proposals for one directory, grouped by ecosystem. It proposes `make test` only if there is
// nothing else.
func (p *project) propose() [][]Proposal {
	var all [][]Proposal
	for _, e := range ecosystems() {
		p.lacks = ""
		list := e.propose(p)
		if len(list) == 0 || e.name == "make" && len(all) > 0 {
			continue
		}
		var beside []workflows.Gate
		if len(all) == 0 && list[0].Beyond == nil {
			beside = gatesOf(p.besideTests())
		}
		for i := range list {
			list[i].Ecosystem, list[i].Tools = e.name, append(list[i].Tools, e.tools...)
			list[i].Why += when(p.lacks != "", "; "+p.lacks+" is not installed")
			if beside != nil && list[i].Gate.Format.PerTest() {
				list[i].Beyond = beside
			}
		}
		all = append(all, list)
	}
	return all
}

// notProjects are names of directories that do not contain projects of the repository itself.
var notProjects = strings.Fields("node_modules vendor target build dist docs doc examples testdata third_party")

// dirs returns the directories directly below this one that may contain a project.
func (p *project) dirs() (names []string) {
	entries, _ := os.ReadDir(p.root)
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && name[0] != '.' && plainPath.MatchString(name) &&
			!slices.Contains(notProjects, name) {
			names = append(names, name)
		}
	}
	return names
}

// plainPath matches paths that need no quotes in a shell.
var plainPath = lazyregexp.New(`^[A-Za-z0-9_./+@][A-Za-z0-9_./+@-]*$`)

func testsGate(command string, format workflows.Format) workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: command}, Format: format, Where: workflows.Auto,
		Timeout: workflows.DefaultGateTimeout}
}

// can reports whether a program that the project uses is installed. If it is not, the proposals say so.
func (p *project) can(program string) bool {
	if p.program(program) {
		return true
	}
	p.lacks = program
	return false
}

func (p *project) text(name string) string {
	data, _ := p.readFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return string(data)
}

func (p *project) has(name string) bool {
	_, err := p.readFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return err == nil
}

// glob returns the files that match a pattern. The paths are relative to the project's directory, with slashes.
func (p *project) glob(pattern string) (names []string) {
	found, _ := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(pattern)))
	for _, file := range found {
		if rel, err := filepath.Rel(p.root, file); err == nil {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	return names
}
