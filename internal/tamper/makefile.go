package tamper

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// makefile compares the rules that a gate asks for, and those that they stand on, with the variables that they use.
func (c *comparison) makefile(f File) {
	was, now := rules(f.Before), rules(f.After)
	for _, g := range c.Gates {
		asked := append(strings.Fields(g), "test", "SHELL", ".SHELLFLAGS")
		for _, target := range asked {
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

func (c *comparison) rule(f File, target string, was, now map[string]string) {
	_, a, b := firstDifference([]byte(was[target]), []byte(now[target]))
	c.found(Finding{Kind: Gate, Path: f.Path, Test: target, Before: a, After: b, Grave: true})
}

// usedRE finds the names that a rule uses: other targets by their names, and variables.
const usedRE = `[A-Za-z0-9_./%-]+`

// reached are the targets and variables that some targets stand on.
func reached(asked []string, rules map[string]string) []string {
	word := regexp.MustCompile(usedRE)
	seen := map[string]bool{}
	for todo := slices.Clone(asked); len(todo) > 0; todo = todo[1:] {
		text := rules[todo[0]]
		if text == "" || seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		for line := range strings.Lines(text) {
			recipe := strings.HasPrefix(line, "\t")
			for _, at := range word.FindAllStringIndex(line, -1) {
				name := line[at[0]:at[1]]
				variable := at[0] > 0 && strings.ContainsAny(line[at[0]-1:at[0]], "({")
				if !recipe || variable || strings.Contains(line, "make ") || strings.Contains(line, "(MAKE)") {
					todo = append(todo, name)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// harmlessRE finds words that a rule may gain: files to build from, and flags of a compiler. Versions may change.
const harmlessRE = `^(-[lIDLWO]\S*|-std=\S+|-g|[\w./-]+\.(o|c|cc|cpp|h|hpp|a|go|rs))$`

// grown reports whether a rule or variable says all that it said, and beyond it only more to build from.
func grown(was, now string) bool {
	if was == now {
		return true
	}
	a, b := strings.Split(strings.TrimRight(was, "\n"), "\n"), strings.Split(strings.TrimRight(now, "\n"), "\n")
	if len(a) != len(b) {
		return false
	}
	harmless, version := regexp.MustCompile(harmlessRE), regexp.MustCompile(`^v?\d[\d.]*$`)
	for i := range a {
		old, words := strings.Fields(a[i]), strings.Fields(b[i])
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
