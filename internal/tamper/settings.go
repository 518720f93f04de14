package tamper

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// setting is one option of a configuration with its values, and what reads it.
type setting struct{ tool, says string }

// What reads settings that are judged by rules of their own.
const (
	toolPytest   = "pytest"
	toolCoverage = "coverage"
	toolTox      = "tox"
)

var toml = language{name: "toml", comments: []string{"#"}, lines: true,
	quotes: []quote{many(`"""`, ""), {open: `'''`, close: `'''`, many: true, raw: true}, same(`"`), {open: `'`, close: `'`, raw: true}}}

// settingsOf takes a configuration apart. Where a format has options over several lines, and quotes or none, these do not count.
func settingsOf(file, src string) []setting {
	base := path.Base(file)
	switch path.Ext(base) {
	case ".toml":
		return tomlSettings(base, src)
	case ".ini", ".cfg", ".coveragerc":
		return iniSettings(base, src)
	}
	tool := stemOf(base)
	if tool == ".nycrc" || tool == "nyc.json" || tool == "c8.json" {
		tool = toolCoverage
	}
	return scriptSettings(tool, src)
}

// stemOf is what the names of a tool's configuration begin with: jest.config of jest.config.js.
func stemOf(base string) string {
	for _, stem := range configStems {
		if strings.HasPrefix(base, stem+".") || base == stem {
			return stem
		}
	}
	return base
}

// toolOf says what reads a section of a file.
func toolOf(base, section string) string {
	for _, own := range []string{"pytest.ini [pytest]", ".pytest.ini [pytest]", "tox.ini [pytest]", "setup.cfg [tool:pytest]", "pyproject.toml [tool.pytest.ini_options]"} {
		if own == base+" ["+section+"]" {
			return toolPytest
		}
	}
	switch {
	case base == ".coveragerc", strings.HasPrefix(section, "tool.coverage"), strings.HasPrefix(section, "coverage:"):
		return toolCoverage
	case base == "tox.ini", strings.HasPrefix(section, "tool.tox"), strings.HasPrefix(section, "tox:"):
		return toolTox
	}
	return "[" + section + "]"
}

var unquoted = strings.NewReplacer(`"`, "", `'`, "")

func iniSettings(base, src string) (out []setting) {
	head := regexp.MustCompile(sectionRE)
	section, more := "", false
	for line := range strings.Lines(src) {
		words := strings.Join(strings.Fields(unquoted.Replace(line)), " ")
		m := head.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch indented := strings.TrimLeft(line, " \t") != line; {
		case words == "", strings.HasPrefix(words, "#"), strings.HasPrefix(words, ";"):
		case indented && more:
			out[len(out)-1].says += " " + words
		case m != nil && !indented:
			section, more = m[1], false
		default:
			key, value, _ := strings.Cut(words, "=")
			out, more = append(out, setting{toolOf(base, section), strings.TrimSpace(strings.TrimSpace(key) + " = " + strings.TrimSpace(value))}), true
		}
	}
	return out
}

func tomlSettings(base, src string) (out []setting) {
	section := ""
	toks := scan(&toml, []byte(src))
	for from := 0; from < len(toks); {
		to := from
		for to < len(toks) && toks[to].kind != newline {
			to++
		}
		var b strings.Builder
		for i, t := range toks[from:to] {
			if t.kind == punct && (t.text == "[" || t.text == "]" || t.text == ",") {
				b.WriteString(" ")
				continue
			}
			if i > 0 && (t.text == "=" || toks[from+i-1].text == "=") {
				b.WriteString(" ")
			}
			b.WriteString(t.text)
		}
		words := strings.Join(strings.Fields(unquoted.Replace(b.String())), " ")
		if from < to && toks[from].kind == punct && toks[from].text == "[" {
			section = words
		} else if words != "" {
			out = append(out, setting{toolOf(base, section), words})
		}
		from = to + 1
	}
	return out
}

// scriptSettings are the lines of any other configuration. What is set for coverage has no say in which tests run.
func scriptSettings(tool, src string) (out []setting) {
	toks := scan(&script, []byte(src))
	pairs := matching(toks)
	covers := map[int]bool{}
	for i, t := range toks {
		key := strings.HasPrefix(t.text, "coverage") || strings.HasPrefix(t.text, "collectCoverage")
		if !key || !t.lead || i+2 >= len(toks) || t.kind > text || toks[i+1].text != ":" {
			continue
		}
		end := i + 2
		if close, ok := pairs[end]; ok && close > end {
			end = close
		}
		for ; end+1 < len(toks) && toks[end+1].kind == punct && toks[end+1].text == ","; end++ {
		}
		if end+1 < len(toks) && !toks[end+1].lead { // something else stands on its last line
			continue
		}
		for line := t.line; line <= toks[end].line; line++ {
			covers[line] = true
		}
	}
	n := 0
	for line := range strings.Lines(src) {
		n++
		if line = strings.TrimRight(strings.TrimSpace(line), ","); line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") {
			continue
		}
		if covers[n] {
			out = append(out, setting{toolCoverage, line})
		} else {
			out = append(out, setting{tool, line})
		}
	}
	return out
}

// settled is a setting, and the directory that it is about.
type settled struct {
	dir string
	setting
}

// movedSettings are those that a file no longer has, with all that it had for a tool, and that another file of the directory
// has now, which had nothing for that tool: they hold as before.
func (c *comparison) movedSettings() map[settled]bool {
	if c.settled != nil {
		return c.settled
	}
	lost, gained := map[settled]bool{}, map[settled]bool{}
	tools := func(list []setting) map[string]bool {
		has := map[string]bool{}
		for _, s := range list {
			has[s.tool] = true
		}
		return has
	}
	for _, f := range c.rules {
		if classOf(f.Path) != config {
			continue
		}
		was, now := settingsOf(f.Path, string(f.Before)), settingsOf(f.Path, string(f.After))
		had, has := tools(was), tools(now)
		for _, s := range was {
			if !has[s.tool] {
				lost[settled{path.Dir(f.Path), s}] = true
			}
		}
		for _, s := range now {
			if !had[s.tool] {
				gained[settled{path.Dir(f.Path), s}] = true
			}
		}
	}
	for s := range lost {
		if !gained[s] {
			delete(lost, s)
		}
	}
	c.settled = lost
	return lost
}

// narrows reports whether settings that only one of two lists has are about which tests run, but for those that moved.
func (c *comparison) narrows(file string, was, now []setting) bool {
	moved := c.movedSettings()
	differ, had := map[setting]int{}, map[string]bool{}
	for _, s := range was {
		differ[s]++
		had[s.tool] = true
	}
	for _, s := range now {
		differ[s]--
	}
	for s, n := range differ {
		if n != 0 && !moved[settled{path.Dir(file), s}] && c.decides(s, n > 0, !had[s.tool] && len(was) == 0 || !had[s.tool] && s.tool == toolPytest) {
			return true
		}
	}
	return false
}

// harmlessSettings are options of pytest by which no other tests run, whatever words stand in them.
var harmlessSettings = []string{"markers", "minversion", "cache_dir", "asyncio_mode", "asyncio_default_fixture_loop_scope", "console_output_style", "required_plugins", "junit_family", "junit_suite_name", "pythonpath", "timeout"}

// harmlessOptions finds what pytest may be told on its command without an effect on which tests run.
const harmlessOptions = `^(-[qvl]+|-r\w*|--(verbose|quiet|showlocals|strict|strict-markers|strict-config|doctest-modules|no-header|no-summary)|--(tb|color|durations|import-mode|cov|cov-report|cov-branch|cov-context)(=\S+)?)$`

// decides reports whether a setting may decide which tests run, what prepares them, or when a run counts as failed. What
// is new where nothing was set is asked only whether it leaves tests out or runs code.
func (c *comparison) decides(s setting, lost, fresh bool) bool {
	low := strings.ToLower(s.says)
	key, value, _ := strings.Cut(low, " = ")
	switch {
	case s.tool == toolCoverage:
		return lost && (strings.Contains(low, "fail_under") || strings.Contains(low, "threshold") || strings.Contains(low, "check-coverage"))
	case s.tool == toolTox:
		direct := !slices.ContainsFunc(c.Gates, func(g string) bool { return !strings.Contains(g, "pytest") && !strings.Contains(g, "unittest") })
		if fresh || direct { // nothing that the gate runs reads it
			return false
		}
	case s.tool == toolPytest && slices.Contains(harmlessSettings, key), s.tool == toolPytest && strings.HasPrefix(key, "log_"):
		return false
	case s.tool == toolPytest && key == "filterwarnings":
		return lost && strings.Contains(value, "error")
	case s.tool == toolPytest && key == "addopts":
		harmless := regexp.MustCompile(harmlessOptions)
		return slices.ContainsFunc(strings.Fields(value), func(w string) bool { return !harmless.MatchString(w) })
	}
	return slices.ContainsFunc(narrowing, func(w string) bool { return strings.Contains(low, w) && !(fresh && harmlessNew(low, w)) }) || fresh && (replacesLibrary(s.says) || runsCode(low))
}

// whatIsBuilt are directories in which no project keeps tests.
var whatIsBuilt = []string{"node_modules", "dist", "build", "coverage", "out", "target", ".git", ".cache", ".next", ".venv", "venv"}

// harmlessNew reports whether a new setting with a word of narrowing leaves no test out by it, and runs no code of the project.
func harmlessNew(low, word string) bool {
	switch word {
	case "timeout", "bail", "maxfail", "exitfirst", "allowonly", "forbid", "coverage", "threshold", "usejunitplatform", "alias", "modulenamemapper":
		return true
	case "only":
		return strings.Contains(low, "allowonly") || strings.Contains(low, "forbidonly")
	case "snapshot":
		return !strings.Contains(low, "update")
	case "environment", "preset", "runner", "reporter", "resolver", "require", "plugins":
		return !strings.Contains(low, "./") && !strings.Contains(low, "<rootdir>") && !strings.Contains(low, "=>")
	case "spec":
		return strings.Contains(low, "reporter")
	case "exclude", "ignore", "testpathignorepatterns", "modulepathignorepatterns":
		found := regexp.MustCompile(`['"]([^'"]*)['"]`).FindAllStringSubmatch(low, -1)
		return len(found) > 0 && !slices.ContainsFunc(found, func(m []string) bool {
			name := strings.Trim(strings.ReplaceAll(strings.TrimPrefix(m[1], "<rootdir>"), `\`, ""), "*/")
			return !slices.Contains(whatIsBuilt, name) && !slices.Contains([]string{"exclude", "ignore", "testpathignorepatterns", "modulepathignorepatterns"}, name)
		})
	}
	return false
}

// replacesLibrary reports whether a line gives another module for a library that asserts.
func replacesLibrary(line string) bool {
	for _, m := range regexp.MustCompile(`(?:['"]\^?([\w@:/.-]+?)\$?['"]\s*:\s*[^\s{[]|\bfind['"]?\s*:\s*['"]\^?([\w@:/.-]+?)\$?['"])`).FindAllStringSubmatch(line, -1) {
		if name := m[1] + m[2]; isTestLibrary(name) && name != "test" {
			return true
		}
	}
	return false
}

// runsCode reports whether a line of a configuration loads other code of the project, or does what none has to.
func runsCode(low string) bool {
	loads := regexp.MustCompile(`(?:import|from|require\()\s*['"]\.{1,2}/(?:[\w./-]*/)?([\w.-]+)['"]`).FindStringSubmatch(low)
	if loads != nil && stemOf(loads[1]+".") == loads[1]+"." && stemOf(loads[1]) == loads[1] && loads[1] != "package.json" {
		return true
	}
	return regexp.MustCompile(`\b(transform|resolveid|load)\b['"]?\s*(\(|:.*(=>|function))|process\.(exit|on)\b|globalthis|prototype|child_process`).MatchString(low)
}
