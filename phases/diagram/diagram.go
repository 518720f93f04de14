// Package diagram checks whether the Mermaid diagrams of a Markdown document are well-formed. It does not draw them, so
// it finds what breaks most diagrams, and not every mistake.
package diagram

import (
	"fmt"
	"slices"
	"strings"
)

// kinds are the first words of Mermaid's diagrams.
var kinds = strings.Fields(`flowchart graph sequenceDiagram classDiagram stateDiagram stateDiagram-v2 erDiagram journey
	gantt pie quadrantChart requirementDiagram gitGraph mindmap timeline C4Context C4Container C4Component C4Dynamic
	C4Deployment sankey-beta xychart-beta block-beta packet-beta architecture-beta kanban radar-beta zenuml`)

// free are the kinds whose lines are prose, in which brackets need not match.
var free = strings.Fields("journey gantt pie mindmap timeline gitGraph sankey-beta kanban quadrantChart zenuml")

// blocks are the first words of lines that begin a block, which a line "end" ends, by kind of diagram.
var blocks = map[string][]string{"flowchart": {"subgraph"}, "graph": {"subgraph"},
	"sequenceDiagram": strings.Fields("loop alt opt par critical break rect box")}

// Problem returns what is wrong with the first bad diagram of a document, as the end of a sentence about the document.
// It returns "" if there is a diagram and all are well-formed.
func Problem(markdown string) string {
	found, begin := 0, 0
	var fence string
	var block []string
	for n, line := range strings.Split(markdown, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case fence == "" && isFence(text):
			fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
			begin, block = n+1, nil
			if info := strings.Fields(text[len(fence):]); len(info) == 0 || !strings.EqualFold(info[0], "mermaid") {
				begin = 0
			}
		case fence != "" && strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "":
			fence = ""
			if begin == 0 {
				continue
			}
			if problem := check(block); problem != "" {
				return fmt.Sprintf("has a bad diagram in line %d: %s", begin, problem)
			}
			found++
		case fence != "":
			block = append(block, text)
		}
	}
	switch {
	case fence != "" && begin > 0:
		return fmt.Sprintf("has a diagram in line %d that does not end", begin)
	case found == 0:
		return "has no diagram: a code block that begins with ```mermaid"
	}
	return ""
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// check returns the problem with the lines of one diagram, "" for none.
func check(lines []string) string {
	lines = slices.DeleteFunc(afterFrontMatter(lines), func(l string) bool { return l == "" || strings.HasPrefix(l, "%%") })
	if len(lines) == 0 {
		return "it is empty"
	}
	kind, _, _ := strings.Cut(strings.Fields(lines[0])[0], ":")
	kind = strings.TrimSuffix(kind, ";")
	switch {
	case !slices.Contains(kinds, kind):
		return fmt.Sprintf("%q is no kind of diagram", kind)
	case len(lines) == 1 && !strings.Contains(lines[0], ";"):
		return "it has no content"
	case slices.Contains(free, kind):
		return ""
	}
	if line := unended(lines[1:], blocks[kind]); line != "" {
		return fmt.Sprintf(`no "end" follows %q`, line)
	}
	return brackets(lines[1:], kind == "sequenceDiagram" || strings.HasPrefix(kind, "stateDiagram"))
}

// unended returns the innermost line that begins a block and has no end, "" for none.
func unended(lines, words []string) string {
	var open []string
	for _, line := range lines {
		switch first := strings.Fields(line)[0]; {
		case slices.Contains(words, first):
			open = append(open, line)
		case strings.TrimSuffix(first, ";") == "end" && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return ""
	}
	return open[len(open)-1]
}

// afterFrontMatter returns the lines after a block between two lines of dashes, which may hold a title.
func afterFrontMatter(lines []string) []string {
	if len(lines) > 0 && lines[0] == "---" {
		if end := slices.Index(lines[1:], "---"); end >= 0 {
			return slices.Clone(lines[end+2:])
		}
	}
	return slices.Clone(lines)
}

// brackets returns a text about the first line in which a round or square bracket or a quote is not closed; "" for none.
// Braces may span lines. `prose` says that what follows a colon is prose, such as the text of a note.
func brackets(lines []string, prose bool) string {
	for _, line := range lines {
		checked := line
		if prose {
			checked, _, _ = strings.Cut(line, ":")
		}
		var open []rune
		quoted := false
		for _, c := range checked {
			switch i := strings.IndexRune("([{)]}", c); {
			case c == '"':
				quoted = !quoted
			case quoted || i < 0:
			case i < 3:
				open = append(open, rune(")]}"[i]))
			case len(open) > 0 && open[len(open)-1] == c:
				open = open[:len(open)-1]
			}
		}
		if quoted || slices.ContainsFunc(open, func(c rune) bool { return c != '}' }) {
			return fmt.Sprintf("a bracket or quote is not closed in %q", line)
		}
	}
	return ""
}
