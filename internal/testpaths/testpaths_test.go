package testpaths

import (
	"strings"
	"testing"
)

func TestClasses(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"calc.go": "", "calc_test.go": "tests", "testdata/want.txt": "tests", "testdata/main.go": "tests",
		"internal/testutil/check.go": "tests", "testing/clock.go": "", "tests/data.go": "",
		"test_calc.py": "tests", "calc_test.py": "tests", "tests/support.py": "tests", "conftest.py": "tests", "calc.py": "",
		"calc.test.ts": "tests", "src/__tests__/a.js": "tests", "__tests__/__snapshots__/a.snap": "tests",
		"testkit/assertions.js": "tests", "test-helpers/a.ts": "tests", "testimonials/list.js": "", "src/spec.js": "",
		"spec/calc_spec.rb": "tests", "tests/span.rs": "tests", "src/lib.rs": "",
		"src/test/java/query/LexerTest.java": "tests", "src/main/java/query/Lexer.java": "",
		"package.json": "about", "pytest.ini": "about", "vitest.config.ts": "about", ".github/workflows/ci.yml": "about",
		"app/fixtures/first.json": "", "tests/requirements.txt": "", "tests/README.md": "", "README.md": "", "data/rates.csv": "",
	} {
		got := ""
		switch {
		case HoldsTests(path):
			got = "tests"
		case AboutTests(path):
			got = "about"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestTestsFrom(t *testing.T) {
	t.Parallel()
	const code = "pub fn one() -> u8 { 1 }\n\n"
	for text, want := range map[string]int{
		code + "#[cfg(test)]\nmod tests {}\n":                             len(code),
		code + "#[cfg(all(test, unix))]\n#[allow(x)]\npub mod tests {}\n": len(code),
		code + "#[cfg(test)]\nuse std::fs;\n":                             len(code + "#[cfg(test)]\nuse std::fs;\n"),
	} {
		if got := TestsFrom("src/lib.rs", []byte(text)); got != want {
			t.Errorf("%q: from %d, want %d", text, got, want)
		}
	}
	if TestsFrom("tests/a.rs", []byte(code)) != 0 || TestsFrom("a.go", []byte(code)) != len(code) {
		t.Error("a file of tests begins with them, and one of code has none")
	}
}

func TestRunnerKeysDiffer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, before, after string
		want                bool
	}{
		"a dependency":        {"package.json", `{"dependencies":{"a":"1"}}`, `{"dependencies":{"a":"2"}}`, false},
		"a script":            {"package.json", `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"true"}}`, true},
		"settings of jest":    {"package.json", `{}`, `{"jest":{"testMatch":[]}}`, true},
		"a crate":             {"Cargo.toml", "[dependencies]\na = \"1\"\n", "[dependencies]\na = \"2\"\n", false},
		"a test target":       {"Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\nautotests = false\n", true},
		"settings of pytest":  {"pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = \"-k x\"\n", true},
		"a crate of tests":    {"Cargo.toml", "[dev-dependencies]\n", "[dev-dependencies]\nproptest = \"1\"\n", false},
		"a plug-in of Maven":  {"pom.xml", "<a/>\n", "<skipTests>true</skipTests>\n", true},
		"what is no manifest": {"go.mod", "module a\n", "module a\n\nrequire b v1.0.0\n", false},
	} {
		if got := RunnerKeysDiffer(tc.file, []byte(tc.before), []byte(tc.after)); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestAsserts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"check.go\x00package check\n\nimport (\n\t\"reflect\"\n\t\"testing\"\n)\n":      true,
		"calc.go\x00package calc\n\n// Not for \"testing\" alone.\nimport \"errors\"\n": false,
		"support.py\x00import unittest\n":                                               true,
		"calc.py\x00import math\n":                                                      false,
		"calc.js\x00const assert = require('node:assert');\n":                           false,
		"kit.js\x00import { expect } from 'vitest';\n":                                  true,
		"Lines.java\x00import static org.junit.jupiter.api.Assertions.assertEquals;\n":  true,
		"notes.txt\x00import unittest\n":                                                false,
	} {
		file, src, _ := strings.Cut(text, "\x00")
		if got := Asserts(file, []byte(src)); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
}

// TestIsHidden: a file is hidden by its own name or by that of a directory.
func TestIsHidden(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		".babelrc": true, ".cargo/config": true, "sub/.env": true, "sub/.hidden/a.js": true,
		"calc.go": false, "sub/calc.go": false, "a.b/c.d": false, "calc.": false,
	} {
		if got := IsHidden(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
