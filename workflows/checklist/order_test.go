package checklist

import (
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, wrong, next string }{
		{"nothing", "", "", ""},
		{"no ids", "- [x] a\n- [ ] b\n- [ ] c\n", "", "b"},
		{"in order", "- [x] T1 a\n- [ ] T2: b (after T3)\n- [ ] **T3** c (after T1)\n", "", "**T3** c (after T1)"},
		{"numbers", "- [x] 1.1 a\n- [ ] 1.2. b (depends on 2.1)\n- [ ] [2.1] c, depends on: 1.1\n", "", "[2.1] c, depends on: 1.1"},
		{"spec-kit", "- [ ] T012 [P] [US1] a in src/a.py\n- [ ] T014 [US1] b (depends on T012, t013) in src/b.py\n- [x] T013 c\n", "",
			"T012 [P] [US1] a in src/a.py"},
		{"range", "- [x] 1 a\n- [ ] 2 b\n- [x] 3 c\n- [x] T4 d (after 1-3)\n", "T4 is ticked, but it depends on 2, which is not", "2 b"},
		{"all done", "- [x] T1 a\n- [x] T2 b (after T1)\n", "", ""},
		{"no ids in prose", "- [ ] retried (after 3 attempts)\n- [x] depends on 2 of them\n- [x] gives up after 5\n", "", "retried (after 3 attempts)"},
		{"unknown", "- [ ] T1 a\n- [ ] T2 b (after T1 and T9)\n", "T2 depends on T9, but no task begins with that", "T1 a"},
		{"ambiguous", "- [ ] 1. a\n- [ ] 1. b\n- [ ] c (after 1)\n", `"c (after 1)" depends on 1, but 2 tasks begin with that`, "1. a"},
		{"circle", "- [ ] T0 z (after T1)\n- [ ] T1 a (after T3)\n- [ ] T2 b (after T1)\n- [ ] T3 c (after T2)\n",
			"these tasks depend on each other in a circle: T1, T3, T2, T1", "T0 z (after T1)"},
		{"itself", "- [ ] T1 a (after T1)\n", "these tasks depend on each other in a circle: T1, T1", "T1 a (after T1)"},
		{"too early", "- [ ] T1 a\n- [x] T2 b (after task T1)\n", "T2 is ticked, but it depends on T1, which is not", "T1 a"},
	} {
		tasks := Parse([]byte(tt.text))
		if wrong, next := Order(tasks), Next(tasks); wrong != tt.wrong || next != tt.next {
			t.Errorf("%s: got %q, next %q", tt.name, wrong, next)
		}
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"a checklist stays", "#### Scenario: a\n- [x] b\n1. **Given** c, **then** d\n", "b"},
		{"OpenSpec", "## ADDED Requirements\n### Requirement: Rows\nIt SHALL.\n\n#### Scenario: none\n- **WHEN** a\n- **THEN** b\n\n" +
			"#### Scenario: two\n- **GIVEN** c\n## Notes\n#### Scenario: three\n", "Rows: none|Rows: two|three"},
		{"Gherkin", "# language: en\n@x\nFeature: Rows\n  As a user\n\n  Scenario: one\n    Given a\n    \"\"\"\n    Scenario: no\n    \"\"\"\n\n" +
			"  # Scenario: off\n  Scenario Outline: two\n    Examples:\n    | a |\n\n  Rule: R\n\n    Example: three\n      Then b\n", "one|two|R: three"},
		{"Gherkin in Markdown", "text\n```gherkin\nFeature: a\n  Scenario: one\n    Given b\n```\n```\nScenario: no\n```\n**Scenario 2: two**\n- Scenario: three\n",
			"one|two|three"},
		{"spec-kit", "1. **Given** a, **When** b,\n   **Then** c\n2. Given d\n3. Given e then f\n",
			"**Given** a, **When** b, **Then** c|Given e then f"},
		{"nothing", "Example: no\n# Title\nRule: no\n", ""},
	} {
		var got []string
		for _, i := range Spec([]byte(tt.text)) {
			got = append(got, i.Text)
			if Section([]byte(tt.text), i.Text, 1000) == "" {
				t.Errorf("%s: %q has no section", tt.name, i.Text)
			}
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s: got %q", tt.name, s)
		}
	}
}
