package detect

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

// laidProject makes a directory with these files.
func laidProject(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func yes(string) bool { return true }

func TestProposeWorktree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ignored, files []string
		want           workflows.Worktree
	}{
		{nil, []string{"package-lock.json"}, workflows.Worktree{}},
		{[]string{".env", ".env.local", "dist/", "sub/.env"}, nil, workflows.Worktree{Copy: []string{".env", ".env.local"}}},
		{[]string{"node_modules/"}, nil, workflows.Worktree{}},
		{[]string{"node_modules/"}, []string{"yarn.lock"}, workflows.Worktree{Setup: workflows.Command{Shell: "yarn install --frozen-lockfile"}}},
		{[]string{".venv/", "node_modules/"}, []string{"requirements.txt", "uv.lock", "package-lock.json"},
			workflows.Worktree{Setup: workflows.Command{Shell: "uv sync --frozen && npm ci"}}},
		{[]string{".venv/", "venv/"}, []string{".venv/pyvenv.cfg"}, workflows.Worktree{Link: []string{".venv"}}},
		{[]string{"venv/"}, []string{"venv/pyvenv.cfg", "uv.lock"}, workflows.Worktree{Link: []string{"venv"}}},
		{[]string{".venv/"}, []string{".venv/pyvenv.cfg", "requirements.txt"},
			workflows.Worktree{Setup: workflows.Command{Shell: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"}}},
	} {
		files := map[string]string{}
		for _, name := range c.files {
			files[name] = ""
		}
		got := Worktree(laidProject(t, files), c.ignored, nil, yes, yes)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, %v: %+v, want %+v", c.ignored, c.files, got, c.want)
		}
	}
}

// TestProposeUnlocked: a new work tree lacks a lock file that git does not track.
func TestProposeUnlocked(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"package-lock.json": "npm install", "pnpm-lock.yaml": "pnpm install",
		"yarn.lock": "yarn install", "bun.lock": "bun install", "uv.lock": "uv sync", "poetry.lock": "poetry install"} {
		got := Worktree(laidProject(t, map[string]string{file: ""}), []string{"node_modules/", ".venv/"}, nil, yes,
			func(string) bool { return false })
		if got.Setup.Shell != want {
			t.Errorf("%s: %q, want %q", file, got.Setup.Shell, want)
		}
	}
}

// TestProposeSetupOfPython: the set-up installs the runner of the gate.
func TestProposeSetupOfPython(t *testing.T) {
	t.Parallel()
	const (
		project = "[project]\nname = \"calc\"\n"
		builds  = "[build-system]\nrequires = [\"setuptools\"]\n" + project
		venv    = "python3 -m venv .venv && "
		pip     = venv + ".venv/bin/pip install "
		pytest  = ".venv/bin/python -B -m pytest -q"
	)
	toml := func(text string) map[string]string { return map[string]string{"pyproject.toml": text} }
	for _, c := range []struct {
		name  string
		gate  string
		files map[string]string
		tools string
		want  string
	}{
		{name: "a package", files: toml(project), want: pip + "-e . pytest"},
		{name: "with setup.py", files: map[string]string{"setup.py": ""}, want: pip + "-e . pytest"},
		{name: "and another gate", gate: ".venv/bin/python -m unittest", files: toml(builds + "[dependency-groups]\ndev=['pytest']"),
			want: pip + "-e ."},
		{name: "by its program", gate: ". .venv/bin/activate && .venv/bin/pytest", files: toml(builds), want: pip + "-e . pytest"},
		{name: "which needs it anyway", files: toml(project + "dependencies = [\n  'six',\n  'pytest-mock',\n]\n"), want: pip + "-e ."},
		{name: "extra", files: toml(project + "[project.optional-dependencies] # more\ndocs = [\"sphinx\"]\n" +
			"dev = [ # what we use\n  \"ruff[x]\", # pytest\n  \"PyTest >= 7; python_version < \\\"4\\\"\",\n]\n"), want: pip + "-e '.[dev]'"},
		{name: "extra of tests", files: toml(project + "[project.optional-dependencies]\nlatest = ['pytest']\n\"tests\" = ['pytest_cov']\n"),
			want: pip + "-e '.[tests]'"},
		{name: "group", files: toml(project + "[dependency-groups]\ntest = ['pytest>=7']\ndev = [{include-group = 'test'}, 'six']\n"),
			want: venv + ".venv/bin/pip install 'pip>=25.1' && .venv/bin/pip install -e . --group test"},
		{name: "group of what is no package", files: toml("[dependency-groups]\ndev = ['pytest']\n"),
			want: venv + ".venv/bin/pip install 'pip>=25.1' && .venv/bin/pip install --group dev"},
		{name: "name that means something to a shell", files: toml(project + "[project.optional-dependencies]\n\"a';b\" = ['pytest']\n"),
			want: pip + "-e . pytest"},
		{name: "another table", files: toml(project + "[tool.x]\ndev = [\n['pytest'],\n]\n"), want: pip + "-e . pytest"},
		{name: "requirements", files: map[string]string{"requirements.txt": "six\n# pytest\n"}, want: pip + "-r requirements.txt pytest"},
		{name: "requirements with it", files: map[string]string{"requirements.txt": "six\npytest==8.0\n"}, want: pip + "-r requirements.txt"},
		{name: "further requirements", files: map[string]string{"requirements.txt": "six", "dev-requirements.txt": "-r requirements.txt\npytest",
			"requirements-docs.txt": "sphinx"}, want: pip + "-r requirements.txt -r dev-requirements.txt"},
		{name: "requirements of tests", files: map[string]string{"requirements/dev.txt": "pytest", "requirements/test.txt": "pytest"},
			want: pip + "-r requirements/test.txt"},
		{name: "package with requirements-dev.txt", files: map[string]string{"pyproject.toml": project, "requirements-dev.txt": "pytest"},
			want: pip + "-r requirements-dev.txt -e ."},
		{name: "package with requirements", files: map[string]string{"pyproject.toml": builds, "requirements.txt": "six==1"},
			want: pip + "-r requirements.txt -e . pytest"},
		{name: "settings of tools", files: map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n", "requirements.txt": "six"},
			want: pip + "-r requirements.txt pytest"},
		{name: "nothing but settings", gate: "tox", files: toml("[tool.ruff]\n"), want: ""},
		{name: "no file", files: nil, want: ""},
		{name: "uv", tools: "uv", files: map[string]string{"uv.lock": "", "pyproject.toml": project + "[dependency-groups]\ndev = ['pytest']"},
			want: "uv sync --frozen"},
		{name: "uv, extra", tools: "uv", files: map[string]string{"uv.lock": "", "requirements.txt": "pytest",
			"pyproject.toml": project + "[project.optional-dependencies]\ntest = ['pytest']"}, want: "uv sync --frozen --extra test"},
		{name: "uv, group", tools: "uv", files: map[string]string{"uv.lock": "", "pyproject.toml": project + "[dependency-groups]\ntest = ['pytest']"},
			want: "uv sync --frozen --group test"},
		{name: "uv does not exist", files: map[string]string{"uv.lock": "", "pyproject.toml": project}, want: pip + "-e . pytest"},
		{name: "poetry", tools: "poetry", files: map[string]string{"poetry.lock": "", "pyproject.toml": project + "[project.optional-dependencies]\ntest = ['pytest']"},
			want: "poetry install --extras test"},
	} {
		gates := []workflows.Gate{{Run: workflows.Command{Shell: c.gate}}}
		if c.gate == "" {
			gates[0].Run.Shell = pytest
		}
		got := Worktree(laidProject(t, c.files), []string{".venv/"}, gates, func(name string) bool {
			return slices.Contains(strings.Fields(c.tools), name)
		}, yes)
		if got.Setup.Shell != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Setup.Shell, c.want)
		}
	}
}
