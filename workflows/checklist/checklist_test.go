package checklist

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseChecklist(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string // "line box text"
	}{
		{"nothing", "", nil},
		{"plain", "- [ ] one\n- [x] two\n- [X] three\n", []string{"1 - one", "2 x two", "3 x three"}},
		{"markers", "* [ ] a\n+ [ ] b\n1. [ ] c\n22) [x] d\n", []string{"1 - a", "2 - b", "3 - c", "4 x d"}},
		{"CRLF and BOM", "\ufeff- [ ] one\r\n  more\r\n- [ ] two\r\n", []string{"1 - one more", "3 - two"}},
		{"CR", "- [ ] one\r- [ ] two", []string{"1 - one", "2 - two"}},
		{"no line feed at the end", "# Spec\n\n- [ ] one", []string{"3 - one"}},
		{"nested", "- [ ] a\n  - [x] b\n    1. [ ] c\n\t- [ ] d\n- e\n    - [ ] f\n\n        - [ ] g\n",
			[]string{"1 - a", "2 x b", "3 - c", "4 - d", "6 - f", "8 - g"}},
		{"continued", "- [ ] one\n  and   more\nand lazy\n\n  but not this\n- [ ] two\n",
			[]string{"1 - one and more and lazy", "6 - two"}},
		{"continued far to the right", "- [ ] one\n        - [ ] two\n              more\n",
			[]string{"1 - one", "2 - two more"}},
		{"continuation ends", "- [ ] a\n# Title\n- [ ] b\n---\n- [ ] c\n> quote\n- [ ] d\n* * *\ntext\n",
			[]string{"1 - a", "3 - b", "5 - c", "7 - d"}},
		{"fences", "```\n- [ ] no\n```\n- [ ] yes\n  ~~~~ text\n  - [ ] no\n  ~~~\n  - [ ] no\n  ~~~~~\n  more\n- [ ] yes too\n",
			[]string{"4 - yes", "11 - yes too"}},
		{"fence that never ends", "- [ ] a\n```sh\n- [ ] b\n", []string{"1 - a"}},
		{"no fence", "- [ ] run ```x``` now\n``` a ``` b\n- [ ] next\n",
			[]string{"1 - run ```x``` now ``` a ``` b", "3 - next"}},
		{"indented code", "text\n\n    - [ ] code\n\t- [ ] code\n\n- [ ] a\n\n      - [ ] code in a\n\n  - [ ] b\n",
			[]string{"6 - a", "10 - b"}},
		{"after a list", "- [ ] a\n\ntext\n\n    - [ ] code\n", []string{"1 - a"}},
		{"comments", "<!-- - [ ] no -->\n<!--\n- [ ] no\n-->\n- [ ] yes\n<!-- open\n- [ ] no\n", []string{"5 - yes"}},
		{"no boxes", "- a\n-[ ] b\n- [] c\n- [y] d\n- [ ]e\n- [ ]\n- [ ]  \n[ ] f\n1 [ ] g\n1234567890. [ ] h\n- [link](x)\n-\n", nil},
		{"text only below", "- [ ]\n  text\n- [ ] \n  text\n", nil},
		{"formatting stays", "- [ ] `--csv` writes **all** rows [#3](x)\n",
			[]string{"1 - `--csv` writes **all** rows [#3](x)"}},
		{"control characters", "- [ ] a\x1b[31mb\x00c\td\n", []string{"1 - a [31mb c d"}},
		{"tight after text", "Items:\n- [ ] a\n", []string{"2 - a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, item := range Parse([]byte(tt.text)) {
				mark := "-"
				if item.Done {
					mark = "x"
				}
				got = append(got, fmt.Sprintf("%d %s %s", item.Line, mark, item.Text))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	const text = "intro\n\n- [ ] early\n\n# Rows\n- [ ] a\n\nhow a is\n\n## Below\n- [ ] b\n```\n# no heading\n```\n\nCells\n-----\n- [ ] c\n# End\nlast\n"
	for _, tt := range []struct {
		item string
		most int
		want string
	}{
		{"early", 1000, "intro\n\n- [ ] early"},
		{"a", 1000, "# Rows\n- [ ] a\n\nhow a is\n\n## Below\n- [ ] b\n```\n# no heading\n```\n\nCells\n-----\n- [ ] c"},
		{"b", 1000, "## Below\n- [ ] b\n```\n# no heading\n```"},
		{"c", 1000, "Cells\n-----\n- [ ] c"},
		{"c", 12, "- [ ] c"},
		{"unknown", 1000, ""},
	} {
		if got := Section([]byte(strings.ReplaceAll(text, "\n", "\r\n")), tt.item, tt.most); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.item, got, tt.want)
		}
	}
}
