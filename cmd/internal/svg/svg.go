// Package svg draws plots and workflows as SVG that stands in an HTML page or alone, without scripts, fonts, styles and
// ids.
//
// Lines and text have the colour of the text around them. Other colours are on groups, as attributes that a style
// sheet overrides by one property: svg.plot .c0 { color: … }. They are visible on white and on black.
package svg

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// width of all drawings, in the units in which a text is 12 high: a phone's screen shows them without scrolling.
const width = 360

// colours have a contrast of at least 3 to white and to nearly black. So they differ little in brightness: markers,
// dashes and patterns tell the series apart as well.
var colours = []string{"#2f7ed8", "#d9691e", "#12906a", "#a35fc7"}

// canvas collects a drawing. All its text goes through clean.
type canvas struct{ strings.Builder }

// add writes a format. Its arguments are numbers, or texts that are safe in attributes.
func (c *canvas) add(format string, args ...any) {
	for i, a := range args {
		if f, ok := a.(float64); ok {
			args[i] = decimal(f, 10) // a coordinate
		}
	}
	fmt.Fprintf(c, format, args...)
}

// text writes a text at a place, shortened to a width; the whole is then its title. anchor is start, middle or end;
// attributes are further ones.
func (c *canvas) text(x, y float64, anchor, attributes, text string, most float64) {
	c.add(`<text x="%v" y="%v" text-anchor="%s"%s>`, x, y, anchor, attributes)
	written := short(text, most)
	if strings.HasSuffix(written, "…") {
		c.title(text)
	}
	c.add("%s</text>", clean(written))
}

// title writes the text that a browser shows when the pointer rests on the element that is open.
func (c *canvas) title(text string) { c.add("<title>%s</title>", clean(text)) }

// open begins the group of a colour.
func (c *canvas) open(i int) {
	i %= len(colours)
	c.add(`<g class="c%d" color="%s">`, i, colours[i])
}

// picture returns the drawing as an image with its text alternative.
func (c *canvas) picture(class, title, alternative string, w, h float64) template.HTML {
	var head canvas
	head.add(`<svg xmlns="http://www.w3.org/2000/svg" class="plot %s" role="img" viewBox="0 0 %v %v" `, class, w, h)
	head.add(`width="%v" height="%v" font-family="system-ui,sans-serif" font-size="12" fill="currentColor">`, w, h)
	head.title(title)
	head.add("<desc>%s</desc>", clean(alternative))
	return template.HTML(head.String() + c.String() + "</svg>\n")
}

// nothing returns a picture that says in a sentence why there is no plot.
func nothing(class, title, why string) template.HTML {
	var c canvas
	c.text(0, 16, "start", muted, why, width)
	return c.picture(class, title, why, width, 24)
}

// muted are the attributes of text that is less important.
const muted = ` font-size="11" opacity=".75"`

// clean makes a text of unknown origin safe in SVG: one line, not endless, without what is invisible or not allowed in
// XML.
func clean(s string) string {
	return template.HTMLEscapeString(strings.NewReplacer("\ufffe", "", "\uffff", "").Replace(safetext.Line(s, 4000)))
}

// short returns a text that is at most as wide as given, in the usual size.
func short(s string, most float64) string {
	s = safetext.Line(s, 0)
	w := wide("…")
	for i, r := range s {
		if w += wide(string(r)); w > most && wide(s) > most {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// wide estimates the width of a text. Fonts differ, so it is the width in a wide one.
func wide(s string) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100 && r != '…':
			w++
		case strings.ContainsRune(" .,:;'!|iljt()[]", r):
			w += 0.38
		case strings.ContainsRune("mwMW@%…", r):
			w += 0.96
		case r >= 'A' && r <= 'Z':
			w += 0.7
		default:
			w += 0.63
		}
	}
	return w * 12
}

// legend writes the names of series with samples, which `draw` draws at a place, in as many lines as they need. It
// returns its height: a single series needs no legend.
func (c *canvas) legend(list []Series, draw func(i int, x, y float64)) float64 {
	if len(list) < 2 {
		return 0
	}
	x, y := 0.0, 10.0
	for i, s := range list {
		w := 24 + wide(short(s.Name, 200)) + 12
		if x > 0 && x+w > width {
			x, y = 0, y+18
		}
		c.open(i)
		draw(i, x, y)
		c.add("</g>")
		c.text(x+24, y+4, "start", "", s.Name, 200)
		x += w
	}
	return y + 16
}
