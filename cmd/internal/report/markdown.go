package report

import (
	_ "embed"
	"io"
	"regexp"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Mark is a line by which a file is known to be a report.
const Mark = "<!-- written by wfs report -->\n"

//go:embed report.md.tmpl
var markdownText string

// Markdown writes a report as Markdown, as GitHub and GitLab read it.
func (r *Report) Markdown(w io.Writer) error {
	page := template.New("markdown").Funcs(template.FuncMap{"begun": begun, "fenced": fenced})
	return template.Must(page.Parse(markdownText)).Execute(w,
		map[string]any{"Mark": Mark, "Blocks": r.blocks(false)})
}

// Markdown returns the line as Markdown that displays as that text.
func (l Line) Markdown() string {
	var b strings.Builder
	for _, t := range l {
		b.WriteString(t.markdown())
	}
	return strings.TrimSpace(b.String())
}

// markdown escapes a text. Code is written as such if it is a plain word for every reader of Markdown.
func (t Text) markdown() string {
	words := t.Plain()
	text := escape(words)
	switch {
	case words == "":
	case t.IsCode() && !strings.ContainsAny(words, "`|") && words == strings.TrimSpace(words):
		text = "`" + words + "`"
	case t.Kind == "strong" || strings.HasPrefix(t.Kind, "badge"):
		text = "**" + strings.TrimSpace(text) + "**"
	}
	return text
}

// beginning matches what makes a block of a line: a heading, a list, a quote, a rule.
var beginning = regexp.MustCompile(`^(\d*)([-#+=.)])`)

// begun returns a line of Markdown that begins no block.
func begun(l string) string { return beginning.ReplaceAllString(l, `$1\$2`) }

// joint separates what Markdown readers would otherwise make a link or notify people of: an address, a mention, the
// number of an issue.
const joint = "\u200b"

// escape returns plain text as Markdown that displays as that text.
func escape(s string) string {
	var b strings.Builder
	runes := []rune(s)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for i, r := range runes {
		switch {
		case r == '|': // not \|, because a \ before it would make that another cell
			b.WriteString("&#124;")
			continue
		case strings.ContainsRune("\\`*[]<>~", r),
			r == '_' && !(word(at(i-1)) && word(at(i+1))),
			r == '&' && (at(i+1) == '#' || word(at(i+1))),
			r == '$' && !unicode.IsDigit(at(i+1)):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		switch {
		case r == '@' && word(at(i+1)), r == ':' && at(i+1) == '/' && at(i+2) == '/',
			r == '#' && word(at(i+1)), r == '!' && unicode.IsDigit(at(i+1)),
			(r == 'w' || r == 'W') && at(i+1) == '.':
			b.WriteString(joint)
		}
	}
	return b.String()
}

// fenced returns lines as a block of code. Its fence is longer than any in the lines.
func fenced(language, text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	text = strings.TrimRight(safetext.Strip(strings.ToValidUTF8(text, string(utf8.RuneError))), "\n")
	return fence + language + "\n" + text + "\n" + fence + "\n"
}
