package diagram

import "testing"

func TestProblem(t *testing.T) {
	t.Parallel()
	block := func(lines string) string { return "# Title\n\n```mermaid\n" + lines + "```\n\nText.\n" }
	for name, c := range map[string]struct{ text, want string }{
		"none":            {"# Title\n\n```go\nfunc f() {\n```\n", "has no diagram: a code block that begins with ```mermaid"},
		"flowchart":       {block("flowchart LR\n  a[\"one (1)\"] --> b{two}\n  b -->|yes| c((three))\n"), ""},
		"sequence":        {block("sequenceDiagram\n  A->>B: a) first\n  B--)A: done\n"), ""},
		"classes":         {block("classDiagram\n  class A {\n    +run() int\n  }\n  A <|-- B\n"), ""},
		"entities":        {block("erDiagram\n  A ||--o{ B : has\n  A {\n    int id\n  }\n"), ""},
		"states":          {block("stateDiagram-v2\n  [*] --> A\n  A --> [*]\n"), ""},
		"with a title":    {block("---\ntitle: x (1\n---\nflowchart TD\n  a-->b\n"), ""},
		"with a comment":  {block("%% [ not closed\ngraph TD;\n  a-->b;\n"), ""},
		"in one line":     {block("graph TD; a-->b\n"), ""},
		"prose":           {block("pie title Pets (2024\n  \"Dogs\" : 386\n"), ""},
		"tildes":          {"~~~ Mermaid\nflowchart LR\na-->b\n~~~\n", ""},
		"longer fence":    {"````mermaid\nflowchart LR\na-->b\n```\n````\n", ""},
		"empty":           {block(""), "has a bad diagram in line 3: it is empty"},
		"unknown kind":    {block("flowchat LR\n  a --> b\n"), `has a bad diagram in line 3: "flowchat" is no kind of diagram`},
		"no content":      {block("flowchart LR\n"), "has a bad diagram in line 3: it has no content"},
		"open bracket":    {block("flowchart LR\n  a[one --> b\n"), `has a bad diagram in line 3: a bracket or quote is not closed in "a[one --> b"`},
		"open quote":      {block("flowchart LR\n  a[\"one] --> b\n"), "has a bad diagram in line 3: a bracket or quote is not closed in \"a[\\\"one] --> b\""},
		"no end":          {"```mermaid\nflowchart LR\na-->b\n", "has a diagram in line 1 that does not end"},
		"the second one":  {block("flowchart LR\na-->b\n") + block("nothing\nx\n"), `has a bad diagram in line 11: "nothing" is no kind of diagram`},
		"a note":          {block("sequenceDiagram\n  Note over A: don't say \"a\n"), ""},
		"a subgraph":      {block("flowchart LR\n  subgraph x\n  a-->b\n  end\n"), ""},
		"open subgraph":   {block("flowchart LR\n  subgraph x\n  a-->b\n"), `has a bad diagram in line 3: no "end" follows "subgraph x"`},
		"open loop":       {block("sequenceDiagram\n  loop each\n  A->>B: x\n"), `has a bad diagram in line 3: no "end" follows "loop each"`},
		"inside of other": {"```\n~~~mermaid\n~~~\n```\n", "has no diagram: a code block that begins with ```mermaid"},
	} {
		if got := Problem(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
