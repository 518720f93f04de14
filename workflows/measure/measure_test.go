package measure

import (
	"maps"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	output := "a.go:1: bad\r\nb.go:2: bad\nok  x  coverage: 71.5% of statements\nok  y  coverage: 80.0% of statements\ntime 1,5 s\n"
	for name, c := range map[string]struct {
		pattern string
		want    map[string]float64
	}{
		"the last match counts":            {`coverage: ([0-9.]+)%`, map[string]float64{"n": 80}},
		"lines are counted":                {`^[^ ]+:[0-9]+: bad$`, map[string]float64{"n": 2}},
		"no line is a number":              {`^never`, map[string]float64{"n": 0}},
		"no match of a group is no number": {`never ([0-9]+)`, map[string]float64{}},
		"a decimal comma":                  {`time ([0-9,]+)`, map[string]float64{"n": 1.5}},
		"what is no number":                {`coverage: (.*)`, map[string]float64{}},
		"optional group":                   {`ok  y(z)?`, map[string]float64{}},
	} {
		if got := Read(map[string]string{"n": c.pattern}, output); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestRequirement(t *testing.T) {
	t.Parallel()
	now, base := map[string]float64{"coverage": 81.5, "findings": 3}, map[string]float64{"coverage": 83, "findings": 3}
	for text, want := range map[string]string{
		"coverage >= 80":       "",
		"coverage>=81.5":       "",
		"coverage > 81.5":      "coverage is 81.5, and must be > 81.5",
		"coverage >= base":     "coverage is 81.5, and must be >= 83",
		"coverage >= base - 5": "",
		"coverage >= base-1":   "coverage is 81.5, and must be >= 82",
		"findings <= base":     "",
		"findings < base":      "findings is 3, and must be < 3",
		"findings <= base + 1": "",
		"findings <= 2":        "findings is 3, and must be <= 2",
		"races <= 0":           "no number races in its output",
	} {
		r, problem := Parse(text)
		if problem != "" {
			t.Errorf("%s: %s", text, problem)
		} else if got := r.Lacks(now, base); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if r, _ := Parse("coverage >= base"); r.Lacks(now, nil) != "" {
		t.Error("a number that the base does not have cannot be compared with")
	}
	for _, text := range []string{"", "coverage", "coverage = 80", "coverage >= 80%", ">= 80", "coverage >= 1.2.3", "coverage >= base * 2", "coverage >= base 5"} {
		if _, problem := Parse(text); problem == "" {
			t.Errorf("%q was read", text)
		}
	}
}
