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

// MaxFileSize is the maximum size of a workflow or configuration file, in bytes. Real files are about a hundred times
// smaller. The limit protects memory and time against a hostile file.
const MaxFileSize = 1 << 20

// load returns the only document of a YAML file. It reports mistakes, and returns nil if the file cannot be checked
// further.
func (r *reader) load(text []byte) *yaml.Node {
	if len(text) > MaxFileSize {
		r.failIn(1, "", "the file has %d bytes; at most %d are read", len(text), MaxFileSize)
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		r.failIn(1+bytes.Count(text[:bytes.IndexRune(text, utf8.RuneError)], []byte("\n")), "", "the text is not UTF-8")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, further yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		r.failIn(1, "", "the file is empty")
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
		r.failIn(further.Line, "", "the file holds more than one document")
	}
	if len(doc.Content) != 1 || doc.Content[0].ShortTag() == "!!null" {
		r.failIn(1, "", "the file is empty")
		return nil
	}
	root := doc.Content[0]
	r.prepare(root)
	return root
}

// prepare reports anchors and aliases in a document, which wfs does not support: a command must be written where it is
// used, and a few lines of aliases can expand to gigabytes. It also sets the line of mappings and lists to the line of
// their key, because people look for them there.
func (r *reader) prepare(n *yaml.Node) {
	if n.Anchor != "" {
		r.failIn(n.Line, "", "anchors (&%s) are not supported: write the value out where it is used", clip(n.Anchor))
	}
	if n.Kind == yaml.AliasNode {
		r.failIn(n.Line, "", "aliases (*%s) are not supported: write the value out where it is used", clip(n.Value))
	}
	for i, child := range n.Content {
		r.prepare(child)
		if n.Kind == yaml.MappingNode && i%2 == 1 && (child.Kind != yaml.ScalarNode || child.ShortTag() == "!!null") {
			child.Line = n.Content[i-1].Line
		}
	}
}

// mappingOf returns a mapping with one key. Its line is the line of the value.
func mappingOf(key string, value *yaml.Node) *yaml.Node {
	name := &yaml.Node{Kind: yaml.ScalarNode, Value: key, Line: value.Line}
	return &yaml.Node{Kind: yaml.MappingNode, Line: value.Line, Content: []*yaml.Node{name, value}}
}

// plainValue returns the value of a node as a Go value: string, number, bool, list or map.
func plainValue(n *yaml.Node) any {
	var v any
	_ = n.Decode(&v) // an error is ignored: it was reported before
	return v
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
	r.failIn(syntaxLine(text, line), "", "this is not valid YAML: %s", message)
}

// syntaxLine returns the line of a syntax error. The YAML parser often reports another line: the start of the enclosing
// block, which may be the first line of the file, or a neighbouring line. The right line is the first one after the
// longest beginning of the file that is valid YAML by itself. For large files, syntaxLine returns the reported line,
// because the search would take too long.
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
