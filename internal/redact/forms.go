package redact

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

//go:embed tokens.txt
var tokens string

//go:embed vendors.txt
var vendors string

// form describes a kind of token: the prefix, which characters follow it, and how many. If the key of a vendor has no
// prefix, `prefix` is the vendor's name.
type form struct {
	kind   string
	prefix string
	in     set
	least  int
	most   int    // maximum number of the characters; 0: no maximum
	has    string // a text that they must contain; "" for none
	sure   int    // with so many characters it is certainly a token; 0: it is never certain
}

// parse reads the forms in a table. It skips the lines that describe the table.
func parse(table string) (all []form) {
	for line := range strings.Lines(table) {
		kind, rest, ok := strings.Cut(line, ": ")
		class, rest, bounded := strings.Cut(strings.TrimLeft(rest, " ["), "]{")
		if !ok || !bounded {
			continue
		}
		f := form{kind: kind, in: of(class)}
		words := strings.Fields(rest)
		size, has, _ := strings.Cut(words[0], "}")
		least, most, open := strings.Cut(size, ",")
		f.has, f.least = has, number(least)
		if f.most = f.least; open {
			f.most = number(most)
		}
		for _, word := range words[1:] {
			prefix, sure, _ := strings.Cut(word, "=")
			f.prefix, f.sure = prefix, number(sure)
			all = append(all, f)
		}
	}
	return all
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// token finds a token that begins at i and has a known form. The form is nil if there is none.
func (r *Redactor) token(s string, i int) (span, *form) {
	forms := r.tokens[s[i]]
	if len(forms) == 0 || !begins(s, i) && s[i] != ':' {
		return span{}, nil
	}
	for k := range forms {
		f := &forms[k]
		if !strings.HasPrefix(s[i:], f.prefix) {
			continue
		}
		if n := f.length(s[i+len(f.prefix):]); n > 0 {
			return span{from: i, start: i, end: i + len(f.prefix) + n, mark: mark(f.kind)}, f
		}
	}
	return span{}, nil
}

// length returns the length of the token's part after the prefix. `rest` is the text after the prefix. The result is 0
// if rest does not fit the form.
func (f *form) length(rest string) int {
	n := f.in.run(rest)
	if n < f.least || f.most > 0 && n > f.most || !strings.Contains(rest[:n], f.has) {
		return 0
	}
	if likely(rest[:n]) || len(f.prefix) >= 5 && entropy(rest[:n]) >= 2.5 {
		return n
	}
	return 0
}

// names reports whether `value` is a key of this form's vendor: it has the right characters, and `name`, to which it is
// assigned, contains the vendor's name.
func (f *form) names(name, value string) bool {
	return f.in.run(value) == len(value) && (f.kind != "uuid" || uuid().MatchString(value)) &&
		strings.Contains(name, f.prefix) && (f.kind != "secret" || containsAny(name, secretWords))
}

// The name of a secret contains one of secretWords. A name that ends in one of harmlessEnds has no secret value, even
// if it contains a vendor's name.
var (
	secretWords  = strings.Fields("key token secret auth pass cred")
	harmlessEnds = strings.Fields(
		"id ids uuid guid sid sha commit hash digest md5 sum checksum etag rev revision ref version release build " +
			"url name region zone trace span request run app project org account user")
)

// The minimum and maximum length of vendors' keys, in characters.
const (
	shortestOfVendor = 15
	longestOfVendor  = 88
)

// ofVendor finds a vendor's key that the sign at i assigns to a name that contains the vendor's name. `start` is the
// index at which the value begins. It returns where the name begins and where the key ends.
func (r *Redactor) ofVendor(s string, i, start int) (from, end int, ok bool) {
	if last := start + shortestOfVendor - 1; last >= len(s) || !base64(s[last]) { // a quick check
		return 0, 0, false
	}
	value := s[start : start+base64.run(s[start:min(len(s), start+longestOfVendor+1)])]
	forms := r.vendors[len(value)]
	if forms == nil || !mixed(value) || entropy(value) <= 2.5 {
		return 0, 0, false
	}
	from, name := nameBefore(s, i)
	for _, f := range forms {
		if f.names(name, value) {
			return from, start + len(value), true
		}
	}
	return 0, 0, false
}

// nameBefore returns where the name before the sign at i begins, and the name in lower case, without separators. The
// name is "" if its last word is one of harmlessEnds.
func nameBefore(s string, i int) (from int, name string) {
	from = i
	for from > 0 && i-from < 60 && (dotted(s[from-1]) || strings.IndexByte(" \t\"'`\\]", s[from-1]) >= 0) {
		from--
	}
	words := strings.FieldsFunc(strings.ToLower(s[from:i]), func(r rune) bool { return r >= 0x80 || !alnum(byte(r)) })
	if len(words) == 0 || slices.Contains(harmlessEnds, words[len(words)-1]) {
		return from, ""
	}
	return from, strings.Join(words, "")
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
