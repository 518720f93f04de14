package tamper

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// language is what this package knows of how a language is written.
type language struct {
	name          string
	comments      []string    // to the end of the line
	blocks        [][2]string // comments with an end
	quotes        []quote     // longest first
	regexps       bool        // /…/ may be an expression
	lines         bool        // a statement ends with its line
	blocksByBrace bool        // { opens a block
	bang          bool        // names may end in ? or !
}

// quote is one way to write a text.
type quote struct {
	open, close string
	prefixes    string // letters that may stand before it
	many        bool   // over several lines
	raw         bool   // a backslash is a backslash
	template    bool   // with ${…} inside
}

func same(q string) quote { return quote{open: q, close: q} }

func many(q, prefixes string) quote { return quote{open: q, close: q, many: true, prefixes: prefixes} }

var (
	slashes = []string{"//"}
	stars   = [][2]string{{"/*", "*/"}}

	goLang = language{name: "go", comments: slashes, blocks: stars, blocksByBrace: true,
		quotes: []quote{{open: "`", close: "`", many: true, raw: true}, same(`"`), same(`'`)}}
	python = language{name: "python", comments: []string{"#"}, lines: true,
		quotes: []quote{many(`"""`, "rRbBuUfF"), many(`'''`, "rRbBuUfF"), {open: `"`, close: `"`, prefixes: "rRbBuUfF"}, {open: `'`, close: `'`, prefixes: "rRbBuUfF"}}}
	script = language{name: "script", comments: slashes, blocks: stars, blocksByBrace: true, regexps: true,
		quotes: []quote{{open: "`", close: "`", many: true, template: true}, same(`"`), same(`'`)}}
	rust = language{name: "rust", comments: slashes, blocks: stars, blocksByBrace: true,
		quotes: []quote{{open: `r#"`, close: `"#`, many: true, raw: true}, many(`"`, "b")}}
	java = language{name: "java", comments: slashes, blocks: stars, blocksByBrace: true,
		quotes: []quote{many(`"""`, ""), same(`"`), same(`'`), same("`")}}
	csharp = language{name: "csharp", comments: slashes, blocks: stars, blocksByBrace: true,
		quotes: []quote{many(`"""`, "$"), {open: `@"`, close: `"`, many: true, raw: true}, {open: `"`, close: `"`, prefixes: "$"}, same(`'`)}}
	php = language{name: "php", comments: []string{"//", "#"}, blocks: stars, blocksByBrace: true,
		quotes: []quote{many(`"`, ""), many(`'`, "")}}
	ruby = language{name: "ruby", comments: []string{"#"}, lines: true, bang: true, regexps: true,
		quotes: []quote{many(`"`, ""), many(`'`, "")}}
	plain = language{name: "plain", comments: []string{"#"}, lines: true, quotes: []quote{same(`"`), same(`'`)}}
)

// languageOf is nil for what is no source code that this package reads.
func languageOf(file string) *language {
	switch path.Ext(file) {
	case ".go":
		return &goLang
	case ".py", ".pyi":
		return &python
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return &script
	case ".rs":
		return &rust
	case ".java", ".kt", ".kts", ".groovy", ".scala":
		return &java
	case ".cs":
		return &csharp
	case ".php":
		return &php
	case ".rb":
		return &ruby
	}
	return nil
}

// class is what a path is for.
type class uint8

const (
	source  class = iota // code that is no test
	tests                // code of tests, and what helps them
	fixture              // what tests read or compare with
	config               // says which tests run, and how
	ci                   // says what other machines run
	ignore               // .gitignore, .gitattributes
	other                // documents, data
)

// testDirs are directories whose code is tests, in most ecosystems.
var testDirs = []string{"test", "tests", "__tests__", "spec", "specs", "e2e", "testing"}

// fixtureDirs are directories of what tests read.
var fixtureDirs = []string{"testdata", "__snapshots__", "fixtures", "__fixtures__", "fixture", "snapshots", "golden", "goldens", "cassettes", "test-data", "test_data", "__mocks__"}

// dataDirs are those of them in which code, too, is nothing but data of tests. Elsewhere code may be what their names mean.
var dataDirs = []string{"testdata", "__snapshots__", "__fixtures__", "test-data", "test_data"}

// mayHoldCode are directories of tests in Ruby and JavaScript, and of code or documents elsewhere.
var mayHoldCode = []string{"spec", "specs", "testing"}

var configNames = []string{
	"pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py", "sitecustomize.py", "usercustomize.py", ".coveragerc",
	"package.json", ".npmrc", "karma.conf.js", "phpunit.xml", "phpunit.xml.dist", ".rspec", "Rakefile", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts",
	"tsconfig.json", "deno.json", "deno.jsonc", "bunfig.toml", ".env.test", "go.work", ".taprc", "nx.json", "turbo.json", "testng.xml", "xunit.runner.json",
}

var configStems = []string{"jest.config", "vitest.config", "vitest.workspace", "vite.config", ".mocharc", "playwright.config", "cypress.config", "ava.config", ".nycrc", "karma.conf", "jest.setup", "vitest.setup", "setupTests"}

// classOf says what a path is for, by the conventions of its language.
func classOf(file string) class {
	dir, base := path.Split(file)
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	in := func(names []string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(names, strings.ToLower(p)) })
	}
	l := languageOf(file)
	sure := testDirs
	if l == nil || l.name != "ruby" && l.name != "script" {
		sure = slices.DeleteFunc(slices.Clone(testDirs), func(d string) bool { return slices.Contains(mayHoldCode, d) })
	}
	switch {
	case base == ".gitignore" || base == ".gitattributes":
		return ignore
	case strings.HasPrefix(file, ".github/workflows/") || strings.HasPrefix(file, ".circleci/") || slices.Contains([]string{".gitlab-ci.yml", ".travis.yml", "Jenkinsfile", "azure-pipelines.yml", "appveyor.yml", "bitbucket-pipelines.yml"}, base):
		return ci
	case slices.Contains(configNames, base) || slices.ContainsFunc(configStems, func(stem string) bool { return strings.HasPrefix(base, stem+".") || base == stem }) || strings.HasSuffix(base, ".pth"):
		return config
	case base == "conftest.py":
		return tests
	case strings.HasSuffix(base, ".snap") || strings.HasSuffix(base, ".golden") || strings.HasSuffix(base, ".approved.txt") || strings.HasSuffix(base, ".snap.new"):
		return fixture
	case l != nil && (in(dataDirs) || in(fixtureDirs) && in(testDirs) && l.name != "go") && !isTestName(base, l):
		return fixture
	case l == nil && in(fixtureDirs) && !perhaps(parts, base):
		return fixture
	case l != nil && l.name == "go":
		if strings.HasSuffix(base, "_test.go") {
			return tests
		}
		return source
	case l != nil && (isTestName(base, l) || in(sure) || l.name == "script" && in([]string{"__mocks__"}) || l.name == "csharp" && strings.Contains(dir, "Tests/")):
		return tests
	case l != nil:
		return source
	case in(sure) && !isProse(base) && !declaresNeeds(base):
		return fixture
	}
	return other
}

// perhaps reports whether a file in a directory of fixtures may as well be what the program itself begins with: Django
// loads such files of its apps.
func perhaps(parts []string, base string) bool {
	if !slices.Contains([]string{".json", ".yaml", ".yml", ".xml"}, path.Ext(base)) {
		return false
	}
	at := slices.IndexFunc(parts, func(p string) bool { return slices.Contains(fixtureDirs, strings.ToLower(p)) })
	return at > 0 && strings.ToLower(parts[at]) == "fixtures" && !slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(testDirs, strings.ToLower(p)) })
}

// perhapsRead reports whether tests may read a file, by the names of its directories.
func perhapsRead(file string) bool {
	dir, base := path.Split(file)
	return languageOf(file) == nil && !isProse(base) && slices.ContainsFunc(strings.Split(strings.TrimSuffix(dir, "/"), "/"), func(p string) bool {
		return slices.Contains(testDirs, strings.ToLower(p)) || slices.Contains(fixtureDirs, strings.ToLower(p))
	})
}

func isProse(base string) bool {
	ext := path.Ext(base)
	return ext == ".md" || ext == ".rst" || ext == ".adoc" || strings.HasPrefix(base, "README")
}

// needs are files beside tests that say what is installed, and how code is written: nothing that a test compares with.
var needs = []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "go.mod", "go.sum", "Cargo.lock", "poetry.lock", "uv.lock",
	"pdm.lock", "Pipfile", "Pipfile.lock", "Gemfile", "Gemfile.lock", "composer.lock", "packages.lock.json", ".editorconfig", ".flake8", ".pylintrc", "ruff.toml", ".ruff.toml", "mypy.ini", ".rubocop.yml",
	".golangci.yml", ".golangci.yaml", "rustfmt.toml", ".rustfmt.toml", "clippy.toml", "biome.json", ".dockerignore"}

// declaresNeeds reports whether a file is one of them by its name. One that a test names is read by it all the same.
func declaresNeeds(base string) bool {
	text := strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".in")
	return slices.Contains(needs, base) || text && (strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "constraints")) ||
		strings.HasPrefix(base, ".eslintrc") || strings.HasPrefix(base, ".eslintignore") || strings.HasPrefix(base, ".prettier") || strings.HasPrefix(base, ".stylelintrc")
}

// isTestName reports whether a file is a test by its own name.
func isTestName(base string, l *language) bool {
	stem := strings.TrimSuffix(base, path.Ext(base))
	low := strings.ToLower(stem)
	switch l.name {
	case "go":
		return strings.HasSuffix(stem, "_test")
	case "script":
		for _, s := range []string{".test", ".spec", "-test", "_test", "-spec", "_spec", ".cy", ".e2e"} {
			if strings.HasSuffix(low, s) {
				return true
			}
		}
		return low == "test" || low == "tests" || strings.HasPrefix(low, "test-") || strings.HasPrefix(low, "test_") || strings.HasPrefix(low, "test.")
	case "python", "ruby", "rust":
		return low == "tests" || low == "test" || strings.HasPrefix(low, "test_") || strings.HasSuffix(low, "_test") || strings.HasSuffix(low, "_tests") || strings.HasSuffix(low, "_spec")
	}
	return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Spec") || strings.HasSuffix(stem, "IT") || strings.HasPrefix(stem, "Test") && len(stem) > 4
}

// rustTests finds a module of tests: other attributes, comments and its visibility may stand between.
const rustTests = `#\[cfg\((?:all\(|any\()?\s*test\b[^\]]*\]\s*(?:#\[[^\n]*\]\s*|//[^\n]*\s*)*(?:pub\s*(?:\([^)\n]*\)\s*)?)?mod\s`

// split parts a file into the code that is handed over and its tests: Rust keeps both in one file.
func split(file string, src []byte) (production, test []byte) {
	if path.Ext(file) == ".rs" && classOf(file) == source {
		if at := regexp.MustCompile(rustTests).FindIndex(src); at != nil {
			i := at[0]
			return src[:i], append(blank(src[:i]), src[i:]...)
		}
	}
	if classOf(file) == tests {
		return nil, src
	}
	return src, nil
}

// blank is as many empty lines as a text has, so that lines keep their numbers.
func blank(src []byte) []byte {
	return []byte(strings.Repeat("\n", strings.Count(string(src), "\n")))
}

// HoldsTests reports whether a path is a test, what helps tests, or what they read.
func HoldsTests(file string) bool {
	k := classOf(file)
	return k == tests || k == fixture
}

// IsTest reports whether a path is a test by its own name, not only by where it stands.
func IsTest(file string) bool {
	l := languageOf(file)
	return l != nil && classOf(file) == tests && isTestName(path.Base(file), l)
}

// AboutTests reports whether a path is a test, or something that tests read or are run by.
func AboutTests(file string) bool {
	switch classOf(file) {
	case source, other:
		return false
	}
	return true
}
