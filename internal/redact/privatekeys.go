package redact

import "strings"

const (
	keyEnd  = "-----END "
	keyMax  = 32 << 10 // a private key ends at most so many bytes after its first line
	keyIdle = 20       // a private key ends after so many lines in a row without key text
)

// keyState says whether a text, or a part of a stream, ends inside a private key, so that the search can continue in
// the next part. Each line of a key may have other text around the key (a log's time, diff marks, indentation, JSON).
// Other lines may be between the lines of a key, and the end mark may be missing.
type keyState struct {
	inside bool
	size   int // number of bytes since the key began
	idle   int // number of lines in a row without key text
}

// find appends the spans of the private keys in a text. If only white space is between two lines of a key, both are in
// one span.
func (k *keyState) find(s string, found []span) []span {
	what := "" // stays empty if the key began in an earlier text, where its mark is
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

// lineAt returns where the line at an offset ends, and where the next one begins. A line break may be written as an
// escape, such as \n.
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

// keyStops finds the end of a key on a line: its end mark, or the start of another key. `stops` is false if there is
// none. The line up to `body` belongs to the key, and the end mark is between `body` and `stop`.
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

// shortestOfKey is the minimum length of key text inside a key, in characters.
const shortestOfKey = 12

// line calls `add` for each part of a line that is key text. `at` is the offset of the line in the whole text.
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

// keyBegin finds the line that begins a private key, and returns where the line's mark starts and ends.
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

// keyBody reports whether a run of characters looks like key text: it has at least `least` characters, with capital and
// small letters. Digests and most names of directories do not look like that.
func keyBody(run string, least int) bool {
	if len(run) < least {
		return false
	}
	uppers, lowers, digits := count(run)
	return uppers > 0 && lowers > 0 && (digits > 0 || len(run) >= 40)
}

// The kinds of characters in a line of a key.
const (
	foreign = iota
	inBody
	lineEnd
)

// charAt returns the kind and the length of the character at i. The character may be written as a JSON escape, and the
// escape's backslash may be escaped again.
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

// escape returns the kind of an escaped character, and the length of the escape without the backslash.
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

// blank reports whether the text between two lines of a key consists of white space and line breaks, which may be
// escaped.
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
