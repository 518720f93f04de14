package safety

import (
	"path/filepath"
	"strings"
)

// leftRule is a row for a set of leftovers. The first row that fits applies.
type leftRule struct {
	name    string
	fits    func(s leftover) bool
	then    func(f *fixture, s leftover) // checks after the next command, in addition to the general ones
	refuses bool                         // the command is refused
	may     bool                         // the command succeeds, or is refused
	says    string                       // a text in the refusal
}

func (a *act) ruleOf(s leftover) *leftRule {
	for i := range a.rules {
		if a.rules[i].fits(s) {
			return &a.rules[i]
		}
	}
	return nil
}

func refusedWith(name, says string, fits func(s leftover) bool) leftRule {
	return leftRule{name: name, refuses: true, says: says, fits: fits}
}

func always(leftover) bool { return true }

// evidence reports whether the journal has the intended operation.
func (s leftover) evidence() bool {
	return s.journal == "turn" || !s.published && (s.journal == "begun" || s.journal == "cut")
}

// edited reports whether the work tree or the index has newer edits.
func (s leftover) edited() bool { return s.files == "theirs" || s.index == "theirs" }

func (s leftover) refsAre(values ...string) bool { return among(s.refs, values) }
func (s leftover) headIs(values ...string) bool  { return among(s.head, values) }

func among(s string, values []string) bool {
	for _, v := range values {
		if s == v {
			return true
		}
	}
	return false
}

// moved returns the rows of a session's move that ends with HEAD on a branch. goes means that HEAD was elsewhere when
// it began.
func moved(id string, branch string, goes bool) []leftRule {
	on := func(f *fixture) {
		f.t.Helper()
		if ok, _ := filepath.Match("refs/heads/"+branch, f.head()); !ok {
			f.t.Errorf("HEAD is on %s", f.head())
		}
	}
	there := func(f *fixture, _ leftover) { on(f) }
	clean := func(f *fixture, s leftover) {
		f.t.Helper()
		on(f)
		if status := f.ok("git", "status", "--porcelain"); status != "" {
			f.t.Errorf("git status is not clean:\n%s", status)
		}
	}
	// A person has moved HEAD or the branch since. wfs moves HEAD only after the ledger, so HEAD on the new branch is
	// also a person's doing as long as nothing is published.
	someone := func(s leftover) bool {
		return s.headIs("theirs") || goes && s.headIs("new") || !goes && s.refsAre("new", "theirs")
	}
	return []leftRule{
		{name: "no word of it is left", fits: func(s leftover) bool { return s.journal == "gone" }, then: there},
		{name: "half-way, and somebody has moved on: given up", fits: func(s leftover) bool { return !s.published && someone(s) },
			then: func(f *fixture, s leftover) {
				if on(f); s.besides != "unclaimed" { // without the claim, wfs finds it only when it opens the session
					f.happened(id, "dropped")
				}
			}},
		{name: "half-way, and somebody has committed on the branch that it moves: that is left alone, and said",
			fits: func(s leftover) bool { return !s.published && s.refsAre("theirs") && s.besides != "unclaimed" }, refuses: true, says: "by another process"},
		{name: "half-way, and nobody knows that the files are not the current session's: they become its checkpoint, and it is given up",
			fits: func(s leftover) bool { return !s.published && s.refsAre("theirs") }, may: true},
		{name: "half-way: carried to its end", fits: func(s leftover) bool { return !s.published }, then: clean},
		{name: "it happened, and somebody has moved on: left alone", fits: func(s leftover) bool {
			return s.journal == "turn" && (s.headIs("theirs") || s.refsAre("theirs"))
		}, then: there},
		{name: "it happened, and the evidence says that we were interrupted: settled", fits: func(s leftover) bool { return s.journal == "turn" },
			then: func(f *fixture, s leftover) {
				// wfs moves the index before HEAD. If the index is old and HEAD is new, the user moved HEAD, and the
				// staged changes are the user's.
				hisHead := s.index == "old" && s.headIs("new")
				if on(f); s.files == "new" && s.index != "theirs" && !hisHead {
					clean(f, s)
				}
			}},
		{name: "it was done, but for its claim: what was moved since is somebody's", fits: func(s leftover) bool { return s.journal == "next" }, then: there},
		{name: "it happened, and there is no evidence: nothing is settled", fits: always, then: there},
	}
}

// born returns the rows of a `new`: at any stage, typing it again makes a session.
func born() []leftRule {
	there := func(f *fixture, _ leftover) { onThree(f) }
	return []leftRule{
		{name: "it never happened", fits: func(s leftover) bool { return !s.published }, then: there},
		{name: "it happened: the session is there, and another one is made", fits: always, then: there},
	}
}

// takenBack returns the rows of an undo: once it has happened, the next undo undoes the operation before. It is
// refused if a ref is not where that operation left it.
func takenBack(goes bool) []leftRule {
	is := func(s leftover, value string) bool {
		if goes {
			return s.headIs(value)
		}
		return s.refsAre(value)
	}
	const cannot = "cannot undo"
	return []leftRule{
		refusedWith("HEAD is elsewhere", cannot, func(s leftover) bool { return s.headIs("theirs") }),
		refusedWith("somebody has committed on the branch", cannot, func(s leftover) bool { return s.refsAre("theirs") }),
		{name: "it happened, and is settled: the one before is taken back", fits: func(s leftover) bool { return s.published && s.journal == "turn" }},
		{name: "half-way: carried to its end, and the one before is taken back", fits: func(s leftover) bool {
			return s.evidence() && is(s, "old")
		}},
		{name: "it was done, but for its claim: the one before is taken back", fits: func(s leftover) bool { return s.journal == "next" && is(s, "new") }},
		refusedWith("it was done, and somebody has moved it back", cannot, func(s leftover) bool { return s.journal == "next" }),
		{name: "no evidence: done once more", fits: func(s leftover) bool { return is(s, "old") }},
		refusedWith("no evidence, and it looks as if somebody had moved on", cannot, always),
	}
}

// handedOver returns the rows of a finish on the branch handed.
func handedOver() []leftRule {
	return []leftRule{
		refusedWith("HEAD is on a branch of the user's", "", func(s leftover) bool { return s.headIs("theirs") }),
		refusedWith("half-way, and somebody is on the new branch", "", func(s leftover) bool { return !s.published && s.headIs("new") }),
		refusedWith("half-way, and the new branch is somebody's", "already exists", func(s leftover) bool {
			return !s.published && !s.edited() && (s.refsAre("theirs") || s.journal == "gone" && !s.refsAre("none"))
		}),
		refusedWith("half-way, and edited since", "", func(s leftover) bool { return !s.published && s.edited() }),
		{name: "half-way: taken back, and done once more", fits: func(s leftover) bool { return !s.published },
			then: func(f *fixture, _ leftover) { handed(f) }},
		{name: "it happened, and is settled", fits: func(s leftover) bool { return s.journal == "turn" && s.refsAre("none", "new") && s.headIs("old") },
			then: func(f *fixture, _ leftover) { handed(f) }},
		{name: "it happened, and somebody has moved on, or there is no evidence: said", fits: always, may: true},
	}
}

// removed returns the rows of a deletion.
func removed() []leftRule {
	return []leftRule{
		{name: "somebody has gone to the session: given up", fits: func(s leftover) bool { return s.headIs("theirs") && !s.refsAre("half", "ledger", "all") },
			refuses: true, says: "is checked out in this work tree", then: func(f *fixture, _ leftover) { f.branchHolds("wfs/two", "of-two.txt") }},
		{name: "somebody has committed on its branch", fits: func(s leftover) bool { return s.refsAre("theirs") }, may: true,
			then: func(f *fixture, _ leftover) {
				if f.grep("by hand") == "" {
					f.t.Error("what somebody committed is lost")
				}
			}},
		{name: "carried to its end, or begun anew", fits: always, may: true, then: func(f *fixture, s leftover) {
			if refs := f.ok("git", "for-each-ref", "refs/wfs/two/ledger", "refs/heads/wfs/two"); refs != "" {
				f.t.Errorf("two is not deleted:\n%s", refs)
			}
			f.ok("wfs", "delete", "--restore", "two")
			if f.ok("wfs", "status", "two"); s.journal == "turn" { // otherwise the second deletion found no branch
				f.branchHolds("wfs/two", "of-two.txt")
			}
		}},
	}
}

// abandoned returns the row of an abandonment: at any stage, typing it again succeeds.
func abandoned() []leftRule {
	return []leftRule{{name: "abandoned, or abandoned once more", fits: always, then: func(f *fixture, _ leftover) {
		if said := f.ok("wfs", "status", "one"); !strings.Contains(said, "abandoned") {
			f.t.Errorf("status says %s", said)
		}
	}}}
}

// onThree checks the end of a new: HEAD is on the new session's branch. Typed again, the command may make a second
// session.
func onThree(f *fixture) {
	f.t.Helper()
	if h := f.head(); !strings.HasPrefix(h, "refs/heads/wfs/three") {
		f.t.Errorf("HEAD is on %s", h)
	}
}
