package detect

import (
	"regexp"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// pipInstalls returns the command that makes a virtual environment and installs the packages that a Python project
// declares. If pytest is set, it also installs pytest. It returns "" if the project declares no packages.
func (p *project) pipInstalls(pytest bool) string {
	pyproject, requirements := p.has("pyproject.toml"), p.has("requirements.txt")
	// A pyproject.toml without a build system often belongs to a project that is no package. If such a project has a
	// requirements.txt, only that is installed.
	builds := p.shows(`setup.py|pyproject.toml:^\[build-system\]`+
		when(!requirements, `|pyproject.toml:^\[project\]`)) != ""
	from := declaredIn{plain: isPytest.MatchString(p.text("requirements.txt"))}
	if pytest && !from.plain {
		from = p.pytestFrom(builds)
	}
	if !pyproject && !requirements && !builds && from.file == "" {
		return ""
	}
	itself := "."
	if from.extra != "" {
		itself = "'.[" + from.extra + "]'"
	}
	args := when(requirements, " -r requirements.txt") + when(from.file != "", " -r "+from.file) +
		when(builds, " -e "+itself) +
		when(from.group != "", " --group "+from.group) + when(pytest && from == declaredIn{}, " pytest")
	if args == "" {
		return ""
	}
	newer := when(from.group != "", ".venv/bin/pip install 'pip>=25.1' && ") // the first version that knows --group
	return "python3 -m venv .venv && " + newer + ".venv/bin/pip install" + args
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// declaredIn says where a project declares that it needs pytest. At most one field is set.
type declaredIn struct {
	extra string // name of an extra of the package
	group string // name of a dependency group
	file  string // a requirements file other than requirements.txt
	plain bool   // a dependency of the project itself, which is always installed
}

// pytestFrom returns where the project declares that it needs pytest or one of its plugins.
func (p *project) pytestFrom(builds bool) declaredIn {
	if builds && slices.Contains(p.declaring("project"), "dependencies") {
		return declaredIn{plain: true}
	}
	if extra := aboutTests(p.declaring("project.optional-dependencies")); extra != "" && builds {
		return declaredIn{extra: extra}
	}
	if group := aboutTests(p.declaring("dependency-groups")); group != "" {
		return declaredIn{group: group}
	}
	return declaredIn{file: aboutTests(slices.DeleteFunc(append(p.glob("requirements/*.txt"),
		p.glob("*requirements*.txt")...), func(file string) bool {
		return !plainPath.MatchString(file) || !isPytest.MatchString(p.text(file))
	}))}
}

// aboutTests returns the first name that mentions tests, since the others may install much more. If there is none, it
// returns the first name, "" if names is empty.
func aboutTests(names []string) string {
	if at := slices.IndexFunc(names, testWord.MatchString); at > 0 {
		return names[at]
	}
	return strings.Join(names[:min(len(names), 1)], "")
}

var (
	testWord = lazyregexp.New(`(^|[^a-z])test`)
	isPytest = lazyregexp.New(`(?im)^\s*pytest(?:[-_][\w.-]*)?\s*(?:[^\w.-]|$)`)
	// These match the usual forms of arrays of strings in TOML, and the strings in them.
	tomlArray  = lazyregexp.New(`(?m)^\s*["']?([^"'=\s]+)["']?\s*=\s*\[((?:[^\]"'#]|"(?:[^"\\]|\\.)*"|'[^']*'|#[^\n]*)*)\]`)
	tomlString = lazyregexp.New(`"((?:[^"\\]|\\.)*)"|'([^']*)'|#[^\n]*`)
)

// declaring returns the keys of a table of pyproject.toml whose arrays contain pytest or one of its plugins.
func (p *project) declaring(table string) (names []string) {
	body := regexp.MustCompile(`(?ms)^\[` + regexp.QuoteMeta(table) +
		`\][^\n]*$(.*?)(?:^\[|\z)`).FindString(p.text("pyproject.toml"))
	for _, m := range tomlArray.FindAllStringSubmatch(body, -1) {
		if plainPath.MatchString(m[1]) &&
			slices.ContainsFunc(tomlString.FindAllStringSubmatch(m[2], -1), func(s []string) bool {
				return isPytest.MatchString(s[1] + s[2])
			}) {
			names = append(names, m[1])
		}
	}
	return names
}
