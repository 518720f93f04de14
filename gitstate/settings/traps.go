package settings

import (
	"context"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// Trap is a setting of git's that lets an ordinary command of the user's delete or publish our refs.
type Trap struct {
	Key     string // "remote.origin.fetch"
	Value   string
	Follows string // what an ordinary command does then
	Next    string // command that changes it
}

// Traps looks through the configuration for such settings.
func (r *Settings) Traps(ctx context.Context) ([]Trap, error) {
	out, err := r.Git.Ask(ctx, "config", "--list", "-z")
	if err != nil {
		return nil, err
	}
	var list []setting
	for _, entry := range gitcmd.SplitZ(out) {
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
func traps(list []setting) (found []Trap) {
	last := map[string]string{}
	for _, s := range list {
		last[s.key] = s.value
	}
	for _, s := range list {
		t := Trap{Key: s.key, Value: s.value}
		dot := strings.LastIndexByte(s.key, '.')
		remote, name := s.key[:max(dot, 0)], s.key[dot+1:]
		ofRemote, counts := strings.HasPrefix(remote, "remote."), last[s.key] == s.value
		switch {
		case counts && t.publishesAll(ofRemote, name):
		case ofRemote:
			t.refspec(name, prunes(remote, last), list)
		}
		if t.Follows != "" && !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b Trap) int { return strings.Compare(a.Key+a.Value, b.Key+b.Value) })
	return found
}

// publishesAll says what a setting publishes that is for whole repositories, and reports whether it is one.
func (t *Trap) publishesAll(ofRemote bool, name string) bool {
	switch {
	case t.Key == "push.default" && t.Value == "matching":
		t.Follows, t.Next = "git push publishes a session's branch whenever the remote has one of that name",
			"git config push.default simple"
	case ofRemote && name == "mirror" && gitcmd.Truth(t.Value):
		t.Follows, t.Next = "git push publishes every session and its history", "git config --unset "+
			safetext.ShellWord(t.Key)
	}
	return t.Follows != ""
}

// prunes reports whether a fetch from a remote deletes refs without being told to.
func prunes(remote string, last map[string]string) bool {
	if prune, set := last[remote+".prune"]; set {
		return gitcmd.Truth(prune)
	}
	return gitcmd.Truth(last["fetch.prune"])
}

// refspec says what a remote's refspec for fetch or push does to refs of ours.
func (t *Trap) refspec(name string, prunes bool, list []setting) {
	from, into, pair := strings.Cut(strings.TrimPrefix(t.Value, "+"), ":")
	switch {
	case name == "fetch" && pair && prunes:
		t.exposes(into, "git fetch deletes ", list)
	case name == "fetch" && pair:
		t.exposes(into, "git fetch --prune deletes ", list)
	case name == "push" && from == "" && into == "":
		t.exposes(refs.BranchPrefix+"*", "git push publishes, whenever the remote has a branch of that name, ", list)
	case name == "push":
		t.exposes(from, "git push publishes ", list)
	}
}

// exposes says what a git command does to refs of ours, if one side of a refspec means them and no negative
// refspec of the same key keeps them out.
func (t *Trap) exposes(pattern, does string, list []setting) {
	before, _, isPattern := strings.Cut(pattern, "*")
	if !isPattern || !strings.HasPrefix(before, "refs/") {
		return
	}
	for _, prefix := range []string{refs.BranchPrefix, strings.TrimSuffix(refs.RefsPrefix, "/")} {
		out := slices.ContainsFunc(list, func(s setting) bool {
			no, negative := strings.CutPrefix(s.value, "^")
			kept, _, all := strings.Cut(no, "*")
			return s.key == t.Key && negative && all && strings.HasPrefix(prefix, kept)
		})
		switch {
		case out || !strings.HasPrefix(prefix, before) && !strings.HasPrefix(before, prefix):
			continue
		case t.Follows == "":
			t.Follows = does + prefix + "*"
		default:
			t.Next += " && "
		}
		t.Next += "git config --add " + safetext.ShellWord(t.Key) + " '^" + prefix + "*'"
	}
}
