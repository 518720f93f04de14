package redact

import (
	"slices"
	"strings"
)

// vendor is what the keys of one look like that have no prefix of their own: only the vendor's name beside one tells it.
type vendor struct {
	name string // in lower case, without - and _
	in   set
	size []int // in characters; nil: a UUID
	bare bool  // the vendor's name is enough; else the name has to say that it is a secret, since commits and digests look alike
}

// vendors are forms of keys as those who issue them document. Where a key has a prefix, it is in the table of tokens.
func vendors() []vendor {
	return []vendor{
		// watching
		{"datadog", hexLow, []int{32}, true}, {"datadog", hexLow, []int{40}, false}, {"sentry", hexLow, []int{32}, true}, {"sentry", hexLow, []int{64}, false},
		{"rollbar", hexLow, []int{32}, true}, {"honeybadger", alnum, []int{36}, false}, {"bugsnag", hexLow, []int{32}, true}, {"airbrake", hexLow, []int{32}, true},
		{"pagerduty", word, []int{20}, false}, {"opsgenie", hexLow, nil, true}, {"statuspage", hexLow, nil, true}, {"splunk", hexLow, nil, true},
		{"sumologic", alnum, []int{64}, false}, {"logdna", hexLow, []int{32}, true}, {"loggly", hexLow, nil, true}, {"newrelic", hexLow, []int{40}, false},
		{"mixpanel", hexLow, []int{32}, true}, {"amplitude", hexLow, []int{32}, true}, {"segment", alnum, []int{32}, false}, {"codecov", hexLow, nil, true},
		// clouds and builds
		{"heroku", hexLow, nil, true}, {"cloudflare", hexLow, []int{37}, true}, {"cloudflare", word, []int{40}, false}, {"fastly", word, []int{32}, false},
		{"vercel", alnum, []int{24}, false}, {"netlify", word, []int{40, 43, 46}, false}, {"circleci", hexLow, []int{40}, false}, {"travis", word, []int{22}, false},
		{"drone", alnum, []int{32}, false}, {"snyk", hexLow, nil, true}, {"sonar", hexLow, []int{40}, false}, {"jfrog", alnum, []int{64, 73}, false},
		{"artifactory", alnum, []int{64, 73}, false}, {"confluent", base64, []int{64}, false}, {"scaleway", hexLow, nil, true}, {"vultr", caps, []int{36}, true},
		{"linode", hexLow, []int{64}, false}, {"alibaba", alnum, []int{30}, false}, {"launchdarkly", word, []int{40}, false},
		// talk, mail and work
		{"twilio", hexLow, []int{32}, true}, {"mailchimp", hexLow, []int{32}, true}, {"mailgun", hexLow, []int{32}, true}, {"mandrill", word, []int{22}, false},
		{"postmark", hexLow, nil, true}, {"sparkpost", hexLow, []int{40}, false}, {"messagebird", alnum, []int{25}, false}, {"nexmo", alnum, []int{16}, false},
		{"pusher", hexLow, []int{20}, true}, {"sendbird", hexLow, []int{40}, false}, {"intercom", base64, []int{60}, false}, {"zendesk", alnum, []int{40}, false},
		{"hubspot", hexLow, nil, true}, {"mattermost", alnum, []int{26}, false}, {"asana", alnum, []int{32}, false}, {"trello", hexLow, []int{32}, true},
		{"trello", hexLow, []int{64}, false}, {"jira", alnum, []int{24}, false}, {"confluence", alnum, []int{24}, false}, {"okta", word, []int{42}, false},
		{"auth0", word, []int{64}, false}, {"discord", hexLow, []int{64}, false}, {"wakatime", hexLow, nil, true},
		// data and money
		{"algolia", hexLow, []int{32}, true}, {"contentful", word, []int{43}, false}, {"airtable", alnum, []int{17}, false}, {"plaid", hexLow, []int{30}, true},
		{"coinbase", word, []int{64}, false}, {"kraken", base64, []int{86, 88}, false}, {"bittrex", hexLow, []int{32}, true}, {"dropbox", alnum, []int{15}, false},
		{"facebook", hexLow, []int{32}, true}, {"twitter", alnum, []int{45, 50}, false}, {"twitch", alnum, []int{30}, false}, {"shodan", alnum, []int{32}, false},
		{"virustotal", hexLow, []int{64}, false}, {"flickr", hexLow, []int{32}, true}, {"openweather", hexLow, []int{32}, true}, {"rapidapi", alnum, []int{50}, false},
		{"maxmind", alnum, []int{16}, false}, {"looker", alnum, []int{24}, false},
	}
}

// secretWords are in names of secrets, harmless ends are those of names beside them, of what is no secret.
var (
	secretWords  = []string{"key", "token", "secret", "auth", "pass", "cred"}
	harmlessEnds = []string{"id", "ids", "uuid", "guid", "sid", "sha", "commit", "hash", "digest", "md5", "sum", "checksum", "etag", "rev", "revision", "ref",
		"version", "release", "build", "url", "name", "region", "zone", "trace", "span", "request", "run", "app", "project", "org", "account", "user"}
)

// How long these keys are, in characters.
const (
	shortestOfVendor = 15
	longestOfVendor  = 88
)

// bySize lists the vendors by the length of a key.
func bySize() *[longestOfVendor + 1][]vendor {
	var table [longestOfVendor + 1][]vendor
	for _, v := range vendors() {
		sizes := v.size
		if sizes == nil {
			sizes = []int{len("00000000-0000-0000-0000-000000000000")}
		}
		for _, n := range sizes {
			table[n] = append(table[n], v)
		}
	}
	return &table
}

// ofVendor finds the key of a vendor behind the sign at i, whose name stands before the sign. start is where the value
// begins.
func ofVendor(s string, i, start int, table *[longestOfVendor + 1][]vendor) (from, end int, ok bool) {
	if last := start + shortestOfVendor - 1; last >= len(s) || !base64(s[last]) { // most are none
		return 0, 0, false
	}
	n := 0
	for n <= longestOfVendor && start+n < len(s) && base64(s[start+n]) { // set.run would be slow here
		n++
	}
	if n > longestOfVendor || table[n] == nil {
		return 0, 0, false
	}
	value := s[start : start+n]
	if !mixed(value) {
		return 0, 0, false
	}
	name := ""
	for k := range table[n] {
		v := &table[n][k]
		if v.size == nil && !uuid(value) || v.size != nil && v.in.run(value) != n {
			continue
		}
		if name == "" {
			if from, name = nameBefore(s, i); name == "" {
				return 0, 0, false
			}
		}
		if strings.Contains(name, v.name) && (v.bare || saysSecret(name)) && entropy(value) > 2.5 {
			return from, start + n, true
		}
	}
	return 0, 0, false
}

// nameBefore is the name before the sign at i in lower case and without what separates its words, and where it begins; ""
// when it says of itself that it is of no secret.
func nameBefore(s string, i int) (from int, name string) {
	from = i
	for from > 0 && i-from < 60 && (dotted(s[from-1]) || strings.IndexByte(" \t\"'`\\]", s[from-1]) >= 0) {
		from--
	}
	words := strings.FieldsFunc(strings.ToLower(s[from:i]), func(r rune) bool { return r < 'a' && !(r >= '0' && r <= '9') || r > 'z' })
	if len(words) == 0 || slices.Contains(harmlessEnds, words[len(words)-1]) {
		return from, ""
	}
	return from, strings.Join(words, "")
}

func saysSecret(name string) bool {
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}

// uuid tells 8-4-4-4-12 digits to the base of 16.
func uuid(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !hex(s[i]) {
			return false
		}
	}
	return true
}
