package redact

import "strings"

// What the secrets of headers, addresses and options stand behind.
const (
	bearer = "earer "
	basic  = "asic "
	scheme = "://"
	option = "--"

	// longestOption is how long a name of an option may be that is looked at, in bytes.
	longestOption = 40

	// What may stand before an option. It is not looked for in the middle of a ruler.
	beforeOption = " \n\t\"'`=([{,"
)

func visible(b byte) bool { return b > ' ' && b < 0x7f }

// authorization finds what stands behind "Bearer" and "Basic", as in headers, whose second letter is at i.
func authorization(s string, i int, found []span) []span {
	start := i + strings.IndexByte(s[i:], ' ') + 1
	n := set(func(b byte) bool { return folder(b) || b == '~' }).run(s[start:])
	v := s[start : start+n]
	if s[i] == basic[0] && !strings.Contains(strings.ToLower(s[max(0, start-40):start]), "authorization") {
		return found
	}
	if n >= 16 && likely(v) && !named(v) {
		found = append(found, span{from: max(i, 1) - 1, start: start, end: start + n, mark: mark("authorization")})
	}
	return found
}

// address finds the password in an address, scheme://user:password@host, whose "://" is at i.
func address(s string, i int, found []span) []span {
	at := i + len(scheme)
	user := s[at : at+set(func(b byte) bool { return b > ' ' && b < 0x7f && strings.IndexByte("\"'`<>\\/()[]{},", b) < 0 }).run(s[at:])]
	host := strings.LastIndexByte(user, '@')
	if host < 0 {
		return found
	}
	colon := strings.IndexByte(user[:host], ':')
	if colon < 0 || host-colon < 4 || strings.IndexByte("$<{*%", user[colon+1]) >= 0 {
		return found
	}
	return append(found, span{from: i, start: at + colon + 1, end: at + host, mark: mark("password")})
}

// optional finds the value of an option, --name value, whose name begins at i.
func (r *Redactor) optional(s string, i int, found []span) []span {
	n := strings.IndexByte(s[i:min(len(s), i+longestOption+1)], ' ')
	if n < 0 || !telling(s, i+n) {
		return found
	}
	if f, ok := assignment(s, i+n, r.keys); ok {
		found = append(found, f)
	}
	return found
}

// assigned finds what is given to a name that says it is secret, and looks drawn at random: NAME=…, "name": "…".
func assigned(s string, table *[longestOfVendor + 1][]vendor, found []span) []span {
	past, equal, colon := 0, indexFrom(s, '=', 0), indexFrom(s, ':', 0)
	for {
		i := min(equal, colon)
		switch {
		case i == len(s):
			return found
		case i == equal:
			equal = indexFrom(s, '=', i+1)
		default:
			colon = indexFrom(s, ':', i+1)
		}
		if i < past {
			continue
		}
		if f, ok := assignment(s, i, table); ok {
			found, past = append(found, f), f.end
		}
	}
}

// indexFrom is where a byte is next, the length of the text where it is not.
func indexFrom(s string, b byte, from int) int {
	if n := strings.IndexByte(s[from:], b); n >= 0 {
		return from + n
	}
	return len(s)
}

// assignment finds what is given to the name before the sign at i.
func assignment(s string, i int, table *[longestOfVendor + 1][]vendor) (f span, ok bool) {
	start, quoted := valueAt(s, i)
	if from, end, ok := ofVendor(s, i, start, table); ok {
		return span{from: from, start: start, end: end, mark: mark("secret")}, true
	}
	from, how := name(s, i)
	if how == ordinary {
		return f, false
	}
	end := start + set(secretByte).run(s[start:min(len(s), start+judged)])
	for end > start && strings.IndexByte(".:!?", s[end-1]) >= 0 { // the end of a sentence
		end--
	}
	if end < len(s) && (s[end] == '(' || s[end] == '[' || s[end] == '{') { // code that gets it from elsewhere
		return f, false
	}
	if !how.fits(s[start:end], quoted) {
		return f, false
	}
	if end == start+judged {
		end += set(secretByte).run(s[end:])
	}
	return span{from: from, start: start, end: end, mark: mark("secret")}, true
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
	return tellingEnds[int(s[i-3]&0x1f)<<10|int(s[i-2]&0x1f)<<5|int(s[i-1]&0x1f)]
}

// tellingEnds has the last three letters of such names, by what is the same in small and capital ones.
var tellingEnds = func() (ends [1 << 15]bool) {
	for _, s := range []string{"ord", "swd", "pwd", "ase", "ret", "key", "ken", "ial", "als", "uth", "ass", "kie"} {
		ends[int(s[0]&0x1f)<<10|int(s[1]&0x1f)<<5|int(s[2]&0x1f)] = true
	}
	return ends
}()

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
