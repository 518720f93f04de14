package redact

import (
	"bytes"
	"strings"
)

// unmistakable are the kinds of tokens that nothing else looks like, as known has them, with how much follows the prefix.
// Here an ordinary file that is taken for a secret costs more than one that is not: others are only taken out of what is
// printed.
var unmistakable = map[string]int{
	"AKIA": 16, "ASIA": 16, "ghp_": 36, "gho_": 36, "ghu_": 36, "ghs_": 36, "ghr_": 36, "github_pat_": 70, "glpat-": 20,
	"xoxb-": 40, "xoxp-": 40, "xoxa-": 40, "xoxr-": 40, "xoxs-": 40, "hooks.slack.com/": 40, "sk-ant-": 40, "sk-proj-": 40, "sk-": 48,
	"sk_live_": 20, "rk_live_": 20, "AIza": 35, "npm_": 36, "pypi-": 60, "SG.": 60, "AGE-SECRET-KEY-1": 40, "GOCSPX-": 28,
}

// Key is a secret in a file that is certainly one: a private key with its body, or a token of a form that nothing else has.
type Key struct {
	Kind string   // for people
	Line int      // where it begins, from 1
	Text []string // the token, or the lines of the key, without what stands before and behind them
}

// Keys returns the keys in the content of a file, nil for what is no text.
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
		f, ok := r.token(s, i)
		if !ok {
			return
		}
		past = f.end
		for prefix, least := range unmistakable {
			token, ok := strings.CutPrefix(s[f.start:f.end], prefix)
			if ok && len(token) >= least && !strings.Contains(token, "EXAMPLE") && likely(token) {
				add(strings.TrimSuffix(strings.TrimPrefix(f.mark, "[redacted: "), "]"), f.start, s[f.start:f.end])
				break
			}
		}
	})
	return keys
}

// keyLines are the full lines of a private key.
func keyLines(s string) (lines []string) {
	for i := 0; i < len(s); {
		start := i
		kind, n := charAt(s, i)
		for ; kind == inBody; kind, n = charAt(s, i) {
			if i += n; i == len(s) {
				break
			}
		}
		if keyBody(s[start:i]) {
			lines = append(lines, s[start:i])
		}
		if kind != inBody {
			i += n
		}
	}
	return lines
}
