// Picture runs commands and writes what they print, with the time of each line, as an animated SVG.
//
//	picture FILE.svg COMMAND...
//
// A FILE of another name gets the lines as text.
package main

import (
	"bufio"
	"fmt"
	"html"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	columns   = 80
	rows      = 36 // what is above them scrolls away
	cell      = 8.4
	height    = 18
	margin    = 16
	seconds   = 20.0 // all of it
	rest      = 6.0  // the last frame, before it begins again
	shortest  = 0.12 // between two lines
	longest   = 1.5
	beforeRun = 1.0 // between a command and its first line
)

type line struct {
	at    float64
	spans []span
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: picture FILE COMMAND...")
	}
	var lines []line
	now := 0.0
	for i, command := range os.Args[2:] {
		if i > 0 {
			lines = append(lines, line{now, nil})
			now += longest
		}
		lines = append(lines, line{now, []span{{"$ " + command, "b"}}})
		now += beforeRun
		var err error
		if lines, now, err = record(lines, now, command); err != nil {
			log.Fatalf("%s: %v", command, err)
		}
	}
	for i := range lines {
		lines[i].at *= seconds / now
	}
	text := plain(lines)
	if strings.HasSuffix(os.Args[1], ".svg") {
		var rows []line
		for _, l := range lines {
			for _, row := range folded(l.spans) {
				rows = append(rows, line{l.at, row})
			}
		}
		text = svg(rows)
	}
	if err := os.WriteFile(os.Args[1], []byte(text), 0o666); err != nil {
		log.Fatal(err)
	}
}

// record runs a command and adds its lines. Waits are cut to the longest.
func record(lines []line, now float64, command string) ([]line, float64, error) {
	cmd := exec.Command("sh", "-c", command+" 2>&1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	last := time.Now()
	for s := bufio.NewScanner(out); s.Scan(); last = time.Now() {
		now += min(max(time.Since(last).Seconds(), shortest), longest)
		lines = append(lines, line{now, spans(s.Text())})
		os.Stderr.WriteString(s.Text() + "\n")
	}
	return lines, now, cmd.Wait()
}

func plain(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l.spans {
			b.WriteString(s.text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

type span struct{ text, class string }

// classes of the colours that wfs prints.
var classes = map[string]string{"1": "b", "2": "d", "31": "r", "32": "g", "35": "m"}

// spans splits a line at its escape sequences.
func spans(text string) []span {
	var list []span
	class := ""
	for text != "" {
		before, after, found := strings.Cut(text, "\x1b[")
		if before != "" {
			list = append(list, span{before, strings.TrimSpace(class)})
		}
		if !found {
			break
		}
		codes, rest, _ := strings.Cut(after, "m")
		for _, code := range strings.Split(codes, ";") {
			if c, ok := classes[code]; ok {
				class += " " + c
			} else {
				class = ""
			}
		}
		text = rest
	}
	return list
}

// folded breaks a line where a terminal would.
func folded(list []span) [][]span {
	rows := [][]span{nil}
	column := 0
	for _, s := range list {
		for text := []rune(s.text); len(text) > 0; {
			if column == columns {
				rows, column = append(rows, nil), 0
			}
			n := min(len(text), columns-column)
			rows[len(rows)-1] = append(rows[len(rows)-1], span{string(text[:n]), s.class})
			text, column = text[n:], column+n
		}
	}
	return rows
}

func svg(lines []line) string {
	width, shown := columns*cell+2*margin, min(rows, len(lines))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="A run of wfs" xml:space="preserve">
<title>A run of wfs</title>
<desc>%s</desc>
<style>
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.b{font-weight:bold}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#56d364}.m{fill:#d2a8ff}
@media (prefers-reduced-motion:no-preference){
g{animation:%.1fs step-end infinite}
`, width, shown*height+2*margin, width, shown*height+2*margin, html.EscapeString(plain(lines)), seconds+rest)
	percent := func(at float64) string { return fmt.Sprintf("%.1f%%", 100*at/(seconds+rest)) }
	scroll := func(n int) string { return fmt.Sprintf("transform:translateY(%dpx)", -height*max(0, n-rows)) }
	fmt.Fprintf(&b, "#all{animation-name:all}@keyframes all{0%%{%s}", scroll(0))
	for i, l := range lines {
		if i >= rows {
			fmt.Fprintf(&b, "%s{%s}", percent(l.at), scroll(i+1))
		}
	}
	fmt.Fprintf(&b, "100%%{%s}}\n", scroll(len(lines)))
	for i, l := range lines {
		if i > 0 && l.spans != nil {
			fmt.Fprintf(&b, "#l%d{animation-name:l%d}@keyframes l%d{0%%{opacity:0}%s{opacity:1}}\n", i, i, i, percent(l.at))
		}
	}
	fmt.Fprintf(&b, `}
</style>
<rect x=".5" y=".5" width="%.0f" height="%d" rx="8" fill="#0d1117" stroke="#6e7681"/>
<svg x="%d" y="%d" width="%.1f" height="%d"><g id="all" font-family="monospace" font-size="14" fill="#e6edf3" transform="translate(0 %d)">
`, width-1, shown*height+2*margin-1, margin, margin, columns*cell, shown*height, -height*max(0, len(lines)-rows))
	for i, l := range lines {
		if l.spans == nil {
			continue
		}
		fmt.Fprintf(&b, `<g id="l%d">`, i)
		column := 0
		for _, s := range l.spans {
			n := utf8.RuneCountInString(s.text)
			indent := n - utf8.RuneCountInString(strings.TrimLeft(s.text, " "))
			if text := strings.TrimSpace(s.text); text != "" {
				class := ""
				if s.class != "" {
					class = fmt.Sprintf(` class="%s"`, s.class)
				}
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`,
					float64(column+indent)*cell, i*height+13, float64(utf8.RuneCountInString(text))*cell, class, html.EscapeString(text))
			}
			column += n
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g></svg>\n</svg>\n")
	return b.String()
}
