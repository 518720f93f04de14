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

// KeyKind says what kind of secret the content of a file holds that is certainly one, "" for none: a private key with its
// body, or a token of a form that nothing else has.
func (r *Redactor) KeyKind(content []byte) string {
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return "" // no text
	}
	s := string(content)
	var k keyState
	k.find(s, nil)
	if k.full > 0 || strings.Contains(s, "PuTTY-User-Key-File-") && strings.Contains(s, "\nPrivate-Lines: ") {
		return "private key"
	}
	for _, f := range tokens(s, &r.tokens, nil) {
		for prefix, least := range unmistakable {
			token, ok := strings.CutPrefix(s[f.start:f.end], prefix)
			if ok && len(token) >= least && !strings.Contains(token, "EXAMPLE") && likely(token) {
				return strings.TrimSuffix(strings.TrimPrefix(f.mark, "[redacted: "), "]")
			}
		}
	}
	return ""
}
