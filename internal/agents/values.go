package agents

// The bounds of what is kept of one object, in bytes. Events that matter are small; what is large in them is the content
// of files, one string each. A line of 3 MB was seen for one edit, and nothing says that it ends there.
const (
	maxString = 64 << 10  // the rest of a string is passed over
	maxMember = 256 << 10 // so is the rest of an array or object in an event
	maxObject = 1 << 20   // and of the event
	maxDepth  = 100       // what is deeper is passed over as well; encoding/json gives up at 10,000
	maxScalar = 400       // longer numbers and words are none
	maxNoise  = 1 << 10   // of a line that is no JSON
)

// values finds the JSON objects in a stream of bytes: one on a line, many on a line, printed over many lines, in an array,
// between lines that are none. An object that is too long keeps its members, each with its beginning: so what follows a
// long string is found, and the memory is bounded. An object that ends with its line inside a string, or before another
// begins at the start of a line, was torn and is passed over.
//
// What it does depends on the bytes alone, not on the pieces in which they come.
type values struct {
	value func([]byte) // an object, as the agent wrote it or shortened; valid until the call returns
	noise func([]byte) // the beginning of a line that is no JSON

	state  state
	buf    []byte // the object so far, without white space
	stack  []byte // what is open in buf: '{' and '['
	safe   int    // the length of buf after its last complete value: here it can be cut
	member int    // the length of buf where the present member of the object begins
	depth  int    // what is open in the input, while a part of it is passed over
	until  int    // the depth at which that ends
	str    int    // bytes of the present string that are kept
	hex    int    // digits of \u that are to come
	clip   bool   // the present string is long enough
	key    bool   // the present string is a key
	start  bool   // the byte before ended a line
}

type state uint8

const (
	between state = iota // no object is open
	inNoise
	wantValue
	wantFirst // a value, or the end of the array
	wantKey
	wantFirstKey // a key, or the end of the object
	wantColon
	wantMore // a comma or an end
	inString
	inEscape
	inHex
	inScalar
	passing // over what is too long
	passingString
	passingEscape
)

func (v *values) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		switch v.state {
		case inString, passingString, inNoise: // most bytes are here
			n := 0
			if v.state == passingString || v.state == inString && v.clip {
				n = passed(p[i:])
			} else {
				n = plain(p[i:], v.state == inNoise)
				v.take(p[i : i+n])
			}
			if i += n; n > 0 {
				v.start = false
				continue
			}
		}
		v.step(p[i])
		v.start = p[i] == '\n' || p[i] == '\r'
		i++
	}
	return len(p), nil
}

// end passes on what the stream ended in.
func (v *values) end() {
	if v.state == inNoise {
		v.noise(v.buf)
	}
	v.reset()
}

// plain counts the bytes before the next one that means something in a string, or in a line of noise.
func plain(p []byte, noise bool) int {
	for i, b := range p {
		if b == '\n' || b == '\r' || !noise && (b == '"' || b == '\\') {
			return i
		}
	}
	return len(p)
}

// passed counts the bytes of a string of which nothing is kept, up to its end or to an escape that step has to look at.
func passed(p []byte) int {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '"', '\n', '\r':
			return i
		case '\\':
			if i+1 == len(p) || p[i+1] == 'u' || p[i+1] == '\n' || p[i+1] == '\r' {
				return i
			}
			i++
		}
	}
	return len(p)
}

// take keeps plain bytes, as far as there is room.
func (v *values) take(p []byte) {
	switch v.state {
	case inNoise:
		v.buf = append(v.buf, p[:min(len(p), maxNoise-len(v.buf))]...)
	case inString:
		if v.clip {
			return
		}
		if room := max(0, maxString-v.str); len(p) > room {
			p, v.clip = p[:room], true
		}
		v.buf = append(v.buf, p...)
		v.str += len(p)
	}
}

func (v *values) reset() {
	v.state, v.buf, v.stack = between, v.buf[:0], v.stack[:0]
}

// broken gives up the present object: this byte belongs to a line that is no JSON.
func (v *values) broken(b byte) {
	v.reset()
	if b != '\n' && b != '\r' {
		v.state = inNoise
		v.take([]byte{b})
	}
}

func (v *values) step(b byte) {
	space := b == ' ' || b == '\t' || b == '\n' || b == '\r'
	if b == '{' && v.start && (v.state < inString || v.state == passing) {
		v.reset() // the one before was torn: nobody writes an inner object at the start of a line
	}
	switch v.state {
	case between:
		switch {
		case b == '{':
			v.open(b)
		case space, b == '[', b == ']', b == ',', b == 0xEF, b == 0xBB, b == 0xBF: // the last three are a byte order mark
		default:
			v.broken(b)
		}
	case inNoise: // the end of the line
		v.noise(v.buf)
		v.reset()
	case wantValue, wantFirst:
		switch {
		case space:
		case b == '{' || b == '[':
			v.open(b)
		case b == '"':
			v.quote(false)
		case b == ']' && v.state == wantFirst:
			v.shut(b)
		case scalar(b):
			v.buf, v.str, v.state = append(v.buf, b), 1, inScalar
		default:
			v.broken(b)
		}
	case wantKey, wantFirstKey:
		switch {
		case space:
		case b == '"':
			v.quote(true)
		case b == '}' && v.state == wantFirstKey:
			v.shut(b)
		default:
			v.broken(b)
		}
	case wantColon:
		switch {
		case space:
		case b == ':':
			v.buf, v.state = append(v.buf, b), wantValue
		default:
			v.broken(b)
		}
	case wantMore:
		v.more(b, space)
	case inScalar:
		if scalar(b) {
			if v.str++; v.str > maxScalar {
				v.broken(b)
				return
			}
			v.buf = append(v.buf, b)
			return
		}
		v.complete()
		v.step(b)
	case inString:
		v.inside(b)
	case inEscape:
		v.escape(b)
	case inHex:
		if !hexadecimal(b) {
			v.broken(b)
			return
		}
		if !v.clip {
			v.buf = append(v.buf, b)
			v.str++
		}
		if v.hex--; v.hex == 0 {
			v.state = inString
		}
	case passing, passingString, passingEscape:
		v.pass(b)
	}
}

func (v *values) more(b byte, space bool) {
	switch {
	case space:
	case b == ',':
		v.buf = append(v.buf, b)
		if len(v.stack) == 1 {
			v.member = len(v.buf)
		}
		if v.state = wantValue; v.stack[len(v.stack)-1] == '{' {
			v.state = wantKey
		}
	case b == '}' || b == ']':
		v.shut(b)
	default:
		v.broken(b)
	}
}

func (v *values) open(b byte) {
	v.buf, v.stack = append(v.buf, b), append(v.stack, b)
	if v.state = wantFirst; b == '{' {
		v.state = wantFirstKey
	}
	if len(v.stack) == 1 {
		v.member = len(v.buf)
	}
	v.safe = len(v.buf)
	v.bound()
}

func (v *values) shut(b byte) {
	top := v.stack[len(v.stack)-1]
	if top == '{' && b != '}' || top == '[' && b != ']' {
		v.broken(b)
		return
	}
	v.buf, v.stack = append(v.buf, b), v.stack[:len(v.stack)-1]
	if len(v.stack) == 0 {
		v.value(v.buf)
		v.reset()
		return
	}
	v.complete()
}

// complete notes that a value has ended inside the object.
func (v *values) complete() {
	v.state, v.safe = wantMore, len(v.buf)
	v.bound()
}

// bound passes over the rest of what is open when it has become too long or too deep.
func (v *values) bound() {
	switch inner := len(v.stack) > 1; {
	case inner && (len(v.buf)-v.member > maxMember || len(v.stack) > maxDepth):
		v.depth, v.until = len(v.stack), 1
		v.buf = v.buf[:v.safe]
		for ; len(v.stack) > 1; v.stack = v.stack[:len(v.stack)-1] {
			v.buf = append(v.buf, v.stack[len(v.stack)-1]+2) // '{' and '}', '[' and ']' are two apart
		}
		v.safe, v.state = len(v.buf), passing
	case !inner && len(v.buf) > maxObject:
		v.buf = v.buf[:v.safe]
		v.depth, v.until, v.state = 1, 0, passing
	}
}

func (v *values) pass(b byte) {
	switch {
	case v.state == passingEscape:
		v.state = passingString
	case v.state == passingString:
		switch b {
		case '"':
			v.state = passing
		case '\\':
			v.state = passingEscape
		case '\n', '\r':
			v.reset()
		}
	case b == '"':
		v.state = passingString
	case b == '{' || b == '[':
		v.depth++
	case b == '}' || b == ']':
		if v.depth--; v.depth > v.until {
			return
		}
		if v.state = wantMore; v.until == 0 {
			v.shut('}')
		}
	}
}

func (v *values) quote(key bool) {
	v.buf = append(v.buf, '"')
	v.state, v.str, v.clip, v.key = inString, 0, false, key
}

func (v *values) inside(b byte) {
	switch b {
	case '"':
		v.buf = append(v.buf, b)
		if v.key {
			v.state = wantColon
			return
		}
		v.complete()
	case '\\':
		v.state = inEscape
	default: // a line ends inside a string: it was torn
		v.reset()
	}
}

// escape keeps an escape as a whole, or not at all.
func (v *values) escape(b byte) {
	if b == '\n' || b == '\r' {
		v.reset()
		return
	}
	if v.str += 2; v.str > maxString {
		v.clip = true
	}
	if !v.clip {
		v.buf = append(v.buf, '\\', b)
	}
	if v.state = inString; b == 'u' {
		v.state, v.hex = inHex, 4
	}
}

func scalar(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '+' || b == '.'
}

func hexadecimal(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}
