package redact

import "strings"

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
)

// keys finds private keys: from what begins one to what ends it, on one line as JSON has it or on many. One without an end
// goes as far as lines look like it, and on in the next text if that is the end of this one. inside says that this text goes
// on with one.
func keys(s string, inside bool) (found []span, open bool) {
	at := 0
	for {
		start, text := at, mark("private key")
		if inside {
			text = "" // the mark stands where the key begins
		} else {
			i := strings.Index(s[at:], keyBegin)
			if i < 0 {
				return found, false
			}
			head := s[at+i+len(keyBegin) : min(len(s), at+i+60)]
			if head, _, _ = strings.Cut(head, "-----"); !strings.Contains(head, "PRIVATE KEY") {
				at += i + len(keyBegin)
				continue
			}
			start = at + i
		}
		end := keyLength(s[start:], inside)
		if e := strings.Index(s[start:start+end], keyEnd); e >= 0 {
			end = e + len(keyEnd)
			if i := strings.Index(s[start+end:], "-----"); i >= 0 && i < 60 {
				end += i + len("-----")
			}
		} else if start+end == len(s) {
			return append(found, span{start, start, len(strings.TrimRight(s, "\r\n")), text}), true
		}
		if seen := strings.TrimRight(s[start:start+end], "\r\n"); seen != "" {
			found = append(found, span{start, start, start + len(seen), text})
		}
		at, inside = start+end, false
	}
}

// keyLength is how far a text looks like a private key: over its first line, if that begins one, up to what cannot be of one,
// and over the lines behind it.
func keyLength(s string, inside bool) int {
	n := 0
	for line := range strings.Lines(s) {
		if n == 0 && !inside {
			if n = firstLine(line); n < len(line) {
				return n
			}
			continue
		}
		if !keyLine(line) {
			return n
		}
		n += len(line)
	}
	return n
}

// firstLine is how much of the line is of the key that it begins: all of it, or up to the quote that ends it where line
// ends are written as \n.
func firstLine(line string) int {
	if e := strings.Index(line, keyEnd); e >= 0 {
		return len(line)
	}
	n := len(keyBegin)
	for n < len(line) && (base64(line[n]) || strings.IndexByte(" \t\r\n\\", line[n]) >= 0) {
		n++
	}
	return n
}

// keyLine tells lines that may be of a private key, also behind the number or the mark of a line. The last one is shorter
// than the others, and of whole groups of four.
func keyLine(line string) bool {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(strings.TrimLeft(line, "+-|>*# 0123456789"), keyEnd[5:]) || strings.HasPrefix(line, "Proc-Type: ") || strings.HasPrefix(line, "DEK-Info: ") {
		return true
	}
	f := strings.Fields(line)
	if len(f) == 2 && strings.IndexFunc(f[0], func(r rune) bool { return r < 0x80 && alnum(byte(r)) && !digit(byte(r)) }) < 0 {
		f = f[1:]
	}
	if len(f) != 1 {
		return len(f) == 0
	}
	body := strings.Trim(f[0], "+-|>*#\"',;\\")
	return len(body) <= 200 && set(base64).run(body) == len(body) && (len(body) >= 40 || len(body)%4 == 0)
}
