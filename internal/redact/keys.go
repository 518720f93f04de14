package redact

import (
	"bytes"
	"strings"
)

// Key is a part of a file that is certainly a secret: a private key with its body, or a token that nothing else looks
// like.
type Key struct {
	Kind string   // kind of secret, for messages
	Line int      // number of the line on which it begins, from 1
	Text []string // the token, or the lines of the private key, without any text around them
}

// Keys returns the secrets in a file of which it is certain. For binary content it returns nil.
func (r *Redactor) Keys(content []byte) []Key {
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return nil
	}
	s := string(content)
	var keys []Key
	add := func(kind string, at int, text ...string) {
		if len(text) > 0 {
			keys = append(keys, Key{kind, 1 + strings.Count(s[:at], "\n"), text})
		}
	}
	const private = "private key"
	for _, f := range (&keyState{}).find(s, nil) {
		add(private, f.start, keyLines(s[f.start:f.end])...)
	}
	if i := strings.Index(s, "\nPrivate-Lines: "); i >= 0 && strings.Contains(s, "PuTTY-User-Key-File-") {
		add(private, i+1, strings.Fields(s[i:])[2:]...)
	}
	past := 0
	r.begins.in(s, func(i int) {
		if i < past {
			return
		}
		f, form := r.token(s, i)
		if form == nil {
			return
		}
		past = f.end
		token := s[f.start+len(form.prefix) : f.end]
		if form.sure > 0 && len(token) >= form.sure && !strings.Contains(token, "EXAMPLE") && likely(token) {
			add(form.kind, f.start, s[f.start:f.end])
		}
	})
	return keys
}

// keyLines returns those lines of a private key that are long enough to identify it.
func keyLines(s string) (lines []string) {
	for i := 0; i < len(s); {
		start := i
		kind, n := charAt(s, i)
		for ; kind == inBody; kind, n = charAt(s, i) {
			if i += n; i == len(s) {
				break
			}
		}
		if keyBody(s[start:i], 20) {
			lines = append(lines, s[start:i])
		}
		if kind != inBody {
			i += n
		}
	}
	return lines
}
