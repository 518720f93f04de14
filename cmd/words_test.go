package cmd

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// plainWords are phrases that no text of wfs may contain, each with its replacement.
var plainWords = []plainWord{
	{`\b(no|some|any)body\b`, "name who: you, the agent, wfs, another process"},
	{`\bwho(so)?ever\b`, "name who: the next attempt, the reader"},
	{`\bnobody'?s\b`, "name who"},
	{`\b(take|takes|taken|taking|took)( \S+)? back\b`, "undo"},
	{`\bdo(ne|es)? again\b`, "redo"},
	{`\btold\b|\btells? of\b`, "report, show, warn, distinguish"},
	{`\basked for\b|\basks? for (less|more|something)\b`, "requested, wanted; weakened"},
	{`\bknown already\b|\balready known\b`, "cached"},
	{`\b(agent|person|user|reviewer)'s (own )?word\b|\b(without a|on the agent's|for a person's) word\b|\b(last|your|newest) word\b`, "report, message, approval, answer"},
	{`\b(he|his|him|she|her)\b`, "you, the agent, they"},
	{`\bmend(s|ed|ing)?\b`, "fix, repair"},
	{`\banew\b`, "again"},
	{`\ball the same\b`, "anyway, still"},
	{`\bby now\b`, "now"},
	{`\bgreen broke\b|\bgreen (fail|is|are)\b|\b(was|were) green\b`, "passed before"},
	{`\bred before\b`, "already failing before this session"},
	{`\bproven clean\b`, "passes in a clean checkout"},
	{`\bclaims? to be\b|\brefuted\b`, "agent said it is done; tests disagree"},
	{`\bfor ever\b|\bfor good\b|\bfor nothing\b`, "permanently; free"},
	{`\bput(s)? \S+ away\b|\bat work\b`, "delete; running"},
	{`\b(it|that|this|which|file|%s|%q) is no [a-km-z]`, "is not a"},
	{`\bas (it was found|the run left it)\b`, "found in the work tree; unjudged, from an interrupted attempt"},
	{`\bevents? did not\b|\bnobody saw\b`, "was cut off"},
	{`\b(calls|runs) of (tools|agents)\b`, "tool calls"},
	{`\bcounted as nothing\b|\bcounts as nothing\b`, "ignored"},
	{`\bhave been let in|let(s)? (it|them|files?|paths?|one|\S+) in(to)?\b`, "allow"},
	{`\bcannot be meant\b|\bwhat is meant\b`, "usage error"},
	{`\bhad back\b|\bto be had\b`, "restored, available"},
	{`\btaken in\b|\btakes? in\b`, "pending; read"},
	{`\bby whom\b|\bis not known\b`, "unknown"},
	{`\bas it should be\b`, "no problems found"},
	{`\bis asked still\b|\bpins? anew\b`, "still checked"},
	{`\bgone through\b|\bgo(es|ing)? on\b|\bwent on\b|\bgone on\b`, "continue"},
}

// innerWords are allowed in documents about the internals of wfs, such as docs/formats.md.
var innerWords = []plainWord{
	{`\bledgers?\b`, "history"},
	{`\bvisits?\b`, "phase, attempt"},
	{`\brescue[sd]?\b|\bauto-?saves?\b`, "backup"},
	{`\b(drive|drives|driven|driving|drove)\b`, "run"},
}

type plainWord struct{ pattern, better string }

// wordsKept are literals that must keep a phrase: keys and values on disk, old names, texts of other programs.
var wordsKept = map[string]bool{}

// wordsLeft is the number of hits that a file may still have. It may only decrease.
var wordsLeft = map[string]int{
	"cmd/topics.go":            2,
	"gitstate/turn/publish.go": 1,
	"session/proof.go":         1,
}

var (
	prose    = regexp.MustCompile(`[A-Za-z)%,;:.'] ["'(%A-Za-z]|[A-Za-z] $|^ [A-Za-z]`)
	codeSpan = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<!--.*?-->|\\]\\([^)]*\\)")
)

// TestPlainWords fails when a user-visible text has a phrase that engineers do not use.
func TestPlainWords(t *testing.T) {
	hits := map[string][]string{}
	compiled := map[string]*regexp.Regexp{}
	for _, w := range slices.Concat(plainWords, innerWords) {
		compiled[w.pattern] = regexp.MustCompile("(?i)" + w.pattern)
	}
	look := func(file string, line int, text string) {
		words := slices.Concat(plainWords, innerWords)
		if slices.Contains([]string{"docs/architecture.md", "docs/decisions.md", "docs/formats.md", "docs/glossary.md", "docs/requirements.md"}, file) {
			words = plainWords
		}
		for _, w := range words {
			for _, m := range compiled[w.pattern].FindAllString(text, -1) {
				hits[file] = append(hits[file], fmt.Sprintf("%s:%d: %q: say %s, in %q", file, line, m, w.better, text))
			}
		}
	}
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "testkit" || d.Name() == "faults" || path != root && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			for _, l := range literals(t, path) {
				if prose.MatchString(l.text) && !wordsKept[l.text] {
					look(name, l.line, l.text)
				}
			}
		case name == "README.md" || strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, ".md"):
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			plain := codeSpan.ReplaceAllStringFunc(string(data), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
			for i, line := range strings.Split(plain, "\n") {
				look(name, i+1, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for file, list := range hits {
		total += len(list)
		if len(list) > wordsLeft[file] {
			t.Errorf("%d hits in %s, and %d are allowed:\n%s", len(list), file, wordsLeft[file], strings.Join(list, "\n"))
		}
	}
	t.Logf("%d hits", total)
}

type literal struct {
	line int
	text string
}

// literals returns the strings of a file, except for field tags and import paths.
func literals(t *testing.T, path string) (all []literal) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				all = append(all, literal{set.Position(n.Pos()).Line, text})
			}
		}
		return true
	})
	return all
}
