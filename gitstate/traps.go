package gitstate

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Trap is a setting of git's that lets an ordinary command of the user's delete or publish our refs.
type Trap struct {
	Key     string // "remote.origin.fetch"
	Value   string
	Follows string // what an ordinary command does then
	Next    string // command that changes it
	Deletes bool   // refs are lost; otherwise they are published
}

// Traps looks through the configuration for such settings.
func (r *Repo) Traps(ctx context.Context) ([]Trap, error) {
	out, err := r.git(ctx, gitOpts{}, "config", "--list", "-z")
	if err != nil {
		return nil, err
	}
	var list []setting
	for _, entry := range splitZ(out) {
		key, value, set := strings.Cut(entry, "\n")
		if !set {
			value = "true"
		}
		list = append(list, setting{key, value})
	}
	return traps(list), nil
}

type setting struct{ key, value string }

// traps is what Traps finds in settings, in git's order: of two with one value the later counts.
func traps(list []setting) []Trap {
	var found []Trap
	last := map[string]string{}
	for _, s := range list {
		last[s.key] = s.value
	}
	for _, s := range list {
		section, rest, _ := strings.Cut(s.key, ".")
		dot := strings.LastIndexByte(rest, '.')
		switch {
		case s.key == "push.default" && s.value == "matching" && last[s.key] == s.value:
			found = append(found, Trap{Key: s.key, Value: s.value, Next: "git config push.default simple",
				Follows: "git push publishes a session's branch whenever the remote has one of that name"})
		case section != "remote" || dot < 0:
		default:
			if t, ok := remoteTrap(rest[:dot], rest[dot+1:], s.value, list, last); ok {
				found = append(found, t)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Trap) int { return strings.Compare(a.Key+a.Value, b.Key+b.Value) })
	return slices.CompactFunc(found, func(a, b Trap) bool { return a.Key == b.Key && a.Value == b.Value })
}

// remoteTrap judges one setting of a remote.
func remoteTrap(remote, name, value string, list []setting, last map[string]string) (Trap, bool) {
	t := Trap{Key: "remote." + remote + "." + name, Value: value}
	switch name {
	case "mirror":
		if !truth(value) || last[t.Key] != value {
			return t, false
		}
		t.Follows, t.Next = "git push publishes every session and its history", fmt.Sprintf("git config --unset %s", quoteKey(t.Key))
		return t, true
	case "fetch":
		_, into, ok := strings.Cut(strings.TrimPrefix(value, "+"), ":")
		open := exposed(into, t.Key, list)
		if !ok || len(open) == 0 {
			return t, false
		}
		t.Deletes = true
		t.Follows = "git fetch --prune deletes " + open[0]
		if prune, set := last["remote."+remote+".prune"]; set && truth(prune) || !set && truth(last["fetch.prune"]) {
			t.Follows = "git fetch deletes " + open[0]
		}
		t.Next = keepOut(t.Key, open)
		return t, true
	case "push":
		if value == ":" || value == "+:" {
			t.Follows = "git push publishes a session's branch whenever the remote has one of that name"
			t.Next = keepOut(t.Key, []string{branchPrefix + "*"})
			return t, len(exposed(branchPrefix+"*", t.Key, list)) > 0
		}
		from, _, _ := strings.Cut(strings.TrimPrefix(value, "+"), ":")
		open := exposed(from, t.Key, list)
		t.Follows, t.Next = "git push publishes "+first(open), keepOut(t.Key, open)
		return t, len(open) > 0
	}
	return t, false
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// ours are patterns of all refs of ours.
func ours() []string { return []string{branchPrefix + "*", strings.TrimSuffix(refsPrefix, "/") + "*"} }

// exposed returns those of our refs, as patterns, that one side of a refspec means and that no negative one of the same
// key keeps out.
func exposed(pattern, key string, list []setting) []string {
	before, _, isPattern := strings.Cut(pattern, "*")
	if !isPattern || !strings.HasPrefix(before, "refs/") {
		return nil
	}
	var open []string
	for _, mine := range ours() {
		prefix := strings.TrimSuffix(mine, "*")
		if !strings.HasPrefix(prefix, before) && !strings.HasPrefix(before, prefix) {
			continue
		}
		if !slices.ContainsFunc(list, func(s setting) bool {
			no, negative := strings.CutPrefix(s.value, "^")
			kept, _, all := strings.Cut(no, "*")
			return s.key == key && negative && all && strings.HasPrefix(prefix, kept)
		}) {
			open = append(open, mine)
		}
	}
	return open
}

// keepOut is the command that takes refs out of a remote's refspecs.
func keepOut(key string, patterns []string) string {
	var all []string
	for _, p := range patterns {
		all = append(all, fmt.Sprintf("git config --add %s '^%s'", quoteKey(key), p))
	}
	return strings.Join(all, " && ")
}

// quoteKey quotes a key for a shell if need be: a remote's name may hold anything.
func quoteKey(key string) string {
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == "" {
		return key
	}
	return "'" + strings.ReplaceAll(key, "'", `'\''`) + "'"
}
