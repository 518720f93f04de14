package detect

import (
	"os"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
)

// installs are the commands that fill an ignored directory. `dir` is that directory, and file declares its contents.
// Each command installs exactly these contents and changes no tracked file. extra and group are options to install
// parts that are not installed by default.
var installs = []struct{ dir, file, command, extra, group string }{
	{dir: "node_modules/", file: "package-lock.json", command: "npm ci"},
	{dir: "node_modules/", file: "pnpm-lock.yaml", command: "pnpm install --frozen-lockfile"},
	{dir: "node_modules/", file: "yarn.lock", command: "yarn install --frozen-lockfile"},
	{dir: "node_modules/", file: "bun.lock", command: "bun install --frozen-lockfile"},
	{dir: "node_modules/", file: "bun.lockb", command: "bun install --frozen-lockfile"},
	{dir: ".venv/", file: "uv.lock", command: "uv sync --frozen", extra: " --extra ", group: " --group "},
	{dir: ".venv/", file: "poetry.lock", command: "poetry install", extra: " --extras "},
}

// withoutLock changes a command of installs so that it works without a lock file.
var withoutLock = strings.NewReplacer("npm ci", "npm install", " --frozen-lockfile", "", " --frozen", "")

var usesPytest = lazyregexp.New(`(^|[\s&|;()/])pytest($|[\s&|;()/])`)

// Worktree proposes how to set up a new work tree for the project at root. `ignored` are the names at its top that git
// ignores; those of directories end in a slash. Files with local settings are copied. Packages, including the gates'
// test runners, are installed again, because they often contain their own path. A virtual environment whose contents no
// file declares is linked; if it contains links back to the project, wfs refuses it when it makes the work tree.
// `program` reports whether a program is installed, and `tracked` whether git tracks a file: new work trees lack
// others.
func Worktree(root string, ignored []string, gates []workflows.Gate,
	program, tracked func(name string) bool) workflows.Worktree {
	var w workflows.Worktree
	var setup []string
	p := &project{root: root, readFile: os.ReadFile}
	pytest := slices.ContainsFunc(gates, func(g workflows.Gate) bool { return usesPytest.MatchString(g.Run.Text()) })
	for _, name := range ignored {
		if name == ".env" || name == ".envrc" || strings.HasPrefix(name, ".env.") && !strings.Contains(name, "/") {
			w.Copy = append(w.Copy, name)
		}
		command := p.installs(name, pytest, program, tracked)
		switch {
		case command != "":
			setup = append(setup, command)
		// No file declares the contents of this virtual environment.
		case (name == ".venv/" || name == "venv/") && p.has(name+"pyvenv.cfg"):
			w.Link = append(w.Link, strings.TrimSuffix(name, "/"))
		}
	}
	w.Setup.Shell = strings.Join(setup, " && ")
	return w
}

// installs returns the command that fills a directory; "" if unknown. If the program that wrote the lock file is not
// installed, it returns a command with pip if pip can install the packages without the lock file.
func (p *project) installs(dir string, pytest bool, program, tracked func(name string) bool) string {
	pip := ""
	if dir == ".venv/" {
		pip = p.pipInstalls(pytest)
	}
	for _, i := range installs {
		tool, _, _ := strings.Cut(i.command, " ")
		if i.dir != dir || !p.has(i.file) || !program(tool) {
			continue
		}
		if !tracked(i.file) {
			i.command = withoutLock.Replace(i.command)
		}
		if !pytest {
			return i.command
		}
		from := p.pytestFrom(true)
		return i.command + when(from.extra != "" && i.extra != "", i.extra+from.extra) +
			when(from.group != "" && from.group != "dev" && i.group != "", i.group+from.group) // installed by default
	}
	return pip
}
