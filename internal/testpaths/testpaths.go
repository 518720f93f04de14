// Package testpaths classifies the paths in a project: tests, files that tests read, and files that configure how tests
// run. It judges paths by the naming conventions of languages and test runners, and mostly does not look into files.
package testpaths

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// languages maps file extensions to the names that this package uses for languages.
var languages = map[string]string{
	".go": "go",
	".py": "python", ".pyi": "python",
	".js": "script", ".mjs": "script", ".cjs": "script", ".jsx": "script",
	".ts": "script", ".mts": "script", ".cts": "script", ".tsx": "script",
	".rs":   "rust",
	".java": "java", ".kt": "java", ".kts": "java", ".groovy": "java", ".scala": "java",
	".cs": "csharp", ".php": "php", ".rb": "ruby",
}

// languageOf returns the language of a source file, or "" for any other file.
func languageOf(file string) string { return languages[path.Ext(file)] }

// class is the role that a file has in a project.
type class uint8

const (
	source  class = iota // code that is not a test
	tests                // test code and its helpers
	fixture              // files that tests read, or compare results with
	config               // selects which tests run, or configures how they run
	ci                   // configures a CI service
	ignore               // .gitignore, .gitattributes
	other                // documents, data and the like
)

// ciNames are the names of files that configure CI services.
var ciNames = strings.Fields(`
	.gitlab-ci.yml .travis.yml Jenkinsfile azure-pipelines.yml appveyor.yml bitbucket-pipelines.yml`)

// testDirs are the names of directories that contain test code in most languages.
var testDirs = strings.Fields("test tests __tests__ spec specs e2e testing")

// helperDir matches the names of directories that contain helpers of tests, in all languages.
var helperDir = lazyregexp.New(
	`^tests?[-_]?(kit|utils?|helpers?|lib|support|tools|fixtures|common|base|cases|suite)$`)

// fixtureDirs are the names of directories that contain files that tests read.
var fixtureDirs = strings.Fields(`
	testdata __snapshots__ fixtures __fixtures__ fixture snapshots golden goldens cassettes test-data test_data
	__mocks__`)

// dataDirs are those of fixtureDirs in which all files are test data, even source code. In the others, source code may
// belong to the product.
var dataDirs = []string{"testdata", "__snapshots__", "__fixtures__", "test-data", "test_data"}

// mayHoldCode are the names of directories that contain tests in Ruby and JavaScript, but may contain code or documents
// in other languages.
var mayHoldCode = []string{"spec", "specs", "testing"}

var configNames = strings.Fields(`
	pytest.ini .pytest.ini tox.ini setup.cfg pyproject.toml noxfile.py sitecustomize.py usercustomize.py .coveragerc
	package.json .npmrc karma.conf.js phpunit.xml phpunit.xml.dist .rspec Rakefile Cargo.toml pom.xml build.gradle
	build.gradle.kts tsconfig.json deno.json deno.jsonc bunfig.toml .env.test go.work .taprc nx.json turbo.json
	testng.xml xunit.runner.json`)

var configStems = strings.Fields(`
	jest.config vitest.config vitest.workspace vite.config .mocharc playwright.config cypress.config ava.config
	.nycrc karma.conf jest.setup vitest.setup setupTests`)

// classOf returns the role of a file, judged by its path and the conventions of its language.
func classOf(file string) class {
	dir, base := path.Split(file)
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	in := func(names []string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(names, strings.ToLower(p)) })
	}
	l := languageOf(file)
	sure := testDirs
	if l == "" || l != "ruby" && l != "script" {
		sure = slices.DeleteFunc(slices.Clone(testDirs), func(d string) bool { return slices.Contains(mayHoldCode, d) })
	}
	switch {
	case base == ".gitignore" || base == ".gitattributes":
		return ignore
	case begins(file, ".github/workflows/", ".circleci/") || slices.Contains(ciNames, base):
		return ci
	case slices.Contains(configNames, base) || slices.ContainsFunc(configStems, func(stem string) bool {
		return base == stem || strings.HasPrefix(base, stem+".")
	}) || ends(base, ".pth"):
		return config
	case base == "conftest.py":
		return tests
	case ends(base, ".snap", ".golden", ".approved.txt", ".snap.new"):
		return fixture
	case l != "" && (in(dataDirs) || in(fixtureDirs) && in(testDirs) && l != "go") && !isTestName(base, l):
		return fixture
	case l == "" && in(fixtureDirs) && !perhaps(parts, base):
		return fixture
	case l != "" && slices.ContainsFunc(parts, func(p string) bool { return helperDir.MatchString(strings.ToLower(p)) }):
		return tests
	case l == "go":
		if strings.HasSuffix(base, "_test.go") {
			return tests
		}
		return source
	case l != "" && (isTestName(base, l) || in(sure) || l == "script" && in([]string{"__mocks__"}) ||
		l == "csharp" && strings.Contains(dir, "Tests/")):
		return tests
	case l != "":
		return source
	case in(sure) && !isProse(base) && !declaresNeeds(base):
		return fixture
	}
	return other
}

// perhaps reports whether a file in a directory of fixtures may be something else: initial data of the program. Django
// apps load their initial data from a directory called fixtures.
func perhaps(parts []string, base string) bool {
	if !slices.Contains([]string{".json", ".yaml", ".yml", ".xml"}, path.Ext(base)) {
		return false
	}
	at := slices.IndexFunc(parts, func(p string) bool { return slices.Contains(fixtureDirs, strings.ToLower(p)) })
	return at > 0 && strings.ToLower(parts[at]) == "fixtures" && !slices.ContainsFunc(parts, func(p string) bool {
		return slices.Contains(testDirs, strings.ToLower(p))
	})
}

func isProse(base string) bool {
	ext := path.Ext(base)
	return ext == ".md" || ext == ".rst" || ext == ".adoc" || strings.HasPrefix(base, "README")
}

// needs are the names of files that declare dependencies or code style. They may be next to tests, but tests do not
// read them.
var needs = strings.Fields(`
	package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock go.mod go.sum
	Cargo.lock poetry.lock uv.lock pdm.lock Pipfile Pipfile.lock Gemfile Gemfile.lock composer.lock
	packages.lock.json .editorconfig .flake8 .pylintrc ruff.toml .ruff.toml mypy.ini .rubocop.yml .golangci.yml
	.golangci.yaml rustfmt.toml .rustfmt.toml clippy.toml biome.json .dockerignore`)

// declaresNeeds reports whether a file is one of needs, or is named like one. If a test names such a file, the test
// reads it after all.
func declaresNeeds(base string) bool {
	return slices.Contains(needs, base) || ends(base, ".txt", ".in") && begins(base, "requirements", "constraints") ||
		begins(base, ".eslintrc", ".eslintignore", ".prettier", ".stylelintrc")
}

// isTestName reports whether the name of a source file marks it as a test. `l` is its language.
func isTestName(base string, l string) bool {
	stem := strings.TrimSuffix(base, path.Ext(base))
	low := strings.ToLower(stem)
	switch l {
	case "go":
		return strings.HasSuffix(stem, "_test")
	case "script":
		return ends(low, ".test", ".spec", "-test", "_test", "-spec", "_spec", ".cy", ".e2e") ||
			low == "test" || low == "tests" || begins(low, "test-", "test_", "test.")
	case "python", "ruby", "rust":
		return low == "tests" || low == "test" || begins(low, "test_") || ends(low, "_test", "_tests", "_spec")
	}
	return ends(stem, "Test", "Tests", "Spec", "IT") || begins(stem, "Test") && len(stem) > 4
}

func begins(s string, with ...string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(s, w) })
}

func ends(s string, with ...string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasSuffix(s, w) })
}

// HoldsTests reports whether a file is a test, a helper of tests, or a file that tests read.
func HoldsTests(file string) bool {
	k := classOf(file)
	return k == tests || k == fixture
}

// IsTest reports whether a file is a test, and not a helper of tests, judged by its own name.
func IsTest(file string) bool {
	l := languageOf(file)
	return l != "" && (isTestName(path.Base(file), l) || l == "rust" && path.Base(path.Dir(file)) == "tests")
}

// AboutTests reports whether a file is not plain code or a document: it is a test, is read by tests, or configures
// tests, CI or which files git ignores.
func AboutTests(file string) bool {
	switch classOf(file) {
	case source, other:
		return false
	}
	return true
}
