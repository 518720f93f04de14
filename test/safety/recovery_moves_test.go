package safety

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
)

// leftoverDensity returns n: one combination in n is built. WFS_SWEEP changes it: "all" builds all, "few" three times
// as many as usual, a number one in so many.
func leftoverDensity(t *testing.T, usual int) int {
	t.Helper()
	switch s := os.Getenv("WFS_SWEEP"); s {
	case "":
		return usual
	case "few":
		return max(1, usual/3)
	case "all":
		return 1
	default:
		if _, err := fmt.Sscan(s, &usual); err != nil || usual < 1 {
			t.Fatalf("WFS_SWEEP=%s", s)
		}
		return usual
	}
}

// chosen reports whether a name is in the list of an environment variable, or the variable is empty.
func chosen(variable, name string) bool {
	list := os.Getenv(variable)
	for one := range strings.SplitSeq(list, ",") {
		if one == name {
			return true
		}
	}
	return list == ""
}

// notHere skips a test that this machine does not support: no mounts in a namespace of its own, no filter of system
// calls. With WFS_REQUIRE_SANDBOX it fails instead.
func notHere(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("WFS_REQUIRE_SANDBOX") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// TestRecoverMoves checks that every combination of leftovers of a move, a new session, a finish, a deletion or an
// abandonment has one row. The same command, typed again, succeeds or is refused in one clear line; nothing is lost,
// nothing of the user's is touched, and before that readers change nothing. WFS_SWEEP=all builds all combinations,
// WFS_SWEEP_DEED selects commands.
func TestRecoverMoves(t *testing.T) {
	hit := map[string]bool{}
	for _, a := range acts {
		if !chosen("WFS_SWEEP_DEED", a.name) {
			continue
		}
		all := slices.DeleteFunc(a.parts.product(), func(s leftover) bool { return a.skip != nil && a.skip(s) })
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.made.make = a.died
			for _, s := range a.built(t, all) {
				t.Run(s.String(), func(t *testing.T) {
					t.Parallel()
					f := a.made.copied(t)
					if a.trusts {
						f.trust("one", "two")
					}
					f.leaves(a, s)
					f.foundBy(a, s, a.ruleOf(s))
				})
			}
		})
		for _, s := range all {
			if r := a.ruleOf(s); r != nil {
				hit[r.name] = true
			} else {
				t.Errorf("%s: no row for %s", a.name, s)
			}
		}
	}
	for _, a := range acts {
		for _, r := range a.rules {
			if !hit[r.name] && os.Getenv("WFS_SWEEP_DEED") == "" {
				t.Errorf("%s: no state for the row %q", a.name, r.name)
			}
		}
	}
}

// built returns the leftovers of an act that are built: one in so many, chosen differently for each act, and with
// WFS_SWEEP also the first of each row.
func (a *act) built(t *testing.T, all []leftover) (list []leftover) {
	t.Helper()
	short := os.Getenv("WFS_SWEEP") == ""
	every, rows := leftoverDensity(t, 1+len(all)/2), map[string]bool{}
	h := fnv.New32()
	h.Write([]byte(a.name))
	for n, s := range all {
		r := a.ruleOf(s)
		if n%every == int(h.Sum32())%every || !short && r != nil && !rows[r.name] {
			list = append(list, s)
			rows[r.name] = true
		}
	}
	t.Logf("%d combinations, %d built", len(all), len(list))
	return list
}

// foundBy runs the same command again, and checks the resulting state.
func (f *fixture) foundBy(a *act, s leftover, r *leftRule) {
	t := f.t
	t.Helper()
	before, theirs, all := f.blobs(), f.userThings(), f.everything()
	f.ok("wfs", "list")
	f.ok("wfs", "status", "one")
	if now := f.everything(); now != all {
		t.Errorf("reading changed\n%s\nto\n%s", all, now)
	}
	typed := append([]string{"wfs"}, strings.Fields(a.typed)...)
	out, exit := f.try(nil, typed...)
	defer func() {
		if t.Failed() {
			t.Logf("%v: exit %d: %s\nHEAD is %s\n%s", typed, exit, out, f.head(), f.ok("git", "status", "--short"))
		}
	}()
	switch {
	case r.refuses && exit == 0:
		t.Errorf("it is not refused")
	case exit != 0:
		f.oneClearLine(out, r.says)
		if !r.refuses && !r.may {
			t.Errorf("it is refused")
		}
	}
	f.nothingLost(before)
	f.sound()
	f.lockless(string(a.id))
	if r.then != nil {
		r.then(f, s)
	}
	if now := f.userThings(); now != theirs {
		t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	after := f.repository()
	again, exit2 := f.try(nil, typed...)
	if exit2 != 0 {
		f.oneClearLine(again, "")
	}
	f.nothingLost(before)
	if now := f.repository(); now != after && !a.again && exit == 0 {
		t.Errorf("the second time changed\n%s\nto\n%s", after, now)
	}
}
