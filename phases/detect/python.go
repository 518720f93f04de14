package detect

import (
	"path"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// proposePython knows pytest, unittest and Django's runner, below uv, Poetry, PDM, Pipenv or a virtual environment in the
// project. -B keeps Python from writing __pycache__, which would change the tree where it is not ignored.
func proposePython(p *project) []Proposal {
	why, pytest := p.pytestEvidence()
	files, unittest := p.pythonTests()
	if why == "" && len(files) == 0 && !p.has("manage.py") {
		return nil
	}
	if why == "" {
		why = "Python test files"
	}
	var list []Proposal
	for _, python := range p.pythons() {
		// A file that cannot be imported must not keep the others from running: --continue-on-collection-errors.
		byPytest := Proposal{Gate: testsGate(python+` -B -m pytest -q -p no:cacheprovider --continue-on-collection-errors --junitxml="$WFS_REPORT"`, workflows.FormatJUnit), Why: why}
		byUnittest := Proposal{Gate: testsGate(python+" -B -m unittest discover -v"+p.discoverIn(files), workflows.FormatUnittest), Why: "unittest in " + strings.Join(files[:min(len(files), 1)], "")}
		byPytest.Install = python + " -m pip install pytest"
		if tool, _, ok := strings.Cut(python, " "); ok {
			byPytest.Install = map[string]string{"uv": "uv sync"}[tool]
			if byPytest.Install == "" {
				byPytest.Install = tool + " install"
			}
		}
		switch {
		case p.has("manage.py") && !pytest:
			list = append(list, Proposal{Gate: testsGate(python+" -B manage.py test --noinput -v 2", workflows.FormatUnittest), Why: "manage.py"})
		case pytest || !unittest:
			list = append(list, byPytest)
			if unittest {
				list = append(list, byUnittest)
			}
		default:
			list = append(list, byUnittest, byPytest)
		}
	}
	return list
}

// pythons are the ways to start the project's Python, the most portable one first.
func (p *project) pythons() []string {
	var list []string
	for _, lock := range []struct{ file, run string }{
		{"uv.lock", "uv run --frozen python"}, {"poetry.lock", "poetry run python"}, {"pdm.lock", "pdm run python"}, {"Pipfile.lock", "pipenv run python"},
	} {
		if p.has(lock.file) {
			list = append(list, lock.run)
		}
	}
	for _, dir := range []string{".venv", "venv"} {
		if p.has(dir + "/pyvenv.cfg") {
			list = append(list, dir+"/bin/python")
		}
	}
	return append(list, "python3")
}

// pytestEvidence says what speaks for pytest, as text and whether it is more than a guess.
func (p *project) pytestEvidence() (why string, sure bool) {
	switch {
	case p.has("pytest.ini"):
		return "pytest.ini", true
	case strings.Contains(p.text("pyproject.toml"), "pytest"):
		return "pytest in pyproject.toml", true
	case strings.Contains(p.text("setup.cfg"), "[tool:pytest]"), strings.Contains(p.text("tox.ini"), "pytest"):
		return "pytest in setup.cfg or tox.ini", true
	case p.has("conftest.py"), p.has("tests/conftest.py"), p.has("test/conftest.py"):
		return "conftest.py", true
	}
	for _, file := range p.requirementFiles() {
		if strings.Contains(p.text(file), "pytest") {
			return "pytest in " + file, true
		}
	}
	files, _ := p.pythonTests()
	for _, file := range files {
		if text := p.text(file); strings.Contains(text, "import pytest") || strings.Contains(text, "from pytest") {
			return "pytest in " + file, true
		}
	}
	return "", false
}

func prefixed(prefix string, names []string) []string {
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// pythonTests lists test files, and says whether they are written for unittest.
func (p *project) pythonTests() (files []string, unittest bool) {
	for _, dir := range []string{"", "tests", "test", "tests/unit"} {
		for _, name := range p.list(dir) {
			if strings.HasSuffix(name, ".py") && (strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py")) {
				file := path.Join(dir, name)
				files = append(files, file)
				unittest = unittest || strings.Contains(p.text(file), "unittest")
			}
		}
	}
	return files, unittest
}

// discoverIn are the arguments with which unittest finds the files: it looks into packages only.
func (p *project) discoverIn(files []string) string {
	if len(files) == 0 {
		return ""
	}
	dir, pattern := path.Dir(files[0]), ""
	if !strings.HasPrefix(path.Base(files[0]), "test_") {
		pattern = " -p '*_test.py'"
	}
	if dir == "." || p.has(dir+"/__init__.py") && !strings.Contains(dir, "/") {
		return pattern
	}
	return " -s " + dir + pattern
}
