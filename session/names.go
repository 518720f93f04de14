// Package session holds the types that all packages share: sessions, events, evidence, and queries of a session's
// history. It reads no file, runs no process and never reads the clock.
package session

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// These types of package workflows are also used in sessions.
type (
	PhaseName = workflows.PhaseName
	Verdict   = workflows.Verdict
)

const (
	Pass    = workflows.Pass
	Fail    = workflows.Fail
	Blocked = workflows.Blocked
)

// ID is the name of a session: `[a-z0-9][a-z0-9-]{0,48}`. "WFS-<slug>" stands for the same session as "<slug>".
type ID string

// Trailer returns the id as "WFS-<slug>", the form that commit trailers and JSON use.
func (id ID) Trailer() string { return "WFS-" + string(id) }

// Exactly returns the id that a full name stands for: a slug, WFS-<slug>, or a branch name wfs/<slug>. It does not
// check that the slug is valid.
func Exactly(name string) ID {
	slug := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(slug, "wfs-"); ok && rest != "" {
		slug = rest
	}
	return ID(strings.TrimPrefix(slug, "wfs/"))
}

// Commit and Tree are full hexadecimal object ids; "" means absent.
type (
	Commit string
	Tree   string
)

// Short returns the first ten digits, for people.
func (c Commit) Short() string { return short(string(c)) }

// Short returns the first ten digits, for people.
func (t Tree) Short() string { return short(string(t)) }

func short(s string) string { return s[:min(10, len(s))] }

// MaxID is the longest slug, in bytes. It leaves room for "refs/heads/wfs/" and ".lock" on every file system.
const MaxID = 49

// wellFormed matches `^[a-z0-9][a-z0-9-]{0,48}$`, without compiling a regular expression at every start.
func wellFormed(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0) {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= MaxID
}

// reserved has names that cannot be ids: device names that Windows reserves, and names with a meaning in git or wfs.
var reserved = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true, "head": true, "auto": true, "ledger": true, "rescue": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "lpt1": true, "lpt2": true, "lpt3": true,
}

// ParseID returns the slug of an id that was typed or read from disk: a slug or WFS-<slug>. It returns an error for
// anything else.
func ParseID(s string) (ID, error) {
	slug := s
	if len(s) > 4 && strings.EqualFold(s[:4], "wfs-") {
		slug = strings.ToLower(s[4:])
	}
	if !wellFormed(slug) || strings.HasSuffix(slug, "-") || reserved[slug] {
		return "", fmt.Errorf("%q is not a session id: use small letters, digits and dashes, at most %d", s, MaxID)
	}
	return ID(slug), nil
}

// Slug derives a valid id from a topic. A topic without usable letters becomes "session". If `taken` reports that an id
// must not be used again, Slug adds a number to it.
func Slug(topic string, taken func(ID) bool) ID {
	var b strings.Builder
	for _, r := range strings.ToLower(topic) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-")
	if len(slug) > 40 { // leaves room for a suffix, and cuts at a word if there is one
		slug = slug[:40]
		if i := strings.LastIndexByte(slug, '-'); i > 20 {
			slug = slug[:i]
		}
		slug = strings.Trim(slug, "-")
	}
	if slug == "" || reserved[slug] || strings.HasPrefix(slug, "wfs-") {
		slug = strings.Trim("session-"+slug, "-")
	}
	for n := 1; ; n++ {
		id := slug
		if n > 1 {
			id = fmt.Sprintf("%s-%d", slug, n)
		}
		if !taken(ID(id)) {
			return ID(id)
		}
	}
}

// Names of refs. The prefix is the same in every repository.
const (
	BranchPrefix = "refs/heads/wfs/"
	RefPrefix    = "refs/wfs/"
)

// BranchOf returns the name of a session's branch.
func BranchOf(id ID) string { return BranchPrefix + string(id) }

// LedgerOf returns the name of the ref of a session's ledger.
func LedgerOf(id ID) string { return RefPrefix + string(id) + "/ledger" }

// RescueOf returns the name of the ref of the rescue with this number. A rescue keeps files that were in no commit.
func RescueOf(id ID, number string) string { return RefPrefix + string(id) + "/rescue/" + number }

// AutoOf returns the name of the ref of a session's newest auto-save.
func AutoOf(id ID) string { return RefPrefix + string(id) + "/auto" }
