package redact

import (
	"slices"
	"strings"
)

// Texts that stand before a secret in headers, addresses and options.
const (
	bearer = "earer "
	basic  = "asic "
	scheme = "://"
	option = "--"

	// longestOption is the longest name of an option that is considered, in bytes.
	longestOption = 40

	// beforeOption has the characters of which one must stand before an option. Without it, the search would try every
	// position in a line of dashes.
	beforeOption = " \n\t\"'`=([{,"
)

// authorization finds the value after "Bearer" or "Basic", as in HTTP headers. `i` is the index of the word's second
// letter.
func authorization(s string, i int, found []span) []span {
	start := i + strings.IndexByte(s[i:], ' ') + 1
	n := set(func(b byte) bool { return folder(b) || b == '~' }).run(s[start:])
	v := s[start : start+n]
	if s[i] == basic[0] && !strings.Contains(strings.ToLower(s[max(0, start-40):start]), "authorization") {
		return found
	}
	if n >= 16 && likely(v) && !digest().MatchString(v) {
		found = append(found, span{from: max(i, 1) - 1, start: start, end: start + n, mark: mark("authorization")})
	}
	return found
}

// address finds the password in an address like scheme://user:password@host. `i` is the index of "://".
func address(s string, i int, found []span) []span {
	at := i + len(scheme)
	user := s[at : at+set(func(b byte) bool {
		return visible(b) &&
			strings.IndexByte("\"'`<>\\/()[]{},", b) < 0
	}).run(s[at:])]
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

// optional finds the value in "--name value", if the name sounds secret. `i` is the index of the first dash.
func (r *Redactor) optional(s string, i int, found []span) []span {
	n := strings.IndexByte(s[i:min(len(s), i+longestOption+1)], ' ')
	if n < 0 || !telling(s, i+n) {
		return found
	}
	if f, ok := r.assignment(s, i+n); ok {
		found = append(found, f)
	}
	return found
}

// assigned finds the values that are assigned to names: NAME=…, "name": "…". The name must sound secret, and the value
// must look random.
func (r *Redactor) assigned(s string, found []span) []span {
	past := 0
	for i := range len(s) {
		if s[i] != '=' && s[i] != ':' || i < past {
			continue
		}
		if f, ok := r.assignment(s, i); ok {
			found, past = append(found, f), f.end
		}
	}
	return found
}

// assignment finds the value that the sign at i, such as "=", assigns to the name before it. `ok` is false if the value
// is not a secret.
func (r *Redactor) assignment(s string, i int) (f span, ok bool) {
	start, quoted := valueAt(s, i)
	if from, end, ok := r.ofVendor(s, i, start); ok {
		return span{from: from, start: start, end: end, mark: mark("secret")}, true
	}
	from, fits := name(s, i)
	if fits == nil {
		return f, false
	}
	end := start + set(secretByte).run(s[start:min(len(s), start+judged)])
	for end > start && strings.IndexByte(".:!?", s[end-1]) >= 0 { // a sentence may end with the value
		end--
	}
	if end < len(s) && strings.IndexByte("([{", s[end]) >= 0 { // not a value, but a call in code that returns the value
		return f, false
	}
	if !fits(s[start:end], quoted) {
		return f, false
	}
	if end == start+judged {
		end += set(secretByte).run(s[end:])
	}
	return span{from: from, start: start, end: end, mark: mark("secret")}, true
}

// judged is how many bytes at the start of a value decide whether it is a secret.
const judged = 512

func secretByte(b byte) bool {
	return visible(b) && strings.IndexByte("\"'`\\,;()[]{}<>&|", b) < 0
}

// valueAt returns the index at which the value after the sign at i begins, and whether it is in quotes.
func valueAt(s string, i int) (start int, quoted bool) {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '=', ':', '>', ' ', '\t':
		case '"', '\'', '`':
			quoted = true
		case '\\':
			switch rest := s[i+1:]; {
			case strings.HasPrefix(rest, "u00") && len(rest) > 4: // JSON escapes for <, >, & and quotes
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

// telling reports whether a name that ends at i may be the name of a secret. It is a quick check: it looks only at the
// name's last three letters.
func telling(s string, i int) bool {
	return i >= 3 && strings.Contains("ord swd pwd ase ret key ken ial als uth ass kie", strings.ToLower(s[i-3:i]))
}

// Ends of names, in lower case and without separators. A name with one of strongEnds is the name of a secret. A name
// with one of weakEnds is mostly the name of something else, so its value must look more random.
var (
	strongEnds = strings.Fields("password passwd passphrase pwd secret apikey accesskey secretkey privatekey authkey encryptionkey " +
		"signingkey masterkey accountkey storagekey servicekey licensekey deploykey subscriptionkey appkey clientkey adminkey sharedkey " +
		"accesstoken authtoken apitoken refreshtoken bearertoken sessiontoken bottoken usertoken githubtoken npmtoken credential credentials")
	weakEnds = strings.Fields("token key auth pass cookie")
)

// name reads the name before the sign at i. It returns the index at which the name begins, and a function that reports
// whether a value of this name is a secret. The function is nil if no value of this name is one.
func name(s string, i int) (int, func(v string, quoted bool) bool) {
	end := i
	for end > 0 && strings.IndexByte(" \t\"'`\\]:", s[end-1]) >= 0 {
		end--
	}
	if !telling(s, end) {
		return end, nil
	}
	from := end
	for from > 0 && dotted(s[from-1]) && end-from < 64 {
		from--
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(s[from:end]))
	ends := func(end string) bool { return strings.HasSuffix(plain, end) }
	switch {
	case plain == "pwd" || plain == "oldpwd":
	case slices.ContainsFunc(strongEnds, ends):
		return from, fitsStrong
	case slices.ContainsFunc(weakEnds, ends):
		return from, fitsWeak
	}
	return from, nil
}

// plausible reports whether a value may be a secret. It is none if it is short, or if it looks like a word, a variable,
// an address or a path.
func plausible(v string) bool {
	return len(v) >= 8 && strings.IndexByte("$%*/~.#@-", v[0]) < 0 && !strings.Contains(v, "://") &&
		!strings.Contains(v, "${") && mixed(v)
}

func fitsWeak(v string, _ bool) bool {
	uppers, lowers, digits := count(v)
	return plausible(v) && len(v) >= 20 && entropy(v) >= 3.7 && !digest().MatchString(v) && digits >= 3 &&
		uppers > 0 && lowers > 0 &&
		strings.Count(v, "/") < 3 && strings.Count(v, ".") < 3 && strings.Count(v, "-")+strings.Count(v, "_") < 4
}

func fitsStrong(v string, quoted bool) bool {
	if !plausible(v) || strings.HasPrefix(v, "sha256:") || strings.Count(v, "/") > 2 && !strings.ContainsAny(v, "+=") {
		return false
	}
	// An unquoted value may be a name in code. Such a name has at most one number in it, as in testKey2048.
	inCode := !quoted && dotted.run(v) == len(v) && !digest().MatchString(v) && alnum(v[0]) && v[0] > '9' &&
		len(numbers().FindAllString(v, 2)) < 2
	return entropy(v) >= 2.7 && !inCode
}
