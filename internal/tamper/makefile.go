package tamper

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// everywhere are what changes how all recipes of a Makefile are run, whoever asks for what.
var everywhere = []string{"SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "VPATH", "PATH", "GOFLAGS", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTEST_ADDOPTS",
	"BASH_ENV", "ENV", "LD_PRELOAD", ".IGNORE", ".ONESHELL", ".DEFAULT", ".DEFAULT_GOAL", ".RECIPEPREFIX", ".EXPORT_ALL_VARIABLES", "%", exported, evaluated}

// Lines of a Makefile that are neither rules nor variables have a place of their own among them.
const (
	exported  = "export"
	evaluated = "eval"
)

// makefile compares the rules that a gate asks for, and those that they stand on, with the variables that they use.
func (c *comparison) makefile(f File) {
	was, now := rules(f.Before), rules(f.After)
	for _, g := range c.Gates {
		asked := append(strings.Fields(g), "test")
		for _, target := range append(asked, everywhere...) {
			if target == ".DEFAULT_GOAL" && namesTarget(g) && !strings.Contains(string(f.After), "MAKE") {
				continue
			}
			if was[target] != now[target] && !(was[target] != "" && grown(was[target], now[target])) {
				c.rule(f, target, was, now)
				return
			}
		}
		for _, target := range reached(asked, was) {
			if !slices.Contains(asked, target) && !grown(was[target], now[target]) {
				c.rule(f, target, was, now)
				return
			}
		}
	}
}

// namesTarget reports whether all that a gate's command makes is named there: no other goal is asked for.
func namesTarget(gate string) bool {
	for _, simple := range strings.FieldsFunc(gate, func(r rune) bool { return strings.ContainsRune("\n;|&()`", r) }) {
		words := strings.Fields(simple)
		at := slices.IndexFunc(words, func(w string) bool { return w == "make" || w == "gmake" })
		if at >= 0 && (at+1 == len(words) || strings.ContainsAny(words[at+1], "-=$")) { // options come first, or nothing
			return false
		}
	}
	return true
}

func (c *comparison) rule(f File, target string, was, now map[string]string) {
	_, a, b := firstDifference([]byte(was[target]), []byte(now[target]))
	c.found(Finding{Kind: Gate, Path: f.Path, Test: target, Before: a, After: b, Grave: true})
}

// usedRE finds the names that a rule uses: other targets by their names, and variables.
const usedRE = `[A-Za-z0-9_./%-]+`

// reached are the targets and variables that some targets stand on.
func reached(asked []string, rules map[string]string) []string {
	word := regexp.MustCompile(usedRE)
	seen, done := map[string]bool{}, map[string]bool{}
	for todo := slices.Clone(asked); len(todo) > 0; todo = todo[1:] {
		text := rules[todo[0]]
		if text == "" || done[todo[0]] {
			continue
		}
		seen[todo[0]], done[todo[0]] = true, true
		for line := range strings.Lines(text) {
			recipe := strings.HasPrefix(line, "\t")
			for _, at := range word.FindAllStringIndex(line, -1) {
				name := line[at[0]:at[1]]
				variable := at[0] > 0 && strings.ContainsAny(line[at[0]-1:at[0]], "({")
				seen[name] = seen[name] || variable // maybe it gets its value from elsewhere
				if !recipe || variable || strings.Contains(line, "make ") || strings.Contains(line, "(MAKE)") {
					todo = append(todo, name)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// harmlessRE finds words that a rule may gain: files to build from, flags of a compiler, and those by which Go tests more
// strictly. Versions may change.
const harmlessRE = `^(-race|-count=1|-shuffle=on|-[lIDLWO]\S*|-std=\S+|-g|[\w./-]+\.(o|c|cc|cpp|h|hpp|a|go|rs))$`

// grown reports whether a rule or variable says all that it said, and beyond it only more to build from.
func grown(was, now string) bool {
	if was == now {
		return true
	}
	harmless, version, assigned := regexp.MustCompile(harmlessRE), regexp.MustCompile(`^v?\d[\d.]*$`), regexp.MustCompile(assignedRE)
	a, b := strings.Split(strings.TrimRight(was, "\n"), "\n"), strings.Split(strings.TrimRight(now, "\n"), "\n")
	if was == "" {
		a = nil
	}
	if len(a) > len(b) {
		return false
	}
	for i, line := range b {
		var old []string
		words := strings.Fields(line)
		if i < len(a) {
			old = strings.Fields(a[i])
		} else if m := assigned.FindStringSubmatch(line); m != nil && (m[3] == "+=" || was == "") && m[1] == "" { // it gets a value, or more of it
			words = strings.Fields(line[len(m[0]):])
		}
		n := 0
		for _, w := range words {
			switch {
			case n < len(old) && (w == old[n] || version.MatchString(w) && version.MatchString(old[n]) && len(words) == 3):
				n++
			case !harmless.MatchString(w):
				return false
			}
		}
		if n < len(old) {
			return false
		}
	}
	return true
}

// assignedRE finds the words before a variable of a Makefile, its name, and how it gets its value.
const assignedRE = `^\s*((?:(?:override|export|unexport|private)\s+)*)([^\s:=?+!#]+)\s*(:{0,3}=|\?=|\+=|!=)`

// rules are the recipes of a Makefile by target, and its variables. Comments and the @ before a command say nothing.
func rules(text []byte) map[string]string {
	out := map[string]string{}
	assigned, comment, used := regexp.MustCompile(assignedRE), regexp.MustCompile(`(^|\s)#.*`), regexp.MustCompile(`\$[({]([\w.-]+)[)}]`)
	values := map[string]string{} // of variables, to know the targets that are named by them
	var at []string
	define := ""
	source := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, "\n")
		if define != "" || strings.HasPrefix(line, "\t") {
			recipe := "\t" + strings.TrimSpace(strings.TrimLeft(line, "\t @")) + "\n"
			if strings.TrimSpace(line) == "endef" {
				define = ""
			} else if define != "" {
				out[define] += recipe
			} else if strings.TrimSpace(recipe) != "" {
				for _, t := range at {
					out[t] += recipe
				}
			}
			continue
		}
		line = strings.Join(strings.Fields(comment.ReplaceAllString(line, "")), " ")
		words := strings.Fields(line)
		m := assigned.FindStringSubmatch(line)
		head, _, rule := strings.Cut(line, ":")
		switch {
		case len(words) == 0:
		case strings.HasPrefix(line, "$(eval"), strings.HasPrefix(line, "${eval"), strings.HasPrefix(line, "$(foreach"), strings.HasPrefix(line, "$(call"):
			out[evaluated] += line + "\n"
		case slices.Contains(words[:len(words)-1], "define") && slices.Index(words, "define") < 3:
			define, at = words[slices.Index(words, "define")+1], nil
			out[define] += line + "\n"
		case m != nil:
			at = nil
			out[m[2]] += line + "\n"
			if values[m[2]] = line[len(m[0]):]; len(values[m[2]]) > 200 {
				delete(values, m[2]) // no name
			}
			if strings.Contains(m[1], "export") && m[2] != "CGO_ENABLED" { // by which Go builds, and runs the same tests
				out[exported] += line + "\n"
			}
		case words[0] == "export" || words[0] == "unexport":
			at = nil
			out[exported] += line + "\n"
		case rule:
			for n := 0; n < 3 && len(head) < 2000; n++ {
				head = used.ReplaceAllStringFunc(head, func(v string) string { return values[v[2:len(v)-1]] })
			}
			at = strings.Fields(head)
			for _, t := range at {
				if t != ".PHONY" {
					out[t] += line + "\n"
				}
			}
		}
	}
	return out
}
