package tamper

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// goBuild finds constraints that keep a Go test file out of the build.
func (c *comparison) goBuild(f pair) {
	if !strings.HasSuffix(f.path, "_test.go") || f.raw.Before == nil || f.raw.After == nil {
		return
	}
	had := string(f.raw.Before)
	for n, line := range strings.Split(string(f.raw.After), "\n") {
		if strings.HasPrefix(line, "package ") {
			return
		}
		if line = strings.TrimSpace(line); (strings.HasPrefix(line, "//go:build ") || strings.HasPrefix(line, "// +build ")) && !strings.Contains(had, line) {
			c.found(Finding{Kind: Skipped, Path: f.path, Line: n + 1, After: line, Grave: true})
		}
	}
}

// hooks finds what changes how all tests of a directory are run.
func (c *comparison) hooks(f pair) {
	if f.after == nil {
		return
	}
	if f.after.l.name == "python" {
		c.pytest(f)
	}
	if f.after.l.name == "go" {
		c.testMain(f)
	}
	c.patches(f)
}

// fixtures compares what tests read.
func (c *comparison) fixtures() {
	added := map[string]map[string]bool{} // what new files mean, by the way in which their texts are read
	had := func(way string, text []byte) bool {
		if added[way] == nil {
			added[way] = map[string]bool{}
			for _, f := range c.data {
				if f.Before == nil {
					added[way][meant(way, f.After)] = true
				}
			}
		}
		return added[way][meant(way, text)]
	}
	for _, f := range c.data {
		switch {
		case f.Before == nil:
		case f.After == nil:
			moved := had("", f.Before) || had(path.Ext(f.Path), f.Before)
			unused := c.mentions(f.Path, false) && !c.mentions(f.Path, true)
			if !moved {
				c.found(Finding{Kind: NoFixture, Path: f.Path, Grave: !unused})
			}
		case sameData(f.Path, f.Before, f.After):
		case isSnapshot(f.Path):
			c.snapshot(f)
		default:
			line, a, b := firstDifference(f.Before, f.After)
			c.found(Finding{Kind: Fixture, Path: f.Path, Line: line, Before: a, After: b, Grave: true})
		}
	}
}

// mentions reports whether a text of a test has the name of a file, as the tests were or as they are.
func (c *comparison) mentions(file string, now bool) bool {
	if c.texts == nil {
		c.texts = map[bool]string{false: c.textsOf(func(f pair) *parsed { return f.before }), true: c.textsOf(func(f pair) *parsed { return f.after })}
	}
	return strings.Contains(c.texts[now], path.Base(file))
}

// textsOf are the texts of all tests of one side.
func (c *comparison) textsOf(of func(pair) *parsed) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, f := range c.test {
		if p := of(f); p != nil {
			for _, t := range p.toks {
				if t.kind == text && !seen[t.text] {
					seen[t.text] = true
					b.WriteString(t.text + "\x00")
				}
			}
		}
	}
	return b.String()
}

// sameData reports whether two texts mean the same: what formatters do to JSON and to code does not count.
func sameData(file string, a, b []byte) bool {
	way := path.Ext(file)
	return bytes.Equal(a, b) || meant("", a) == meant("", b) || meant(way, a) == meant(way, b)
}

// meant is a text without what formatters change, by the extension of its file. Ends of lines never count.
func meant(way string, b []byte) string {
	if way == ".json" {
		var out bytes.Buffer
		if json.Compact(&out, b) == nil {
			return out.String()
		}
	} else if l := languageOf("x" + way); l != nil {
		return joined(scan(l, b), "")
	}
	return string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
}

func isSnapshot(file string) bool {
	return strings.HasSuffix(file, ".snap") || strings.HasSuffix(file, ".ambr")
}

// snapshots are the entries of a file of snapshots, by their names as they are written.
func snapshots(b []byte) map[string]string {
	mark := regexp.MustCompile("(?m)^(?:exports\\[`(.*)`\\] = |# name: (.*)$)")
	out := map[string]string{}
	at := mark.FindAllSubmatchIndex(b, -1)
	for i, m := range at {
		end := len(b)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		out[string(b[m[0]:m[1]])] = strings.TrimSpace(string(b[m[1]:end]))
	}
	return out
}

// snapshot compares its entries: new ones are new tests.
func (c *comparison) snapshot(f File) {
	was, now := snapshots(f.Before), snapshots(f.After)
	for _, name := range sorted(was) {
		text, there := now[name]
		title := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "exports[`"), "# name: "), "`] = ")
		switch {
		case !there:
			c.found(Finding{Kind: NoFixture, Path: f.Path, Test: title, Before: "an entry of the snapshot"})
		case text != was[name]:
			_, a, b := firstDifference([]byte(was[name]), []byte(text))
			c.found(Finding{Kind: Fixture, Path: f.Path, Test: title, Before: a, After: b, Grave: true})
		}
	}
}

// firstDifference is the first line that two texts do not share.
func firstDifference(a, b []byte) (line int, was, now string) {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range max(len(x), len(y)) {
		was, now = "", ""
		if i < len(x) {
			was = x[i]
		}
		if i < len(y) {
			now = y[i]
		}
		if was != now {
			return i + 1, short(was), short(now)
		}
	}
	return 0, "", ""
}

// short is a line of a text, as long as a finding shows.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown-1]) + "…"
	}
	return s
}
