package sidebyside

import (
	_ "embed"
	"fmt"
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

// Sides returns the two lines of a row, for the template.
func (r *Row) Sides() []*Line { return []*Line{&r.Left, &r.Right} }

// Main returns the line of the new file, or that of the old file if the new one has none here.
func (r *Row) Main() *Line {
	if r.Right.Kind != "" {
		return &r.Right
	}
	return &r.Left
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
