package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// pipInstalls is the command that makes a virtual environment with what the files of a Python project name, and with
// pytest if it is needed. "" when no file says what belongs there.
func (p *project) pipInstalls(pytest bool) string {
	pyproject, requirements := p.has("pyproject.toml"), p.has("requirements.txt")
	// A project without a build system is often no package, and another file then says what it needs.
	builds := p.has("setup.py") || p.hasTable("build-system") || p.hasTable("project") && !requirements
	from := declaredIn{plain: p.requiresPytest("requirements.txt")}
	if pytest && !from.plain {
		from = p.pytestFrom(builds)
	}
	if !pyproject && !requirements && !builds && from.file == "" {
		return ""
	}
	command, args := "python3 -m venv .venv && ", ""
	if requirements {
		args += " -r requirements.txt"
	}
	if from.file != "" {
		args += " -r " + from.file
	}
	switch {
	case builds && from.extra != "":
		args += " -e '.[" + from.extra + "]'"
	case builds:
		args += " -e ."
	}
	switch {
	case from.group != "":
		command += ".venv/bin/pip install 'pip>=25.1' && " // the first one that knows --group
		args += " --group " + from.group
	case pytest && from == declaredIn{}:
		args += " pytest"
	}
	if args == "" {
		return ""
	}
	return command + ".venv/bin/pip install" + args
}

// declaredIn is where a project says that it needs something: one of these, none of them when it does not say so.
type declaredIn struct {
	extra string // of the package
	group string // of dependencies
	file  string // with requirements, beside requirements.txt
	plain bool   // what the project itself needs, which is installed anyway
}

// pytestFrom is where pytest, or a plugin of it, is declared. Of several places of a kind the first one counts that is
// called after tests, because the others may hold much more, else the first one.
func (p *project) pytestFrom(builds bool) declaredIn {
	text := p.text("pyproject.toml")
	declares := func(l tomlList) bool { return plainPath(l.name) && slices.ContainsFunc(l.items, isPytest) }
	if builds && slices.ContainsFunc(tomlLists(text, "project"), func(l tomlList) bool {
		return l.name == "dependencies" && declares(l)
	}) {
		return declaredIn{plain: true}
	}
	named := func(table string) string {
		var names []string
		for _, l := range tomlLists(text, table) {
			if declares(l) {
				names = append(names, l.name)
			}
		}
		return aboutTests(names)
	}
	if extra := named("project.optional-dependencies"); extra != "" && builds {
		return declaredIn{extra: extra}
	}
	if group := named("dependency-groups"); group != "" {
		return declaredIn{group: group}
	}
	return declaredIn{file: aboutTests(slices.DeleteFunc(p.requirementFiles(), func(file string) bool {
		return !plainPath(file) || !p.requiresPytest(file)
	}))}
}

// aboutTests is the first of some names that is called after tests, else the first.
func aboutTests(names []string) string {
	if at := slices.IndexFunc(names, testWord.MatchString); at > 0 {
		return names[at]
	}
	return strings.Join(names[:min(len(names), 1)], "")
}

var testWord = regexp.MustCompile(`(^|[^a-z])test`)

// requirementFiles are the files from which pip installs, by their names.
func (p *project) requirementFiles() []string {
	list := prefixed("requirements/", p.list("requirements"))
	for _, name := range p.list("") {
		if strings.Contains(name, "requirements") {
			list = append(list, name)
		}
	}
	return slices.DeleteFunc(list, func(file string) bool { return path.Ext(file) != ".txt" })
}

func (p *project) requiresPytest(file string) bool {
	for line := range strings.Lines(p.text(file)) {
		if isPytest(line) {
			return true
		}
	}
	return false
}

// isPytest reports whether a requirement is pytest or a plugin, which brings it.
func isPytest(requirement string) bool {
	name, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(requirementName.FindString(requirement)), "_", "-"), "-")
	return name == "pytest"
}

var requirementName = regexp.MustCompile(`^\s*[A-Za-z0-9._-]+`)

// tomlList is an array of strings, by its key.
type tomlList struct {
	name  string
	items []string
}

// tomlToken is what matters in a line of TOML to find the end of an array.
var tomlToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[][]`)

// tomlLists finds the arrays of a table of a TOML file, in the order of the file. Whatever is written in another way
// than people and tools mostly do is left out.
func tomlLists(text, table string) []tomlList {
	var lists []tomlList
	within, depth := false, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, isKey := strings.Cut(line, "=")
		switch {
		case depth > 0:
			value = line
		case strings.HasPrefix(line, "["):
			header, _, _ := strings.Cut(line, "#")
			within = strings.TrimSpace(header) == "["+table+"]"
			continue
		case !isKey || strings.HasPrefix(line, "#"):
			continue
		case within:
			lists = append(lists, tomlList{name: strings.Trim(strings.TrimSpace(key), `"'`)})
		}
		for _, token := range tomlToken.FindAllString(value, -1) {
			switch {
			case token == "[":
				depth++
			case token == "]":
				depth = max(0, depth-1)
			case token[0] != '#' && within && depth > 0:
				last := &lists[len(lists)-1]
				last.items = append(last.items, token[1:len(token)-1])
			}
		}
	}
	return lists
}

// hasTable reports whether pyproject.toml has a table.
func (p *project) hasTable(name string) bool {
	for line := range strings.Lines(p.text("pyproject.toml")) {
		header, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(header) == "["+name+"]" {
			return true
		}
	}
	return false
}
