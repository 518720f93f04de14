package tamper

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
)

// Without is a file of which nobody knows more than on which sides it is.
func (f File) Without() File {
	out := File{Path: f.Path, Unread: true}
	if f.Before != nil {
		out.Before = []byte{}
	}
	if f.After != nil {
		out.After = []byte{}
	}
	return out
}

// maxCode bounds how much code is parsed for one comparison, in bytes of both sides together. A megabyte takes about a
// quarter of a second, and sixty of memory.
const maxCode = 8 << 20

// bound leaves out what is too much to be parsed, largest files first, and keeps changed tests before all else. When there
// is that much, what only got another layout is no part of it.
func (c *comparison) bound() {
	size := func(f File) int { return len(f.Before) + len(f.After) }
	var code []int
	total := 0
	for i, f := range c.Files {
		if kind := classOf(f.Path); !f.Unread && languageOf(f.Path) != nil && (kind == tests || kind == source) {
			code, total = append(code, i), total+size(f)
		}
	}
	if total <= maxCode {
		return
	}
	rank := func(f File) int {
		if f.Before != nil && classOf(f.Path) == tests {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(code, func(a, b int) int {
		return cmp.Or(rank(c.Files[a])-rank(c.Files[b]), size(c.Files[a])-size(c.Files[b]))
	})
	total = 0
	for _, i := range code {
		f := &c.Files[i]
		if f.layout = sameButLayout(*f); f.layout {
			continue
		}
		total += size(*f)
		f.Unread = total > maxCode
	}
}

// sameButLayout reports whether two texts differ in nothing but what formatters change, and comments.
func sameButLayout(f File) bool {
	if f.Before == nil || f.After == nil {
		return false
	}
	l := languageOf(f.Path)
	return statements(l, f.Before) == statements(l, f.After)
}

// statements is a text by its words, and where a statement ends with its line also by how far each is indented.
func statements(l *language, src []byte) string {
	toks := scan(l, src)
	if !l.lines {
		return joined(toks, "")
	}
	var b strings.Builder
	from := 0
	for i := 0; i <= len(toks); i++ {
		if i < len(toks) && toks[i].kind != newline {
			continue
		}
		if i > from {
			fmt.Fprintf(&b, "%d %s\n", toks[from].col, joined(toks[from:i], ""))
		}
		from = i + 1
	}
	return b.String()
}

// unread says what is known of a file that is not compared: that tests, or what they are run by, are not what they were.
func (c *comparison) unread(f File) {
	found := Finding{Kind: TooMuch, Path: f.Path, After: fmt.Sprintf("more than %d MB of code, or %d MB in all, have changed: this is not compared", maxCode>>20, MaxBytes>>20)}
	if f.deep {
		found.After = "too much of it stands in each other: this is not compared"
	}
	switch kind := classOf(f.Path); {
	case kind == tests:
		found.Grave = f.Before != nil || reaches(f)
	case kind == config, c.runByGate(f.Path), path.Ext(f.Path) == ".rs" && bytes.Contains(f.Before, []byte("#[cfg(")):
		found.Grave = true
	case kind == fixture:
		if f.Before == nil {
			return
		}
		found.Grave = true
	case kind != source:
		return
	}
	c.found(found)
}

// reaches reports whether a new test may change how others are run.
func reaches(f File) bool {
	if path.Base(f.Path) == "conftest.py" {
		return true
	}
	return slices.ContainsFunc([]string{"TestMain(", "TestCase.", "builtins", "_pytest", "pytest_", "sys.modules", "setattr"}, func(w string) bool {
		return bytes.Contains(f.After, []byte(w))
	})
}

// decoded is a text in UTF-8. One in UTF-16 says so by how it begins.
func decoded(b []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return b
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return []byte(string(utf16.Decode(units[1:])))
}
