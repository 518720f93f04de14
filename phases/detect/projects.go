// Package detect looks at a repository and makes proposals for `wfs init`: gates for the tests of its projects, and
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

// Proposal is a gate that may fit a project.
type Proposal struct {
	Gate  workflows.Gate
	Why   string // evidence in the project
	Needs string // missing for per-test results, without which `expect: red` cannot work; "" for nothing
	// Install is a command that installs the tools of the gate, if it cannot run; "" if there is none.
	Install string
	// Ecosystem names the kind of project.
	Ecosystem string
	// Tools are commands that people in such a project type.
	Tools []string
	// Beyond are gates for other parts of the project's test command, such as linters and type checks. The proposals
	// of a project share them.
	Beyond []workflows.Gate
}

// project is a directory of the work tree to look at.
type project struct {
	root     string // the directory, absolute
	readFile func(name string) ([]byte, error)
}

// Projects looks for projects at root and in the directories right below, and proposes gates for the tests of each,
// likeliest first; one is enough. With several projects each gate has its own name and paths. readFile is
// os.ReadFile.
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
		for _, group := range top.below(dir) {
			// Skip it if the project above covers it. make mostly repeats the others.
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

// below proposes gates for the projects in a directory, limited to its files.
func (p *project) below(dir string) [][]Proposal {
	list := (&project{root: filepath.Join(p.root, dir), readFile: p.readFile}).propose()
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

// uniqueNames numbers gates with the same name: a directory may be called "tests", and two projects may have a
// linter.
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

// gates returns the proposed gates of a project, including those in Beyond.
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

// gateName converts a text to a valid name of a gate.
func gateName(text string) string {
	text = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-_")
	if text == "" || text[0] < 'a' {
		text = "tests-" + text
	}
	return text[:min(len(text), 40)]
}

// propose returns the proposals for one directory, by ecosystem. `make test` counts only if there is no other.
func (p *project) propose() [][]Proposal {
	var all [][]Proposal
	for _, e := range ecosystems() {
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
			if beside != nil && list[i].Gate.Format.PerTest() {
				list[i].Beyond = beside
			}
		}
		all = append(all, list)
	}
	return all
}

// notProjects are directories without projects of the repository itself.
var notProjects = strings.Fields("node_modules vendor target build dist docs doc examples testdata third_party")

// dirs returns the directories that may contain a project.
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

// plainPath matches a path without special characters for a shell.
var plainPath = lazyregexp.New(`^[A-Za-z0-9_./+@][A-Za-z0-9_./+@-]*$`)

func testsGate(command string, format workflows.Format) workflows.Gate {
	return workflows.Gate{Name: "tests", Run: workflows.Command{Shell: command}, Format: format, Where: workflows.Auto,
		Timeout: workflows.DefaultGateTimeout}
}

func (p *project) text(name string) string {
	data, _ := p.readFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return string(data)
}

func (p *project) has(name string) bool {
	_, err := p.readFile(filepath.Join(p.root, filepath.FromSlash(name)))
	return err == nil
}

// glob lists the files that match a pattern, as paths with slashes relative to the project's directory.
func (p *project) glob(pattern string) (names []string) {
	found, _ := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(pattern)))
	for _, file := range found {
		if rel, err := filepath.Rel(p.root, file); err == nil {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	return names
}
