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

// variable lists texts that may differ between two runs with the same failure, each with its replacement. The
// replacements are made in this order.
var variable = sync.OnceValue(func() []struct {
	re *regexp.Regexp
	to string
} {
	list := []struct{ re, to string }{
		{`\s+`, " "},
		{`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`, "<uuid>"},
		{`0x[0-9a-fA-F]+`, "<addr>"},
		{`@[0-9a-f]{5,16}\b`, "@<hash>"}, // an object printed by Java
		{`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?`, "<time>"},
		{`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? `, ""},
		{`\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d{1,2}\b`, "<date>"},
		{`\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b`, "<date>"},
		{`\b\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?\b`, "<n>:<n>"}, // a time, or line:column
		{`\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h))+\b`, "<dur>"},
		{`(?:[A-Za-z]:)?(?:[/\\][\w.@+~-]+){2,}[/\\]?`, "<path>"}, // an absolute path, or the end of a relative one
		{`\b(tmp|temp)[._-]?[A-Za-z0-9_]{4,}`, "<tmp>"},
		{`\b\d+\b`, "<n>"},
		{`\b[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\b|\b[0-9a-f]{8,}\b`, "<hex>"},
		{`\b[A-Za-z]*(?:\d+[A-Za-z]+){3,}\d*\b`, "<id>"}, // an id: no word has letters and digits in turn
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

// Limits of the part of a message that distinguishes failures. The limits are mainly counted in lines, not bytes, so
// that the length of a path or a number does not move the cut.
const (
	maxTellingLines = 60
	maxTellingLine  = 400 // bytes
)

// normalised returns a message without anything that differs from run to run: paths, temporary names, numbers, times,
// durations, addresses and ids. It also sorts the lines, because their order follows that of tests and maps.
func normalised(s string) string {
	// Cut the text first to save time. The rest is far beyond the part that counts.
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

// Fingerprint returns a hash of a failure, to compare it with other failures. It depends on the class, the failing
// tests that count against the attempt, and their messages, so attempts with equal fingerprints failed in the same way.
func Fingerprint(class session.Class, failing []session.TestID, messages map[session.TestID]string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", class)
	for _, id := range slices.Sorted(slices.Values(failing)) {
		fmt.Fprintf(h, "%q %q\n", id, normalised(messages[id]))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}
