package testpaths

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// testSections are the keys in package.json that configure tests.
var testSections = strings.Fields("jest mocha ava vitest nyc c8 tap karma playwright")

// scriptNames are the names of files that contain commands that gates may run, or settings of tools.
var scriptNames = strings.Fields(`
	makefile gnumakefile justfile taskfile.yml taskfile.yaml dockerfile rakefile procfile`)

var scriptExts = strings.Fields(".sh .bash .mk .mak .cmake .ini .cfg .toml .yml .yaml .properties .bat .ps1")

// IsScript reports whether a file is a script or a settings file, judged by its name.
func IsScript(file string) bool {
	base := strings.ToLower(path.Base(file))
	return slices.Contains(scriptNames, base) || slices.Contains(scriptExts, path.Ext(base)) ||
		strings.HasPrefix(base, ".") && strings.HasSuffix(base, "rc")
}

// IsHidden reports whether a part of a path begins with a dot. Tools look for settings in such files without being told
// to.
func IsHidden(file string) bool {
	return strings.HasPrefix(file, ".") || strings.Contains(file, "/.")
}

// IsManifest reports whether a file declares the dependencies of a project. Such a file may also configure how tests
// run.
func IsManifest(file string) bool {
	switch path.Base(file) {
	case "package.json", "pyproject.toml", "setup.cfg", "setup.py", "Cargo.toml", "pom.xml", "build.gradle",
		"build.gradle.kts", "go.mod", "go.work", "composer.json", "Gemfile":
		return true
	}
	return false
}

// IsDocument reports whether a file is prose, a lock file, or a settings file for code style.
func IsDocument(file string) bool {
	return isProse(path.Base(file)) || slices.Contains(needs, path.Base(file))
}

// runnerWords matches lines and section titles of a manifest that configure how tests run.
var runnerWords = lazyregexp.New(`(?i)test|surefire|failsafe|junit|coverage|skip|exclude|include|profile|harness|` +
	`script|plugin|argline|addopts|runner|exec|\[(lib|bin|bench|features|env|alias)`)

// RunnerKeysDiffer reports whether two versions of a manifest configure the running of tests differently.
func RunnerKeysDiffer(file string, before, after []byte) bool {
	if path.Base(file) == "package.json" {
		var a, b map[string]any
		if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
			return true
		}
		for _, key := range append(strings.Fields("scripts type exports imports main config"), testSections...) {
			if !reflect.DeepEqual(a[key], b[key]) {
				return true
			}
		}
		return false
	}
	return runnerLines(path.Base(file), before) != runnerLines(path.Base(file), after)
}

// runnerLines returns the lines of a manifest that configure how tests run: all lines of a TOML or ini section whose
// title matches runnerWords, and elsewhere each line that matches runnerWords.
func runnerLines(base string, text []byte) string {
	var b strings.Builder
	section, about := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && (strings.HasSuffix(base, ".toml") || strings.HasSuffix(base, ".cfg")) {
			section = line
			about = !strings.Contains(section, "dependencies") && runnerWords.MatchString(section)
		}
		if line != "" && (about || !strings.Contains(section, "dependencies") && runnerWords.MatchString(line)) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
