package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortest is the minimum length, in bytes, of an environment variable's value that is removed from texts. Shorter
// values are mostly words.
const shortest = 8

// Words in the names of environment variables. A variable whose name ends in a word of plainLast is not secret, such as
// SSH_KEY_FILE and AUTH_TOKEN_URL. Any other variable is secret if its name has a word of secretNames, or a word that
// ends in one of secretNameEnds.
var (
	plainLast = strings.Fields("FILE FILES PATH PATHS DIR SOCK SOCKET TYPE MODE NAME URL URI HOST PORT USER TTL LENGTH SIZE ENABLED " +
		"PROVIDER VERSION COMMAND CMD HELPER ASKPASS TIMEOUT EXPIRY")
	secretNames    = strings.Fields("PASS PWD PASSWD PAT CREDENTIAL CREDENTIALS COOKIE TOKENS SECRETS KEYS AUTH")
	secretNameEnds = strings.Fields("KEY TOKEN SECRET PASSWORD PASSPHRASE")
)

// secretName reports whether an environment variable with this name is secret.
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

// forms returns the forms in which a value may occur in output: as it is, and escaped for JSON and for URLs. A value of
// several lines becomes several values, because output is searched line by line.
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

// plainWord reports whether a value looks like a setting and not like a secret, such as true, disabled, keychain or
// 31536000.
func plainWord(s string) bool {
	return strings.Trim(s, "0123456789") == "" && len(s) < 12 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" &&
		len(s) < 10
}

// path reports whether a value looks like a file path.
func path(s string) bool {
	return (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "./")) &&
		strings.Count(s, "/") > 1 && !strings.ContainsAny(s, "+=")
}
