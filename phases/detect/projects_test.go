package detect

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

func TestPropose(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		files  map[string]string
		want   string
		format workflows.Format
		needs  bool
	}{
		{"go", map[string]string{"go.mod": "module x"}, "go test -json ./...", workflows.FormatGoTest, false},
		{"go workspace", map[string]string{"go.mod": "module x", "go.work": "go 1.21\nuse (\n\t./a // one\n\t./b\n)\nuse .\n"},
			"go test -json ./a/... ./b/... ./...", workflows.FormatGoTest, false},
		{"node's runner", map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`}, "node --test --test-reporter=junit", workflows.FormatJUnit, false},
		{"node's runner with flags", map[string]string{"package.json": `{"scripts":{"test":"node --import tsx --test test/*.ts"}}`},
			"node --import tsx --test --test-reporter=junit test/*.ts", workflows.FormatJUnit, false},
		{"node's runner below npm run and a coverage tool", map[string]string{"package.json": `{"scripts":{"test":"npm run test:unit && npm run test:types","test:unit":"c8 --100 node --test test/*.js","test:types":"tsd"}}`},
			"node --test --test-reporter=junit test/*.js", workflows.FormatJUnit, false},
		{"scripts that run each other", map[string]string{"package.json": `{"scripts":{"test":"npm run a","a":"npm run test"}}`}, "npm test", workflows.FormatExit, true},
		{"no script, test files", map[string]string{"package.json": `{}`, "test/a.js": ""}, "node --test --test-reporter=junit", workflows.FormatJUnit, false},
		{"no script, no test files", map[string]string{"package.json": `{}`, "index.js": ""}, "", "", false},
		{"jest", map[string]string{"package.json": `{"scripts":{"test":"NODE_OPTIONS=--experimental-vm-modules jest --watch --config j.json"}}`},
			`NODE_OPTIONS=--experimental-vm-modules npx --no-install jest --config j.json --ci --json --outputFile="$WFS_REPORT"`, workflows.FormatJest, false},
		{"jest by its file", map[string]string{"package.json": `{"scripts":{"test":"node --experimental-vm-modules node_modules/jest/bin/jest.js --reporters default src"}}`},
			`node --experimental-vm-modules node_modules/jest/bin/jest.js src --ci --json`, workflows.FormatJest, false},
		{"jest by the dependency", map[string]string{"package.json": `{"devDependencies":{"jest":"1"}}`, "pnpm-lock.yaml": ""}, "pnpm exec jest --ci --json", workflows.FormatJest, false},
		{"vitest", map[string]string{"package.json": `{"scripts":{"test":"vitest run"}}`}, `CI=true npx --no-install vitest --run --reporter=junit --outputFile="$WFS_REPORT"`, workflows.FormatJUnit, false},
		{"mocha behind a build", map[string]string{"package.json": `{"scripts":{"pretest":"tsc -p .","test":"eslint . && mocha dist/test"}}`, "yarn.lock": ""},
			`yarn run tsc -p . && yarn run mocha dist/test --reporter xunit --reporter-option output="$WFS_REPORT"`, workflows.FormatJUnit, false},
		{"mocha behind a coverage tool", map[string]string{"package.json": `{"scripts":{"test":"NODE_ENV=test nyc --reporter=text mocha test"}}`, "node_modules/.bin/nyc": ""},
			`NODE_ENV=test npx --no-install nyc mocha test --reporter xunit`, workflows.FormatJUnit, false},
		{"a build with arguments", map[string]string{"package.json": `{"scripts":{"test":"npm run build -- --fast && mocha"}}`},
			`npm run build -- --fast && npx --no-install mocha --reporter xunit`, workflows.FormatJUnit, false},
		{"ava", map[string]string{"package.json": `{"scripts":{"test":"xo && ava"}}`}, "npx --no-install ava --tap", workflows.FormatTAP, false},
		{"tape", map[string]string{"package.json": `{"scripts":{"test":"tape test/*.js | tap-spec"}}`}, "npx --no-install tape test/*.js", workflows.FormatTAP, false},
		{"bun", map[string]string{"package.json": `{"scripts":{"test":"bun test"}}`}, "bun test --reporter=junit", workflows.FormatJUnit, false},
		{"workspaces of jest", map[string]string{"package.json": `{"workspaces":["packages/*"],"scripts":{"test":"turbo run test"}}`, "turbo.json": `{"tasks":{"test":{"dependsOn":["^build"]}}}`,
			"packages/b/package.json": `{"scripts":{"test":"jest"}}`, "packages/a/package.json": `{"scripts":{"test":"jest"}}`, "packages/c/package.json": `{}`},
			`npx --no-install turbo run build && mkdir -p "$WFS_REPORT" && s=0; for d in packages/a packages/b; do (cd $d && npx --no-install jest`, workflows.FormatJest, false},
		{"workspaces of node", map[string]string{"package.json": `{"scripts":{"test":"pnpm -r test"}}`, "pnpm-workspace.yaml": "packages:\n  - 'libs/*'\n", "libs/a/package.json": `{"scripts":{"test":"node --test"}}`},
			nodeGate, workflows.FormatJUnit, false},
		{"workspaces of many kinds", map[string]string{"package.json": `{"workspaces":["a","b"],"scripts":{"test":"npm test --workspaces"}}`, "a/package.json": `{"scripts":{"test":"jest"}}`, "b/package.json": `{"scripts":{"test":"vitest"}}`},
			"npm test", workflows.FormatExit, true},
		{"something else", map[string]string{"package.json": `{"scripts":{"test":"uvu"}}`}, "npm test", workflows.FormatExit, true},
		{"pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, "--junitxml=\"$WFS_REPORT\"", workflows.FormatJUnit, false},
		{"python tests", map[string]string{"tests/test_a.py": ""}, "pytest", workflows.FormatJUnit, false},
		{"unittest", map[string]string{"tests/test_a.py": "import unittest"}, "python3 -B -m unittest discover -v -s tests", workflows.FormatUnittest, false},
		{"unittest in a package", map[string]string{"tests/test_a.py": "import unittest", "tests/__init__.py": ""}, "python3 -B -m unittest discover -v", workflows.FormatUnittest, false},
		{"pytest with uv", map[string]string{"tests/test_a.py": "import pytest", "uv.lock": ""}, "uv run --frozen python -B -m pytest", workflows.FormatJUnit, false},
		{"a virtual environment", map[string]string{"requirements-dev.txt": "pytest", ".venv/pyvenv.cfg": "", "test_a.py": ""}, ".venv/bin/python -B -m pytest", workflows.FormatJUnit, false},
		{"django", map[string]string{"manage.py": ""}, "python3 -B manage.py test --noinput -v 2", workflows.FormatUnittest, false},
		{"cargo", map[string]string{"Cargo.toml": ""}, "cargo test --no-fail-fast", workflows.FormatCargo, false},
		{"cargo workspace", map[string]string{"Cargo.toml": "[workspace]\n"}, "cargo test --workspace --no-fail-fast", workflows.FormatCargo, false},
		{"maven", map[string]string{"pom.xml": "", "mvnw": ""}, "./mvnw -q -B -fae -Dmaven.test.failure.ignore=true test", workflows.FormatJUnit, false},
		{"gradle", map[string]string{"build.gradle.kts": ""}, "gradle --no-daemon", workflows.FormatJUnit, false},
		{"rspec", map[string]string{"spec/a_spec.rb": "", "Gemfile": ""}, `bundle exec rspec --format json --out "$WFS_REPORT"`, workflows.FormatRSpec, false},
		{"minitest", map[string]string{"test/a_test.rb": ""}, "ruby -Itest", workflows.FormatMinitest, false},
		{"minitest by rake", map[string]string{"test/a_test.rb": "", "Rakefile": "Rake::TestTask.new"}, "rake test TESTOPTS=-v", workflows.FormatMinitest, false},
		{"test-unit", map[string]string{"test/a_test.rb": "require 'test/unit'"}, "rake test", workflows.FormatExit, true},
		{"dotnet", map[string]string{"a.sln": ""}, `dotnet test --logger trx --results-directory "$WFS_REPORT"`, workflows.FormatTRX, false},
		{"phpunit", map[string]string{"composer.json": `{"require-dev":{"phpunit/phpunit":"1"}}`}, `vendor/bin/phpunit --log-junit "$WFS_REPORT" --do-not-cache-result tests`, workflows.FormatJUnit, false},
		{"pest", map[string]string{"composer.json": `{"require-dev":{"pestphp/pest":"1"}}`, "phpunit.xml": ""}, `vendor/bin/pest --log-junit "$WFS_REPORT"`, workflows.FormatJUnit, false},
		{"bats", map[string]string{"test/a.bats": ""}, "bats --tap -r test", workflows.FormatTAP, false},
		{"below the top", map[string]string{"README.md": "", "backend/go.mod": "", "web/package.json": "{}"}, "cd backend && go test -json ./...", workflows.FormatGoTest, false},
		{"make", map[string]string{"Makefile": "all:\n\ntest: all\n\ttrue\n"}, "make test", workflows.FormatExit, true},
		{"nothing", map[string]string{"README.md": ""}, "", "", false},
	} {
		projects := Projects(laidProject(t, tc.files), os.ReadFile, all)
		if tc.want == "" || len(projects) == 0 {
			if tc.want != "" || len(projects) > 0 {
				t.Errorf("%s: %+v", tc.name, projects)
			}
			continue
		}
		list := projects[0]
		if len(list) == 0 || !strings.Contains(list[0].Gate.Run.Shell, tc.want) || list[0].Gate.Format != tc.format || (list[0].Needs != "") != tc.needs {
			t.Errorf("%s: %+v", tc.name, list)
		}
	}
}

// TestProjects: a repository of several projects gets a gate for each, with its paths.
func TestProjects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		files []string
		want  string
	}{
		{"one below", []string{"go/go.mod", "README.md"}, "tests[] cd go && go test -json ./...;"},
		{"three below", []string{"Api/go.mod", "py/tests/test_a.py", "1web/Cargo.toml"}, "tests-1web[/1web/] cd 1web && cargo test;api[/Api/] cd Api && go test;py[/py/] cd py && "},
		{"top and below", []string{"go.mod", "py/tests/test_a.py", "py/Makefile", "tool/go.mod"}, "tests[] go test -json ./...;py[/py/] cd py && "},
		{"two at the top", []string{"go.mod", "Cargo.toml", "Makefile"}, "tests[] go test -json ./...;tests-rust[] cargo test"},
		{"a directory called tests", []string{"go.mod", "tests/Cargo.toml"}, "tests[] go test -json ./...;tests-2[/tests/] cd tests && cargo test"},
	} {
		files := map[string]string{}
		for _, f := range tc.files {
			files[f] = "test:\n"
		}
		var got strings.Builder
		for _, group := range Projects(laidProject(t, files), os.ReadFile, all) {
			g := group[0].Gate
			fmt.Fprintf(&got, "%s%v %.45s;", g.Name, g.Paths, g.Run.Shell)
		}
		at := 0
		for part := range strings.SplitSeq(tc.want, ";") {
			i := strings.Index(got.String()[at:], part)
			if i < 0 {
				t.Errorf("%s: %s", tc.name, got.String())
				break
			}
			at += i
		}
	}
}

// all is for projects whose programs are all installed.
func all(string) bool { return true }

// TestMissingProgram: a proposal does not use a program that is not installed, and says what is missing.
func TestMissingProgram(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		files   map[string]string
		missing string
		want    string
	}{
		{map[string]string{"tests/test_a.py": "import pytest", "uv.lock": ""}, "uv", "python3 -B -m pytest"},
		{map[string]string{"tests/test_a.py": "import pytest", "poetry.lock": "", ".venv/pyvenv.cfg": ""}, "poetry", ".venv/bin/python -B -m pytest"},
		{map[string]string{"package.json": `{"scripts":{"test":"vitest"}}`, "pnpm-lock.yaml": ""}, "pnpm", "CI=true npx --no-install vitest"},
	} {
		group := Projects(laidProject(t, tc.files), os.ReadFile, func(name string) bool { return name != tc.missing })[0]
		for _, p := range group {
			if strings.Contains(p.Gate.Run.Shell, tc.missing+" ") || !strings.HasSuffix(p.Why, "; "+tc.missing+" is not installed") {
				t.Errorf("%s: %s (%s)", tc.missing, p.Gate.Run.Shell, p.Why)
			}
		}
		if !strings.HasPrefix(group[0].Gate.Run.Shell, tc.want) {
			t.Errorf("%s: %s", tc.missing, group[0].Gate.Run.Shell)
		}
	}
}

// TestReporting: a typed command without names of tests becomes one that has them.
func TestReporting(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"pytest -q":                  `pytest -q --junitxml="$WFS_REPORT"`,
		"cd py && python3 -m pytest": `cd py && python3 -m pytest --junitxml="$WFS_REPORT"`,
		"go test ./...":              "go test -json ./...",
		"node --test":                "node --test --test-reporter=junit",
		"python -m unittest":         "python -m unittest -v",
		"npx mocha test":             `npx mocha test --reporter xunit --reporter-option output="$WFS_REPORT"`,
		"pytest | tee log":           "",
		"make test":                  "",
		"pytest-watch":               "",
	} {
		if got := Reporting(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
