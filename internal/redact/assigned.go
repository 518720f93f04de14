package redact

import "strings"

// bearers finds what stands behind "Bearer" and "Basic", as in headers.
func bearers(s string, found []span) []span {
	for _, word := range []string{"earer ", "asic "} {
		for at := 0; ; {
			i := strings.Index(s[at:], word)
			if i < 0 {
				break
			}
			start := at + i + len(word)
			at = start
			n := set(func(b byte) bool { return folder(b) || b == '~' }).run(s[start:])
			v := s[start : start+n]
			if word == "asic " && !strings.Contains(strings.ToLower(s[max(0, start-40):start]), "authorization") {
				continue
			}
			if n >= 16 && likely(v) && !named(v) {
				found = append(found, span{start - len(word) - 1, start, start + n, mark("authorization")})
			}
		}
	}
	return found
}

// addresses finds passwords in addresses: scheme://user:password@host.
func addresses(s string, found []span) []span {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return found
		}
		from := at + i
		at = from + 3
		n := set(func(b byte) bool { return b > ' ' && b < 0x7f && strings.IndexByte("\"'`<>\\/()[]{},", b) < 0 }).run(s[at:])
		user := s[at : at+n]
		host := strings.LastIndexByte(user, '@')
		if host < 0 {
			continue
		}
		colon := strings.IndexByte(user[:host], ':')
		if colon < 0 || host-colon < 4 || strings.IndexByte("$<{*%", user[colon+1]) >= 0 {
			continue
		}
		found = append(found, span{from, at + colon + 1, at + host, mark("password")})
	}
}

// assigned finds what is given to a name that says it is secret, and looks drawn at random: NAME=…, "name": "…", --name ….
func assigned(s string, table *[longestOfVendor + 1][]vendor, found []span) []span {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '=' || s[i] == ':':
		case s[i] == ' ' && i > 3 && telling(s, i):
			if k := strings.LastIndexByte(s[max(0, i-40):i], ' '); !strings.HasPrefix(s[max(0, i-40)+k+1:i], "--") {
				continue
			}
		default:
			continue
		}
		from, how := name(s, i)
		start, quoted := valueAt(s, i)
		if from, end, ok := ofVendor(s, i, start, table); ok {
			found = append(found, span{from, start, end, mark("secret")})
			i = end - 1
			continue
		}
		if how == ordinary {
			continue
		}
		end := start + set(secretByte).run(s[start:min(len(s), start+judged)])
		for end > start && strings.IndexByte(".:!?", s[end-1]) >= 0 { // the end of a sentence
			end--
		}
		if end < len(s) && (s[end] == '(' || s[end] == '[' || s[end] == '{') { // code that gets it from elsewhere
			continue
		}
		if how.fits(s[start:end], quoted) {
			if end == start+judged {
				end += set(secretByte).run(s[end:])
			}
			found = append(found, span{from, start, end, mark("secret")})
			i = end - 1
		}
	}
	return found
}

// judged is how much of a value is looked at before it is believed to be a secret, in bytes.
const judged = 512

func secretByte(b byte) bool {
	return b > ' ' && b < 0x7f && strings.IndexByte("\"'`\\,;()[]{}<>&|", b) < 0
}

// valueAt is where the value behind the sign at i begins, and whether it is in quotes.
func valueAt(s string, i int) (start int, quoted bool) {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '=', ':', '>', ' ', '\t':
		case '"', '\'', '`':
			quoted = true
		case '\\':
			switch rest := s[i+1:]; {
			case strings.HasPrefix(rest, "u00") && len(rest) > 4: // <, >, & and quotes, as some write them in JSON
				i += 5
			case rest != "" && rest[0] != '"' && rest[0] != '\'':
				return i, quoted
			}
		default:
			return i, quoted
		}
	}
	return i, quoted
}

// telling tells quickly whether a name that ends at i may say that its value is secret.
func telling(s string, i int) bool {
	if i < 3 {
		return false
	}
	switch string([]byte{s[i-3] | 0x20, s[i-2] | 0x20, s[i-1] | 0x20}) { // in lower case
	case "ord", "swd", "pwd", "ase", "ret", "key", "ken", "ial", "als", "uth", "ass", "kie":
		return true
	}
	return false
}

// strength is how much a name says about its value.
type strength int

const (
	ordinary strength = iota
	weak              // "key", "token": mostly other things
	strong            // "password", "api_key"
)

// name reads the name before the sign at i, and says where it begins.
func name(s string, i int) (int, strength) {
	end := i
	for end > 0 && strings.IndexByte(" \t\"'`\\]:", s[end-1]) >= 0 && i-end < 6 {
		end--
	}
	if !telling(s, end) {
		return end, ordinary
	}
	from := end
	for from > 0 && dotted(s[from-1]) && end-from < 64 {
		from--
	}
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(s[from:end]))
	if plain == "pwd" || plain == "oldpwd" {
		return from, ordinary
	}
	for _, w := range []string{"password", "passwd", "passphrase", "pwd", "secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey",
		"encryptionkey", "signingkey", "masterkey", "accountkey", "storagekey", "servicekey", "licensekey", "deploykey", "subscriptionkey",
		"appkey", "clientkey", "adminkey", "sharedkey", "accesstoken", "authtoken", "apitoken", "refreshtoken", "bearertoken",
		"sessiontoken", "bottoken", "usertoken", "githubtoken", "npmtoken", "credential", "credentials"} {
		if strings.HasSuffix(plain, w) {
			return from, strong
		}
	}
	for _, w := range []string{"token", "key", "auth", "pass", "cookie"} {
		if strings.HasSuffix(plain, w) {
			return from, weak
		}
	}
	return from, ordinary
}

// fits tells whether a value looks like a secret behind a name of this strength.
func (how strength) fits(v string, quoted bool) bool {
	if len(v) < 8 || strings.IndexByte("$%*/~.#@-", v[0]) >= 0 || strings.Contains(v, "://") || strings.Contains(v, "${") || !mixed(v) {
		return false
	}
	digits, uppers, lowers := 0, 0, 0
	for i := range len(v) {
		switch {
		case digit(v[i]):
			digits++
		case upper(v[i]):
			uppers++
		case lower(v[i]):
			lowers++
		}
	}
	if how == weak {
		return len(v) >= 20 && entropy(v) >= 3.7 && !named(v) && digits >= 3 && uppers > 0 && lowers > 0 && strings.Count(v, "/") < 3 && strings.Count(v, ".") < 3 && strings.Count(v, "-")+strings.Count(v, "_") < 4
	}
	if strings.HasPrefix(v, "sha256:") || strings.Count(v, "/") > 2 && !strings.ContainsAny(v, "+=") {
		return false
	}
	if !quoted && set(dotted).run(v) == len(v) && !named(v) && (lower(v[0]) || upper(v[0])) { // may be a name in code
		return entropy(v) >= 2.7 && digitRuns(v) >= 2
	}
	return entropy(v) >= 2.7
}

// digitRuns counts the numbers in a text. A name in code has one, as in testKey2048.
func digitRuns(s string) int {
	n := 0
	for i := range len(s) {
		if digit(s[i]) && (i == 0 || !digit(s[i-1])) {
			n++
		}
	}
	return n
}
