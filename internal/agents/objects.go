package agents

import "encoding/json"

// Bounds of what is kept of one object, in bytes. Events that matter are small; their large parts are contents of files,
// one string each. A line of 3 MB was seen for one edit.
const (
	maxString = 64 << 10  // the rest of a string is skipped
	maxMember = 256 << 10 // so is the rest of an array or object in an event
	maxObject = 1 << 20   // and of the event
	maxDepth  = 100       // deeper values are skipped too; encoding/json gives up at 10,000
	maxScalar = 400       // longer numbers and words are not JSON
	maxNoise  = 1 << 10   // of a line that is not JSON
)

// objects finds the JSON objects in a stream of bytes: one on a line, many on a line, printed over many lines, in an array,
// between other lines. An object that is too long keeps its members, each with its beginning, so that what follows a long
// string is found and memory is bounded. An object that ends with its line inside a string, or before another begins at the
// start of a line, was torn and is skipped.
//
// The result depends on the bytes alone, not on the pieces in which they come.
type objects struct {
	object func([]byte) // gets a valid object, perhaps shortened; the bytes are overwritten after the call
	noise  func([]byte) // gets the beginning of a line that is not JSON

	state  state
	buf    []byte // the object so far, without white space
	open   []byte // the brackets that will close it, innermost last
	safe   int    // length of buf after its last complete value: it can be cut here
	member int    // length of buf where the present member of the object begins
	skip   int    // brackets that are open in a part that is skipped
	kept   int    // bytes kept of the present string, number or word
	start  bool   // the byte before ended a line
}

type state uint8

const (
	between state = iota // no object is open
	inNoise
	inObject
	inString
	inEscape
)

func (v *objects) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		if n := v.plain(p[i:]); n > 0 { // most bytes are in strings
			i, v.start = i+n, false
			continue
		}
		v.step(p[i])
		v.start = p[i] == '\n' || p[i] == '\r'
		i++
	}
	return len(p), nil
}

// end passes on an unfinished line of noise; an unfinished object was torn.
func (v *objects) end() {
	if v.state == inNoise {
		v.noise(v.buf)
	}
	v.reset()
}

// plain keeps the bytes up to the next one that has a meaning in a string or a line of noise, as far as there is room.
func (v *objects) plain(p []byte) int {
	room := maxString - v.kept
	switch v.state {
	case inString:
	case inNoise:
		room = maxNoise - len(v.buf)
	default:
		return 0
	}
	n := 0
	for n < len(p) && p[n] != '\n' && p[n] != '\r' && (v.state == inNoise || p[n] != '"' && p[n] != '\\') {
		n++
	}
	if keep := min(n, room); keep > 0 && v.skip == 0 {
		v.buf, v.kept = append(v.buf, p[:keep]...), v.kept+keep
	}
	return n
}

func (v *objects) reset() {
	v.state, v.buf, v.open, v.skip = between, v.buf[:0], v.open[:0], 0
}

// broken gives up the present object: this byte belongs to a line that is not JSON.
func (v *objects) broken(b byte) {
	v.reset()
	if b != '\n' && b != '\r' {
		v.state, v.buf = inNoise, append(v.buf, b)
	}
}

func (v *objects) step(b byte) {
	if b == '{' && v.start && v.state < inString {
		v.reset() // the one before was torn: agents do not write an inner object at the start of a line
	}
	switch v.state {
	case between:
		switch b {
		case '{':
			v.state = inObject
			v.inside(b)
		case ' ', '\t', '\n', '\r', '[', ']', ',', 0xEF, 0xBB, 0xBF: // the last three are a byte order mark
		default:
			v.broken(b)
		}
	case inNoise: // the end of the line
		v.noise(v.buf)
		v.reset()
	case inObject:
		v.inside(b)
	case inString:
		switch b {
		case '"':
			v.state, v.kept = inObject, 0
			v.keep(b)
		case '\\':
			v.state = inEscape
		default: // a line ends inside a string: it was torn
			v.reset()
		}
	case inEscape:
		if v.state = inString; b == '\n' || b == '\r' {
			v.reset()
			return
		}
		if v.kept += len(`\u0000`); v.kept <= maxString { // kept as a whole, or not at all
			v.keep('\\')
			v.keep(b)
			v.kept -= len(`0000`)
		}
	}
}

// keep adds a byte, unless it belongs to a part that is skipped.
func (v *objects) keep(b byte) {
	if v.skip == 0 {
		v.buf = append(v.buf, b)
	}
}

// inside reads a byte outside of strings.
func (v *objects) inside(b byte) {
	switch b {
	case ' ', '\t', '\n', '\r':
		if v.kept > 0 {
			v.kept = maxScalar // it ends a number or word
		}
	case '{', '[':
		v.kept = 0
		if v.skip > 0 {
			v.skip++
			return
		}
		v.buf, v.open = append(v.buf, b), append(v.open, b+2) // '{' and '}', '[' and ']' are two apart
		v.safe = len(v.buf)
		v.bound()
	case '}', ']':
		v.kept = 0
		v.closed(b)
	case '"':
		v.state, v.kept = inString, 0
		v.keep(b)
	case ',':
		if v.kept = 0; v.skip > 0 {
			return
		}
		v.safe = len(v.buf)
		v.buf = append(v.buf, b)
		v.bound()
	case ':':
		v.kept = 0
		v.keep(b)
	default:
		if v.kept++; v.kept > maxScalar || len(v.buf) == 1 {
			v.broken(b)
			return
		}
		v.keep(b)
	}
}

func (v *objects) closed(b byte) {
	switch last := len(v.open) - 1; {
	case v.skip > 0:
		v.skip--
	case v.open[last] != b:
		v.broken(b)
		return
	default:
		v.buf, v.open = append(v.buf, b), v.open[:last]
	}
	if v.skip > 0 || len(v.open) > 0 {
		return
	}
	if json.Valid(v.buf) {
		v.object(v.buf)
	} else {
		v.noise(v.buf[:min(len(v.buf), maxNoise)])
	}
	v.reset()
}

// bound skips the rest of the open values when they have become too long or too deep.
func (v *objects) bound() {
	depth := len(v.open)
	if depth == 1 {
		v.member = len(v.buf)
	}
	switch {
	case depth > 1 && (len(v.buf)-v.member > maxMember || depth > maxDepth):
		v.skip = depth - 1
	case depth == 1 && len(v.buf) > maxObject:
		v.skip = 1
	default:
		return
	}
	v.buf = v.buf[:v.safe]
	for left := depth - v.skip; len(v.open) > left; v.open = v.open[:len(v.open)-1] {
		v.buf = append(v.buf, v.open[len(v.open)-1])
	}
}
