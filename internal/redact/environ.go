package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortest is how long a value of the environment must be to be looked for, in bytes. Shorter ones are words.
const shortest = 8

// secretName tells a variable that holds a secret by the words of its name. One that ends in what is no secret is none:
// SSH_KEY_FILE, AUTH_TOKEN_URL.
func secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(words) == 0 || name == "PWD" || name == "OLDPWD" {
		return false
	}
	switch words[len(words)-1] {
	case "FILE", "FILES", "PATH", "PATHS", "DIR", "SOCK", "SOCKET", "TYPE", "MODE", "NAME", "URL", "URI", "HOST", "PORT", "USER", "TTL",
		"LENGTH", "SIZE", "ENABLED", "PROVIDER", "VERSION", "COMMAND", "CMD", "HELPER", "ASKPASS", "TIMEOUT", "EXPIRY":
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case "PASS", "PWD", "PASSWD", "PAT", "CREDENTIAL", "CREDENTIALS", "COOKIE", "TOKENS", "SECRETS", "KEYS", "AUTH":
			return true
		}
		for _, end := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE"} {
			if strings.HasSuffix(w, end) {
				return true
			}
		}
		return false
	})
}

// forms are the ways in which a value may be written: as it is, and as JSON and addresses have it. One of many lines is looked
// for line by line, since that is how output comes.
func forms(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) < shortest || plainWord(line) || path(line) {
			continue
		}
		all = append(all, line)
		if quoted, err := json.Marshal(line); err == nil {
			all = append(all, string(quoted[1:len(quoted)-1]))
		}
		all = append(all, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line), url.QueryEscape(line), url.PathEscape(line))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// plainWord tells values that are settings: true, disabled, keychain, 31536000.
func plainWord(s string) bool {
	return strings.Trim(s, "0123456789") == "" && len(s) < 12 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" && len(s) < 10
}

// path tells values that name a file.
func path(s string) bool {
	return (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "./")) && strings.Count(s, "/") > 1 && !strings.ContainsAny(s, "+=")
}
