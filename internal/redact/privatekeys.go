package redact

import "strings"

const (
	keyEnd  = "-----END "
	keyMax  = 32 << 10 // maximum bytes of a private key after its first line
	keyIdle = 20       // lines in a row without key text after which the key counts as ended
)

// keyState is the position in a private key at the end of a text or of a part of a stream. Lines of a key may have any
// text around them (a log's time, diff marks, indentation, JSON), may alternate with other lines, and may lack an end.
type keyState struct {
	inside bool
	size   int // bytes since its start
	idle   int // lines in a row that did not belong to it
}

// find appends the private keys of a text. Lines with nothing but white space between them share one span.
func (k *keyState) find(s string, found []span) []span {
	what := "" // empty if the key continues from an earlier text, which has its mark
	own := len(found)
	add := func(start, end int) {
		if n := len(found); n > own && blank(s[found[n-1].end:start]) {
			found[n-1].end = end
			return
		}
		found = append(found, span{from: start, start: start, end: end, mark: what})
		what = ""
	}
	for at := 0; at < len(s); {
		if !k.inside {
			start, end, ok := keyBegin(s[at:])
			if !ok {
				break
			}
			*k = keyState{inside: true}
			what, own = mark("private key"), len(found)
			add(at+start, at+end)
			at += end
			continue
		}
		end, next := lineAt(s, at)
		body, stop, stops := keyStops(s[at:end])
		k.line(s[at:at+body], at, add)
		if k.inside = !stops; stops {
			next = at + stop
		}
		if stop > body {
			add(at+body, next)
		}
		if k.size += next - at; k.size > keyMax || k.idle > keyIdle {
			k.inside = false
		}
		at = next
	}
	return found
}

// lineAt returns the end of the line at an offset and the start of the next one. A line break may be escaped.
func lineAt(s string, at int) (end, next int) {
	for end = at; end < len(s); {
		kind, n := charAt(s, end)
		if next = end + n; kind == lineEnd {
			return end, next
		}
		end = next
	}
	return end, end
}

// keyStops finds where a key ends on a line: before the start of another key, or after its own end mark. The text
// before body belongs to the key, and the end mark goes from body to stop.
func keyStops(line string) (body, stop int, stops bool) {
	e := strings.Index(line, keyEnd)
	if start, _, ok := keyBegin(line); ok && (e < 0 || start < e) {
		return start, start, true
	}
	if e < 0 {
		return len(line), 0, false
	}
	stop = e + len(keyEnd)
	if i := strings.Index(line[stop:], "-----"); i >= 0 && i < 60 {
		stop += i + len("-----")
	}
	return e, stop, true
}

// shortestOfKey is the minimum length of a run of characters that counts as part of an open key.
const shortestOfKey = 12

// line adds the parts of a line that belong to the key.
func (k *keyState) line(line string, at int, add func(start, end int)) {
	if strings.TrimSpace(line) == "" {
		return
	}
	k.idle++
	head := strings.TrimLeft(line, "+-|>*# \t0123456789")
	if strings.HasPrefix(head, "Proc-Type: ") || strings.HasPrefix(head, "DEK-Info: ") {
		add(at+len(line)-len(head), at+len(line))
		return
	}
	for i := 0; i < len(line); {
		start := i
		kind, n := charAt(line, i)
		for kind == inBody {
			if i += n; i == len(line) {
				break
			}
			kind, n = charAt(line, i)
		}
		switch {
		case i == start:
			i += n
		case keyBody(line[start:i], shortestOfKey):
			add(at+start, at+i)
			k.idle = 0
		}
	}
}

// keyBegin finds the first line of a private key.
func keyBegin(s string) (start, end int, ok bool) {
	for at := 0; ; {
		const word = "PRIVATE KEY"
		i := strings.Index(s[at:], word)
		if i < 0 {
			return 0, 0, false
		}
		i += at
		at = i + len(word)
		from := max(0, i-40)
		head := strings.LastIndex(s[from:i], "BEGIN ")
		if head < 0 || !strings.HasSuffix(s[:from+head], "----") {
			continue
		}
		start, end = len(strings.TrimRight(s[:from+head], "-")), at
		if rest := strings.TrimPrefix(s[end:], " BLOCK"); strings.HasPrefix(rest, "----") {
			end = len(s) - len(strings.TrimLeft(rest, "-"))
		}
		return max(start, from+head-5), end, true
	}
}

// keyBody reports whether a run looks like a line of a key: long, with capital and small letters. Names of directories
// and digests do not.
func keyBody(run string, least int) bool {
	if len(run) < least {
		return false
	}
	uppers, lowers, digits := count(run)
	return uppers > 0 && lowers > 0 && (digits > 0 || len(run) >= 40)
}

// Kinds of characters in a key.
const (
	foreign = iota
	inBody
	lineEnd
)

// charAt returns the kind and the length of the character at i, which may be a JSON escape. Escapes may be escaped
// again.
func charAt(s string, i int) (kind, n int) {
	switch c := s[i]; {
	case c == '\n' || c == '\r':
		return lineEnd, 1
	case c != '\\' && base64(c):
		return inBody, 1
	case c != '\\':
		return foreign, 1
	}
	end := i
	for end < len(s) && s[end] == '\\' {
		end++
	}
	kind, n = escape(s[end:])
	return kind, end - i + n
}

// escape returns the kind and the length of the rest of an escape after the backslash.
func escape(rest string) (kind, n int) {
	switch {
	case rest == "":
	case rest[0] == 'n' || rest[0] == 'r':
		return lineEnd, 1
	case rest[0] == '/':
		return inBody, 1
	case len(rest) >= 5 && rest[:3] == "u00":
		switch strings.ToLower(rest[3:5]) {
		case "0a", "0d":
			return lineEnd, 5
		case "2b", "2f", "3d":
			return inBody, 5
		}
	}
	return foreign, 0
}

// blank reports whether a text between two lines of a key has only white space and line breaks.
func blank(s string) bool {
	for i := 0; i < len(s); {
		kind, n := charAt(s, i)
		if kind != lineEnd && s[i] != ' ' && s[i] != '\t' {
			return false
		}
		i += n
	}
	return true
}
