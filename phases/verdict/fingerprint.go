package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// What differs between two runs that fail in the same way, and what stands for it, in this order.
var variable = sync.OnceValue(func() []struct {
	re *regexp.Regexp
	to string
} {
	list := []struct{ re, to string }{
		{`\s+`, " "},
		{`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`, "<uuid>"},
		{`0x[0-9a-fA-F]+`, "<addr>"},
		{`@[0-9a-f]{5,16}\b`, "@<hash>"}, // an object, as Java prints it
		{`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?`, "<time>"},
		{`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? `, ""},
		{`\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}\b`, "<date>"},
		{`\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b`, "<date>"},
		{`\b\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?\b`, "<n>:<n>"}, // a time, or a line and a column: both are numbers
		{`\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h))+\b`, "<dur>"},
		{`(?:[A-Za-z]:)?(?:[/\\][\w.@+~-]+){2,}[/\\]?`, "<path>"}, // absolute, and the tail of relative ones
		{`\b(tmp|temp)[._-]?[A-Za-z0-9_]{4,}`, "<tmp>"},
		{`\b\d+\b`, "<n>"},
		{`\b[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\b|\b[0-9a-f]{8,}\b`, "<hex>"},
		{`\b[A-Za-z]*(?:\d+[A-Za-z]+){3,}\d*\b`, "<id>"}, // digits and letters by turns: no word
		{`\d+`, "<n>"},
		{`(?:<n>[.:,]?)+<n>`, "<n>"},
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

// Bounds of what of a message tells failures apart. They count lines, not bytes: what is cut must not depend on
// how long a path or a number is.
const (
	maxTellingLines = 60
	maxTellingLine  = 400 // bytes
)

// normalised takes out of a message what changes from run to run: paths, temporary names, numbers, times, durations,
// addresses, ids, and the order of lines, which is that of tests and of maps.
func normalised(s string) string {
	// What is cut here is far behind what counts, and would only cost time.
	s = safetext.Strip(s[:min(len(s), 8*maxTellingLines*maxTellingLine)])
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(lines) == maxTellingLines {
			break
		}
		line = line[:min(len(line), 5*maxTellingLine)]
		for _, v := range variable() {
			line = v.re.ReplaceAllString(line, v.to)
		}
		lines = append(lines, strings.TrimSpace(line[:min(len(line), maxTellingLine)]))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// Fingerprint is a digest of a failure: its class, the tests that are held against the attempt, and what they said. Two
// attempts with the same fingerprint failed in the same way.
func Fingerprint(class session.Class, failing []session.TestID, messages map[session.TestID]string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", class)
	for _, id := range slices.Sorted(slices.Values(failing)) {
		fmt.Fprintf(h, "%q %q\n", id, normalised(messages[id]))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}
