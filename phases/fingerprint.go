package phases

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// What differs between two runs that fail in the same way, and what stands for it.
var variable = sync.OnceValue(func() []struct {
	re *regexp.Regexp
	to string
} {
	list := []struct{ re, to string }{
		{`0x[0-9a-fA-F]+`, "<addr>"},
		{`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?`, "<time>"},
		{`\b\d+(\.\d+)?(ns|µs|us|ms|s|m|h)\b`, "<dur>"},
		{`(?:[A-Za-z]:)?(?:[/\\][\w.@+~-]+){2,}[/\\]?`, "<path>"}, // absolute, and the tail of relative ones
		{`\b[0-9a-f]{8,}\b`, "<hex>"},
		{`\d+`, "<n>"},
		{`\s+`, " "},
	}
	out := make([]struct {
		re *regexp.Regexp
		to string
	}, len(list))
	for i, l := range list {
		out[i].re, out[i].to = regexp.MustCompile(l.re), l.to
	}
	return out
})

// normalised takes out of a message what changes from run to run: paths, temporary directories, numbers, times,
// durations and addresses.
func normalised(s string) string {
	s = excerpt(s, maxExcerpt)
	for _, v := range variable() {
		s = v.re.ReplaceAllString(s, v.to)
	}
	return strings.TrimSpace(s)
}

// fingerprint is a digest of a failure: its class, the tests that are held against the attempt, and what they said. Two
// attempts with the same fingerprint failed in the same way.
func fingerprint(class session.Class, failing []session.TestID, messages map[session.TestID]string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", class)
	for _, id := range slices.Sorted(slices.Values(failing)) {
		fmt.Fprintf(h, "%q %q\n", id, normalised(messages[id]))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}
