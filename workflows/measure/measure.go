// Package measure reads numbers, such as a coverage, from the output of gates, and compares them with requirements.
package measure

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// Pattern returns the problem with a regular expression for a number, "" for none.
func Pattern(s string) string {
	switch re, err := regexp.Compile(s); {
	case err != nil:
		return "is not a regular expression: " + err.Error()
	case re.NumSubexp() > 1:
		return "has more than one group: the group is the number. (?:…) groups without counting"
	}
	return ""
}

// Read returns the numbers that regular expressions find in a text, by name. With a group, the number is that of the
// last match; without one, it is how many lines match. A number that is not found is left out.
func Read(patterns map[string]string, text string) map[string]float64 {
	numbers := map[string]float64{}
	for name, pattern := range patterns {
		re, err := regexp.Compile("(?m)" + pattern)
		if err != nil {
			continue // an edited plan
		}
		if re.NumSubexp() == 0 {
			for line := range strings.Lines(text) {
				if re.MatchString(strings.TrimRight(line, "\r\n")) {
					numbers[name]++
				}
			}
			numbers[name] += 0
			continue
		}
		for _, match := range re.FindAllStringSubmatch(text, -1) {
			if n, err := strconv.ParseFloat(strings.ReplaceAll(match[1], ",", "."), 64); err == nil {
				numbers[name] = n
			}
		}
	}
	return numbers
}

// Requirement compares a number with a value, or with the same number on the session's base.
type Requirement struct {
	Number string
	op     string // ">=", "<=", ">", "<"
	base   bool   // the value is added to the number on the base
	value  float64
}

var form = lazyregexp.New(`^([A-Za-z][A-Za-z0-9_-]*) *(>=|<=|>|<) *(?:(base)(?: *([+-]) *([0-9.]+))?|(-?[0-9.]+))$`)

// Parse reads a requirement: "coverage >= 80", "findings <= base", "coverage >= base - 5". It returns the problem with
// another text, "" for none.
func Parse(text string) (r Requirement, problem string) {
	m := form.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return r, `is not like "coverage >= 80", "findings <= base" or "coverage >= base - 5"`
	}
	r = Requirement{Number: m[1], op: m[2], base: m[3] != ""}
	value, err := strconv.ParseFloat(m[5]+m[6], 64)
	if err != nil && m[5]+m[6] != "" {
		return r, "has no number"
	}
	if r.value = value; m[4] == "-" {
		r.value = -value
	}
	return r, ""
}

// Unjudged reports whether a requirement compares with a number that the session's base does not have.
func (r Requirement) Unjudged(base map[string]float64) bool {
	_, there := base[r.Number]
	return r.base && !there
}

// Lacks returns a sentence that says why numbers do not meet a requirement, "" if they do or if it is Unjudged. `base`
// has the numbers on the session's base.
func (r Requirement) Lacks(now, base map[string]float64) string {
	n, there := now[r.Number]
	if !there {
		return fmt.Sprintf("no number %s in its output", r.Number)
	}
	least := r.value
	switch {
	case r.Unjudged(base):
		return ""
	case r.base:
		least += base[r.Number]
	}
	met := map[string]bool{">=": n >= least, "<=": n <= least, ">": n > least, "<": n < least}[r.op]
	if met {
		return ""
	}
	return fmt.Sprintf("%s is %s, and must be %s %s", r.Number, Text(n), r.op, Text(least))
}

// List returns numbers with their names, such as "coverage 81.5, findings 3"; "" for none.
func List(numbers map[string]float64) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		all = append(all, name+" "+Text(numbers[name]))
	}
	return strings.Join(all, ", ")
}

// Text formats a number without needless digits.
func Text(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
