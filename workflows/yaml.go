package workflows

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxFileSize is the largest workflow or configuration file that is read, in bytes. Files that people write are a
// hundredth of it; the bound keeps a hostile one from costing memory and time.
const MaxFileSize = 1 << 20

// node is one value of a file. It knows its line and nothing of the library that read it.
type node struct {
	kind    kind
	line    int
	from    *Layer  // the layer that it stands in, nil in a workflow
	tag     string  // of a scalar: "!!str", "!!int", "!!bool", "!!null", …
	text    string  // of a scalar
	entries []entry // of a mapping
	items   []*node // of a list
}

type entry struct{ key, value *node }

type kind int

const (
	scalar kind = iota
	mapping
	list
	unreadable // already reported
)

// load reads the one document of a file. It returns nil when there is nothing to look at.
func (r *reader) load(text []byte) *node {
	if len(text) > MaxFileSize {
		r.fail(1, "the file has %d bytes; at most %d are read", len(text), MaxFileSize)
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if line := invalidUTF8(text); line > 0 {
		r.fail(line, "the text is not UTF-8")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, further yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		r.fail(1, "the file is empty")
		return nil
	} else if err != nil {
		r.syntax(text, err)
		return nil
	}
	switch err := dec.Decode(&further); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(text, err)
	default:
		r.fail(further.Line, "the file holds more than one document")
	}
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		r.fail(1, "the file is empty")
		return nil
	}
	return r.convert(doc.Content[0])
}

// convert reports anchors and aliases, which wfs does not expand: what runs must stand where it is read, and a few
// lines of aliases can stand for gigabytes.
func (r *reader) convert(y *yaml.Node) *node {
	n := &node{line: y.Line, from: r.layer}
	if y.Anchor != "" {
		r.fail(y.Line, "anchors (&%s) are not supported: write the value out where it is used", clip(y.Anchor))
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.kind, n.tag, n.text = scalar, y.ShortTag(), y.Value
	case yaml.MappingNode:
		n.kind = mapping
		for i := 0; i+1 < len(y.Content); i += 2 {
			key, value := r.convert(y.Content[i]), r.convert(y.Content[i+1])
			if value.kind != scalar || value.tag == "!!null" {
				value.line = key.line // where a person looks for it; the parser names the first line inside
			}
			n.entries = append(n.entries, entry{key, value})
		}
	case yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			n.items = append(n.items, r.convert(item))
		}
	default:
		n.kind = unreadable
		r.fail(y.Line, "aliases (*%s) are not supported: write the value out where it is used", clip(y.Value))
	}
	return n
}

func (r *reader) syntax(text []byte, err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, message = n, after
		}
	}
	r.fail(syntaxLine(text, line), "this is not valid YAML: %s", message)
}

// syntaxLine finds the line of a syntax error. The parser names the start of the block that it was in, which may be
// the first line of the file, or a line beside the right one. The right one is the first after the longest run of lines
// that can be read by itself. Large files keep the parser's word, so that the cost is bounded.
func syntaxLine(text []byte, reported int) int {
	const maxBytes, maxLines = 32 << 10, 500
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(text) > maxBytes || len(lines) > maxLines {
		return reported
	}
	good, end := 0, 0
	for i, line := range lines {
		end += len(line)
		if readable(text[:end]) {
			good = i + 1
		}
	}
	for good+1 < len(lines) && len(bytes.TrimSpace(lines[good])) == 0 {
		good++
	}
	return min(good+1, len(lines))
}

func readable(text []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		if err := dec.Decode(&doc); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// invalidUTF8 returns the line of the first byte that is not UTF-8, or 0.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	line := 1
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		if c == utf8.RuneError && size == 1 {
			break
		}
		if c == '\n' {
			line++
		}
		text = text[size:]
	}
	return line
}
