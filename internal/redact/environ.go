package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortest is the minimum length of a value from the environment to search for, in bytes. Shorter ones are words.
const shortest = 8

// Words in names of variables. A last word in plainLast means that there is no secret, as in SSH_KEY_FILE and
// AUTH_TOKEN_URL. A word in secretNames, or one that ends as in secretNameEnds, means that there is one.
var (
	plainLast = strings.Fields("FILE FILES PATH PATHS DIR SOCK SOCKET TYPE MODE NAME URL URI HOST PORT USER TTL LENGTH SIZE ENABLED " +
		"PROVIDER VERSION COMMAND CMD HELPER ASKPASS TIMEOUT EXPIRY")
	secretNames    = strings.Fields("PASS PWD PASSWD PAT CREDENTIAL CREDENTIALS COOKIE TOKENS SECRETS KEYS AUTH")
	secretNameEnds = strings.Fields("KEY TOKEN SECRET PASSWORD PASSPHRASE")
)

// secretName reports whether a variable holds a secret, judged by the words of its name.
func secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return strings.ContainsRune("_-.", r) })
	if len(words) == 0 || name == "PWD" || name == "OLDPWD" || slices.Contains(plainLast, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(secretNames, w) ||
			slices.ContainsFunc(secretNameEnds, func(end string) bool { return strings.HasSuffix(w, end) })
	})
}

// forms returns the ways in which a value may be written: literally, and escaped for JSON and URLs. It splits a value
// of several lines, because output is searched line by line.
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
		all = append(all, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line), url.QueryEscape(line),
			url.PathEscape(line))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// plainWord reports whether a value looks like a setting: true, disabled, keychain, 31536000.
func plainWord(s string) bool {
	return strings.Trim(s, "0123456789") == "" && len(s) < 12 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" &&
		len(s) < 10
}

// path reports whether a value looks like a file path.
func path(s string) bool {
	return (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "./")) &&
		strings.Count(s, "/") > 1 && !strings.ContainsAny(s, "+=")
}
