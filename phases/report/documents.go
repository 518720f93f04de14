package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// Limits for documents that are read as a whole.
const (
	maxDocument  = 64 << 20 // bytes
	maxJSONTries = 100      // attempts to find an object that can be parsed
	maxDepth     = 1000     // nested elements; real suites nest far fewer
)

var tooLarge = fmt.Sprintf("it is larger than %d bytes", maxDocument)

const truncated = "it is truncated or malformed"

// jsonDocuments calls `read` for each JSON object in a text that has the given key. `damage` is the reason why some
// objects may be missing; "" if there is none.
func jsonDocuments[T any](data []byte, key string, read func(T)) (damage string) {
	mark := []byte(`"` + key + `"`)
	for tries := 0; tries < maxJSONTries && bytes.Contains(data, mark); {
		data = bytes.TrimLeft(data, " \t\r\n")
		if data[0] == '{' {
			tries++
			dec := json.NewDecoder(bytes.NewReader(data))
			var raw json.RawMessage
			if dec.Decode(&raw) == nil {
				var doc T
				if bytes.Contains(raw, mark) && json.Unmarshal(raw, &doc) != nil {
					damage = "it does not match the format"
				} else if bytes.Contains(raw, mark) {
					read(doc)
				}
				data = data[dec.InputOffset():]
				continue
			}
		}
		_, data, _ = bytes.Cut(data, []byte{'\n'})
		if !bytes.Contains(data, mark) {
			damage = truncated
		}
	}
	return damage
}

// xmlReader receives the elements of one XML document.
type xmlReader interface {
	start(xml.StartElement)
	text([]byte)
	end(name string)
}

// xmlDocuments reads all XML documents in a text whose root element matches. begin returns the reader for a document.
// Characters that XML forbids are read as spaces. `damage` is the reason why a document may be incomplete; "" if there
// is none.
func xmlDocuments(data []byte, root *lazyregexp.Regexp, begin func() xmlReader) (damage string) {
	data = bytes.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, data)
	for at := root.FindIndex(data); at != nil; at = root.FindIndex(data) {
		data = data[at[0]:]
		dec := xml.NewDecoder(bytes.NewReader(data))
		dec.Strict = false
		if readXML(dec, begin()) != nil {
			damage = truncated
		}
		data = data[dec.InputOffset():]
	}
	return damage
}

func readXML(dec *xml.Decoder, to xmlReader) error {
	for depth := 0; ; {
		t, err := dec.RawToken()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return io.ErrShortBuffer
			}
			to.start(t)
		case xml.CharData:
			to.text(t)
		case xml.EndElement:
			to.end(t.Name.Local)
			if depth--; depth <= 0 {
				return nil
			}
		}
	}
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
