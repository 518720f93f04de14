package redact

import "strings"

const (
	keyEnd  = "-----END "
	keyMax  = 32 << 10 // bytes behind the beginning of a private key that may be of it
	keyIdle = 20       // lines in a row that are not of the key, before it is taken to have ended without an end
)

// keyState is where a text, or a stream of them, stands in a private key. Lines of a key may have anything before and
// behind them (a log's time, the marks of a diff, indentation, JSON), may lie between other lines, and may have no end.
type keyState struct {
	inside bool
	size   int // bytes since it began
	idle   int // lines in a row that were not of it
}

// find appends the private keys of a text, one span for lines that follow each other with nothing between them.
func (k *keyState) find(s string, found []span) []span {
	what := "" // of a key that goes on, the mark stands where it begins
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

// lineAt is where the line at a place ends, written as one or escaped, and where the next one begins.
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

// keyStops is where a key stops on a line: before another one begins, or behind the mark of its end. What is
// before body is of the key; what is from there to stop is the mark.
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

// shortestOfKey is how long a run of characters must be to be taken for a part of a key that has begun.
const shortestOfKey = 12

// line adds what of a line is of the key.
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

// keyBegin finds the line that begins a private key.
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

// keyBody tells a line of a key: long, and of capital and small letters. Names of directories and digests are not.
func keyBody(run string, least int) bool {
	if len(run) < least {
		return false
	}
	uppers, lowers, digits := count(run)
	return uppers > 0 && lowers > 0 && (digits > 0 || len(run) >= 40)
}

// Kinds of what a text in a key consists of.
const (
	foreign = iota
	inBody
	lineEnd
)

// charAt is the kind and the length of what stands at i: a byte, or what JSON writes for one. Escapes may be
// escaped again.
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

// escape is the kind and the length of what follows a backslash.
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

// blank tells what may stand between two lines of a key: nothing but white space and ends of lines.
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
