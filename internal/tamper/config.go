package tamper

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// narrowing are words of configuration that decide which tests run, what prepares them, and when a run counts as failed.
var narrowing = []string{
	"testpathignorepatterns", "testmatch", "testregex", "testnamepattern", "modulepathignorepatterns", "roots", "exclude", "include", "ignore", "bail", "passwithnotests", "allowonly",
	"addopts", "testpaths", "python_files", "python_classes", "python_functions", "norecursedirs", "collect_ignore", "deselect", "--ignore", " -k", "\"-k", "-k ", " -m ", "xfail_strict",
	"retry", "retries", "reruns", "setupfiles", "globalsetup", "globalteardown", "runner", "reporter", "snapshot", "environment", "resolver", "modulenamemapper", "alias", "preset",
	"spec", "grep", "invert", "forbid", "timeout", "require", "maxfail", "exitfirst", "harness", "autotests", "test =", "skip", "|| true", "exit 0", "continue-on-error", "if: false", "coverage", "threshold",
	"usejunitplatform", "excludes", "includes", "node-options", "script-shell", "filter", "skiptests", "testfailureignore", "ignorefailures", "plugins", "-p no:", "only", "commands",
}

// testSections are the parts of package.json that configure tests.
var testSections = []string{"jest", "mocha", "ava", "vitest", "nyc", "c8", "tap", "karma", "playwright"}

// configs looks at everything that is neither code nor a fixture.
func (c *comparison) configs() {
	for _, f := range c.rules {
		kind, base := classOf(f.Path), path.Base(f.Path)
		c.vendored(f)
		switch {
		case kind == ignore:
			c.ignored(f)
		case c.runByGate(f.Path):
			c.gateScript(f)
		case base == "go.mod" || base == "go.work":
			c.goModule(f)
			if kind == config {
				c.lines(f, Config)
			}
		case base == "package.json":
			c.packageJSON(f)
		case base == "sitecustomize.py" || base == "usercustomize.py" || strings.HasSuffix(base, ".pth"):
			c.found(Finding{Kind: Patched, Path: f.Path, Line: 1, After: "every Python program runs it when it starts", Grave: true})
		case f.Before == nil && shadows(f.Path):
			c.found(Finding{Kind: Patched, Path: f.Path, Line: 1, After: "it stands in front of the library of that name", Grave: true})
		case kind == config:
			if l := languageOf(f.Path); l != nil { // it runs where tests run, or before
				c.patches(pair{path: f.Path, before: parse(l, f.Before), after: parse(l, f.After), raw: f})
			}
			c.lines(f, Config)
		case kind == ci:
			c.lines(f, CI)
		}
	}
}

// shadows reports whether a new file at the top would be loaded in place of a library that runs tests.
func shadows(file string) bool {
	for _, name := range []string{"pytest", "_pytest", "unittest", "pluggy", "nose"} {
		if file == name+".py" || file == name+"/__init__.py" {
			return true
		}
	}
	return false
}

// runByGate reports whether a gate's command names a file, or the tool that reads it. A file that the command only looks at
// is what the gate is about.
func (c *comparison) runByGate(file string) bool {
	base := path.Base(file)
	for _, g := range c.Gates {
		for _, simple := range strings.FieldsFunc(g, func(r rune) bool { return strings.ContainsRune("\n;|&()`", r) }) {
			words := strings.FieldsFunc(simple, func(r rune) bool { return strings.ContainsRune(" \t\"'=", r) })
			for n, w := range words {
				w = strings.TrimPrefix(w, "./")
				switch {
				case w == file && classOf(file) != tests && !looks(words):
					return true
				case (w == "make" || w == "gmake") && (base == "Makefile" || base == "makefile" || base == "GNUmakefile") && !strings.Contains(file, "/"):
					return true
				case w == "just" && strings.EqualFold(base, "justfile"), w == "task" && strings.HasPrefix(base, "Taskfile."), w == "rake" && base == "Rakefile", w == "tox" && base == "tox.ini" && n == 0, w == "nox" && base == "noxfile.py":
					return true
				case (w == "gradlew" || w == "mvnw") && base == w:
					return true
				}
			}
		}
	}
	return false
}

// looks reports whether a simple command of a shell asks something about the files that it names, and runs none of them.
func looks(words []string) bool {
	for len(words) > 0 && slices.Contains([]string{"!", "if", "elif", "while", "until", "then", "else", "do", "{"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "test", "[", "[[", "ls", "stat":
		return true
	case "grep", "egrep", "fgrep": // what stands in a file of patterns decides
		return !slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "--file") || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "f")
		})
	}
	return false
}

// gateScript compares a script that a gate runs. Of a Makefile only the rules count that the gate asks for.
func (c *comparison) gateScript(f File) {
	if strings.EqualFold(path.Base(f.Path), "makefile") || path.Base(f.Path) == "GNUmakefile" {
		c.makefile(f)
		return
	}
	l := languageOf(f.Path)
	if l == nil {
		l = &plain
	}
	if f.Before != nil && f.After != nil && joined(scan(l, f.Before), "") == joined(scan(l, f.After), "") {
		return
	}
	line, a, b := firstDifference(f.Before, f.After)
	c.found(Finding{Kind: Gate, Path: f.Path, Line: line, Before: a, After: b, Grave: true})
}

// packageJSON compares the scripts and sections that are about tests.
func (c *comparison) packageJSON(f File) {
	type pkg struct {
		Scripts map[string]string
		Type    string
	}
	var was, now pkg
	var wasAll, nowAll map[string]json.RawMessage
	if f.Before == nil || f.After == nil {
		return
	}
	if json.Unmarshal(f.Before, &was) != nil || json.Unmarshal(f.After, &now) != nil || json.Unmarshal(f.Before, &wasAll) != nil || json.Unmarshal(f.After, &nowAll) != nil {
		c.lines(f, Config)
		return
	}
	for _, name := range sorted(was.Scripts) {
		asked := slices.ContainsFunc(c.Gates, func(g string) bool { return slices.Contains(strings.Fields(g), name) })
		if was.Scripts[name] != now.Scripts[name] && (asked || strings.HasPrefix(name, "test") || name == "pretest" || name == "posttest") {
			c.found(Finding{Kind: Config, Path: f.Path, Test: "script " + name, Before: short(was.Scripts[name]), After: short(now.Scripts[name]), Grave: asked || name == "test"})
		}
	}
	for _, name := range []string{"pretest", "posttest"} {
		if was.Scripts[name] == "" && now.Scripts[name] != "" {
			c.found(Finding{Kind: Config, Path: f.Path, Test: "script " + name, After: short(now.Scripts[name]), Grave: true})
		}
	}
	for _, name := range testSections {
		a, b := compact(wasAll[name]), compact(nowAll[name])
		if a != b {
			c.found(Finding{Kind: Config, Path: f.Path, Test: name, Before: short(a), After: short(b), Grave: c.narrows(f.Path, settingsOf(name+".json", pretty(a)), settingsOf(name+".json", pretty(b)))})
		}
	}
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func pretty(s string) string {
	return strings.NewReplacer(",", ",\n", "{", "{\n", "[", "[\n").Replace(s)
}

// sectionRE finds the head of a section in TOML and INI files.
const sectionRE = `^\s*\[+([^\]]+)\]+\s*$`

// lines compares configuration line by line. Lines that are about which tests run are grave.
func (c *comparison) lines(f File, kind Kind) {
	was, now := string(f.Before), string(f.After)
	switch base := path.Base(f.Path); base {
	case "pyproject.toml", "setup.cfg", "Cargo.toml":
		about := []string{"pytest", "tox", "coverage", "unittest", "test", "hatch.envs", "nox", "bench"}
		was, now = sections(was, about), sections(now, about)
	case "tsconfig.json", "pom.xml", "build.gradle", "build.gradle.kts", "deno.json", "Rakefile", "nx.json", "turbo.json":
		was, now = onlyAbout(was, "test"), onlyAbout(now, "test")
	}
	if strings.HasPrefix(path.Base(f.Path), "vite.config.") { // how the program is built
		was, now = withoutPlugins(was), withoutPlugins(now)
	}
	if strings.Join(strings.Fields(was), " ") == strings.Join(strings.Fields(now), " ") {
		return
	}
	if l := languageOf(f.Path); l != nil && f.Before != nil && joined(scan(l, []byte(was)), "") == joined(scan(l, []byte(now)), "") { // formatted
		return
	}
	line, a, b := firstDifference([]byte(was), []byte(now))
	if was != string(f.Before) {
		line = 0
	}
	grave := c.narrows(f.Path, settingsOf(f.Path, was), settingsOf(f.Path, now))
	if kind == CI {
		grave = false // the gates run here, whatever runs elsewhere
	}
	if f.Before == nil && kind == Config && strings.TrimSpace(now) != "" {
		grave = grave && !strings.HasPrefix(path.Base(f.Path), "tsconfig")
	}
	c.found(Finding{Kind: kind, Path: f.Path, Line: line, Before: a, After: b, Grave: grave})
}

// sections keeps those sections of a TOML or INI file whose names have one of some words in them.
func sections(s string, about []string) string {
	head := regexp.MustCompile(sectionRE)
	var b strings.Builder
	keep, needs, bench := false, false, false
	for l := range strings.Lines(s) {
		if m := head.FindStringSubmatch(strings.TrimRight(l, "\n")); m != nil {
			needs = strings.Contains(m[1], "dependencies") || strings.Contains(m[1], "extras_require")
			keep, bench = slices.ContainsFunc(about, func(w string) bool { return strings.Contains(m[1], w) }) && !needs, m[1] == "bench"
		}
		if bench && strings.HasPrefix(strings.TrimSpace(l), "harness") { // what measures may have a main of its own
			continue
		}
		if keep || strings.Contains(l, "autotests") || !needs && strings.HasPrefix(strings.TrimSpace(l), "test =") && !strings.Contains(l, "[") {
			b.WriteString(l)
		}
	}
	return b.String()
}

// withoutPlugins drops lines of a configuration that load plugins and use them, but not those that say what one does.
func withoutPlugins(s string) string {
	var b strings.Builder
	for l := range strings.Lines(s) {
		low := strings.TrimSpace(l)
		inline := strings.Contains(l, "transform") || strings.Contains(l, "resolveId") || strings.Contains(l, "load")
		if inline || !strings.HasPrefix(low, "plugins") && !strings.HasPrefix(low, "import ") {
			b.WriteString(l)
		}
	}
	return b.String()
}

func onlyAbout(s, word string) string {
	var b strings.Builder
	for l := range strings.Lines(s) {
		if strings.Contains(strings.ToLower(l), word) {
			b.WriteString(l)
		}
	}
	return b.String()
}

// ignored looks for new patterns that hide tests from git.
func (c *comparison) ignored(f File) {
	had := strings.Split(string(f.Before), "\n")
	for n, line := range strings.Split(string(f.After), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!") || slices.Contains(had, line) {
			continue
		}
		pattern := strings.Trim(strings.Fields(line)[0], "/")
		pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "**/"), "/**")
		last := path.Base(pattern)
		hides := slices.Contains(testDirs, last) || slices.Contains(fixtureDirs, last) && last != "snapshots" || classOf(strings.ReplaceAll(pattern, "*", "x")) == tests
		if path.Base(f.Path) == ".gitattributes" {
			hides = hides && (strings.Contains(line, "filter=") || strings.Contains(line, "export-ignore"))
		}
		if hides {
			c.found(Finding{Kind: Hidden, Path: f.Path, Line: n + 1, After: short(line), Grave: true})
		}
	}
}
