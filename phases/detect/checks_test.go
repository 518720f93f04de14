package detect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBeyond: other checks in the test script become gates, as commands that a person can type.
func TestBeyond(t *testing.T) {
	t.Parallel()
	for scripts, want := range map[string][]string{
		`"test": "node --test"`: nil,
		`"test": "npm run lint && node --test", "lint": "eslint ."`:                                      {"npm run lint"},
		`"test": "NODE_ENV=x eslint . && vitest run", "posttest": "node size.js"`:                        {"NODE_ENV=x npx --no-install eslint .", "node size.js"},
		`"test": "npm run all", "all": "tsc -p . && npm run unit && npm run types", "unit": "jest"`:      {"npm run types"},
		`"test": "vitest run --coverage"`:                                                                {"npx --no-install vitest run --coverage"},
		`"test": "npm run build && mocha", "build": "rollup -c", "pretest": "npm run lint", "lint": "x"`: {"npm run lint"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"package.json": `{"scripts": {` + scripts + `}}`, "node_modules/.bin/eslint": "", "node_modules/.bin/vitest": ""} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		list := proposeNode(&project{root: dir, readFile: os.ReadFile, program: all})
		var got []string
		for _, g := range list[0].Beyond {
			got = append(got, g.Run.Shell)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", scripts, got, want)
		}
	}
}

// TestBesideTests does the same for make, tox and Composer. The gates have names of their own.
func TestBesideTests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"Makefile":      {"test: build lint\n\t@go vet ./...\n\tgo test ./...\nlint:\n\tgolangci-lint run\n", "lint=make lint vet=go vet ./..."},
		"tox.ini":       {"[tox]\nenvlist = py3\n[testenv]\ndeps = pytest\ncommands =\n    flake8 src\n    pytest {posargs}\n[testenv:x]\ncommands = mypy y\n", "flake8=flake8 src"},
		"composer.json": {`{"scripts": {"test": ["@lint", "phpunit", "vendor/bin/phpstan analyse"], "lint": "x"}}`, "lint=composer run lint phpstan=vendor/bin/phpstan analyse"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{name: c.text, "go.mod": "module m\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for _, g := range Projects(dir, os.ReadFile, all)[0][0].Beyond {
			got += " " + g.Name + "=" + g.Run.Shell
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
