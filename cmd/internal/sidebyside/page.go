package sidebyside

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// Style has the CSS rules for the HTML of a Diff. It uses the variables --bg, --fg, --muted, --line, --ok, --bad and
// --accent of the page, if there are any.
//
//go:embed style.css
var Style string

//go:embed diff.html
var page string

// HTML returns the difference as a section of a page, without scripts and without styles. A line has the id
// "L-<ID of the file>-<left or right>-<number>", its row the attributes data-path, data-side and data-line.
func (d *Diff) HTML() (template.HTML, error) {
	t, err := template.New("").Funcs(template.FuncMap{"visible": visible, "plural": safetext.Plural}).Parse(page)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, d)
	return template.HTML(b.String()), err
}

// Total returns the number of changed files.
func (d *Diff) Total() int { return len(d.Files) + d.Omitted }

func visible(text string) template.HTML {
	var b strings.Builder
	writeVisible(&b, text)
	return template.HTML(b.String())
}

// Table returns the rows of a hunk of this file, without a table around them. The template does not make them itself:
// for thousands of lines it takes four times as long. The tab key goes to the first changed line only.
func (f *File) Table(h Hunk) template.HTML {
	var b strings.Builder
	id, path := f.ID(), html.EscapeString(strings.ToValidUTF8(safetext.Strip(f.Path), "\ufffd"))
	first := true
	for _, r := range h.Rows {
		main := r.Right
		if main.Kind == "" {
			main = r.Left
		}
		fmt.Fprintf(&b, `<tr data-path="%s" data-side="%s" data-line="%d">`, path, main.Side, main.Number)
		for _, l := range []Line{r.Left, r.Right} {
			if l.Kind == "" {
				b.WriteString(`<td class="none"></td><td class="none"></td>`)
				continue
			}
			tab := ` tabindex="-1"`
			if l.Kind != "same" && first {
				tab, first = "", false
			}
			anchor := fmt.Sprintf("L-%s-%s-%d", id, l.Side, l.Number)
			fmt.Fprintf(&b, `<th scope="row" class="%s" id="%s"><a href="#%[2]s"%[3]s>%[4]d</a></th>`+
				`<td class="%[1]s">%[5]s</td>`, l.Kind, anchor, tab, l.Number, l.HTML)
		}
		b.WriteString("</tr>\n")
	}
	return template.HTML(b.String())
}

// ID returns the path with letters, digits and "._/-" only, other bytes as "~" and two digits. If the path became
// another type, as from a file to a link, git shows it as deleted and added; so the deleted one has another ID.
func (f *File) ID() string {
	var b strings.Builder
	if f.Status == "deleted" {
		b.WriteString("~deleted/")
	}
	for i := range len(f.Path) {
		c := f.Path[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._/-", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "~%02x", c)
		}
	}
	return b.String()
}

// mode returns the mode of the file in the newer commit that has it.
func (f *File) mode() string {
	if f.NewMode != "" {
		return f.NewMode
	}
	return f.OldMode
}

// What returns the status of the file with all that is special about it, in words.
func (f *File) What() string {
	list := []string{f.Status}
	switch f.mode() {
	case object.ModeLink:
		list = append(list, "symbolic link")
	case object.ModeGitlink:
		list = append(list, "submodule")
	case object.ModeExec:
		if f.OldMode != object.ModeExec {
			list = append(list, "executable")
		}
	case object.ModeFile:
		if f.OldMode == object.ModeExec {
			list = append(list, "no longer executable")
		}
	}
	if f.Binary {
		list = append(list, "binary")
	}
	return strings.Join(list, ", ")
}

// Empty says why no lines of the file are shown, "" if some are.
func (f *File) Empty() string {
	switch {
	case len(f.Hunks) > 0 || f.Omitted > 0:
		return ""
	case f.Binary:
		return "The content is binary, and not shown."
	case f.Status == "added" || f.Status == "deleted":
		return "The file is empty."
	}
	return "The content is the same."
}
