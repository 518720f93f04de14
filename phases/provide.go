package phases

import (
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// installs are the commands that fill a directory which git ignores, by the file that says what belongs there: each
// installs exactly that, and changes no file that git tracks.
var installs = []struct{ dir, file, command string }{
	{"node_modules/", "package-lock.json", "npm ci"},
	{"node_modules/", "pnpm-lock.yaml", "pnpm install --frozen-lockfile"},
	{"node_modules/", "yarn.lock", "yarn install --frozen-lockfile"},
	{"node_modules/", "bun.lock", "bun install --frozen-lockfile"},
	{"node_modules/", "bun.lockb", "bun install --frozen-lockfile"},
	{".venv/", "uv.lock", "uv sync --frozen"},
	{".venv/", "poetry.lock", "poetry install"},
	{".venv/", "requirements.txt", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"},
	{".venv/", "pyproject.toml", "python3 -m venv .venv && .venv/bin/pip install -e ."},
	{".venv/", "setup.py", "python3 -m venv .venv && .venv/bin/pip install -e ."},
}

// ProposeWorktree says what a new work tree of the project lacks, by what git ignores at its top (directories end in a
// slash): local settings, which are copied, and installed packages, which are installed anew, because they often know
// their own place. A virtual environment that no file describes is linked; one that leads back to the project is refused
// when the work tree is made.
func ProposeWorktree(ignored []string, exists func(name string) bool) workflows.Worktree {
	var w workflows.Worktree
	var setup, environments []string
	done := map[string]bool{}
	for _, name := range ignored {
		if name == ".env" || name == ".envrc" || strings.HasPrefix(name, ".env.") && !strings.Contains(name, "/") {
			w.Copy = append(w.Copy, name)
		}
		if (name == ".venv/" || name == "venv/") && exists(name+"pyvenv.cfg") {
			environments = append(environments, name)
		}
		for _, i := range installs {
			if i.dir == name && !done[name] && exists(i.file) {
				setup, done[name] = append(setup, i.command), true
			}
		}
	}
	for _, name := range environments {
		if !done[name] { // no file says what belongs there
			w.Link = append(w.Link, strings.TrimSuffix(name, "/"))
		}
	}
	w.Setup.Shell = strings.Join(setup, " && ")
	return w
}
