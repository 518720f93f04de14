package safety

import "strings"

var (
	anyFiles = []string{"old", "half", "new", "theirs"}
	anyIndex = []string{"old", "new", "theirs"}
	anyRefs  = []string{"old", "new", "theirs"}
	anyHead  = []string{"old", "new", "theirs"}
)

// acts are the commands whose leftovers are built, except checkpoints, which have a product of their own.
var acts = []*act{
	{
		name: "switch", typed: "switch two", id: "two", before: dirtyOnMain,
		parts: parts{journals, anyFiles, anyIndex, nil, anyHead, []string{"nothing", "locks", "unclaimed", "unrescued"}, false},
		rules: moved("two", "wfs/two", true),
	},
	{
		name: "leave", typed: "switch main", id: "one", before: dirty, passed: 1,
		parts: parts{journals, anyFiles, anyIndex, nil, anyHead, []string{"nothing", "locks", "unclaimed"}, false},
		rules: append([]leftRule{
			refusedWith("HEAD is on another branch of the user's", "no session is current here", func(s leftover) bool { return s.head == "theirs" })},
			moved("one", "main", true)...),
	},
	{
		name: "resume", typed: "resume @0", id: "one", before: dirty, again: true,
		parts: parts{journals, anyFiles, anyIndex, anyRefs, []string{"old", "theirs"}, []string{"nothing", "locks", "unclaimed", "unrescued"}, false},
		rules: append([]leftRule{refusedWith("HEAD is on a branch of the user's", "no session is current", func(s leftover) bool { return s.head == "theirs" })},
			moved("one", "wfs/one", false)...),
	},
	{
		name: "resume of another session", typed: "resume two@0", id: "two", before: dirty, passed: 1, again: true,
		parts: parts{journals, anyFiles, anyIndex, anyRefs, anyHead, []string{"nothing", "locks", "unclaimed"}, false},
		rules: moved("two", "wfs/two", true),
	},
	{
		name: "new", typed: "new three --workflow plain --agent true --leave", id: "three", before: dirtyOnMain, passed: 1, trusts: true, again: true,
		parts: parts{journals, anyFiles, anyIndex, nil, anyHead, []string{"nothing", "locks", "unclaimed", "unrescued"}, false},
		rules: moved("three", "wfs/three*", true),
	},
	{
		name: "birth", typed: "new three --workflow plain --agent true --leave", id: "three", before: dirtyOnMain, trusts: true, again: true,
		parts: parts{[]string{"turn", "cut", "gone", "next"}, []string{"new", "theirs"}, []string{"old", "theirs"}, anyRefs, []string{"old", "theirs"}, []string{"nothing", "locks"}, false},
		rules: born(),
		leave: func(f *fixture, t turn, s leftover) {
			if s.refs == "theirs" {
				f.ok("git", "update-ref", "refs/heads/wfs/three", "side")
				s.refs = "as left"
			}
			f.leavesRefs(t, s)
		},
	},
	{
		name: "undo", typed: "undo", id: "one", before: func(f *fixture) {
			f.dirty()
			f.ok("wfs", "resume", "@0")
			f.write("since.txt", "since the resume\n")
			f.write("edited.txt", "edited again\n")
		}, again: true,
		parts: parts{journals, anyFiles, anyIndex, anyRefs, []string{"old", "theirs"}, []string{"nothing", "locks", "unclaimed", "unrescued"}, false},
		rules: takenBack(false),
	},
	{
		name: "undo of switch", typed: "undo", id: "two", before: func(f *fixture) {
			dirtyOnMain(f)
			f.ok("wfs", "switch", "two")
			f.write("since.txt", "since the switch\n")
		}, again: true,
		parts: parts{journals, anyFiles, anyIndex, nil, anyHead, []string{"nothing", "locks", "unclaimed", "unrescued"}, false},
		rules: takenBack(true),
	},
	{
		name: "finish", typed: "finish --branch handed", id: "one", before: func(f *fixture) {
			f.write(".workflow/one/plan.md", "the plan\n")
			f.ok("wfs", "run")
		},
		parts: parts{journals, []string{"new", "theirs"}, anyIndex, []string{"none", "base", "new", "theirs", "amended"}, anyHead, []string{"nothing", "locks", "unclaimed"}, false},
		leave: leavesHanded, rules: handedOver(),
		skip: func(s leftover) bool { return s.refs == "none" && s.head == "new" }, // HEAD on a missing branch
	},
	{
		name: "delete", typed: "delete two --force", id: "two", at: deleteBegun, before: dirty, again: true,
		parts: parts{[]string{"turn", "cut", "gone"}, nil, nil, []string{"none", "copied", "half", "ledger", "all", "theirs"}, []string{"old", "theirs"}, []string{"nothing", "locks", "unclaimed"}, true},
		leave: leavesDeleted, rules: removed(),
	},
	{
		name: "abandon", typed: "abandon one", id: "one", before: dirty, passed: 1,
		parts: parts{journals, []string{"new", "theirs"}, []string{"old", "theirs"}, []string{"old", "theirs"}, []string{"old", "theirs"}, []string{"nothing", "locks"}, false},
		leave: func(f *fixture, t turn, s leftover) {
			if s.refs == "theirs" {
				f.ok("git", "update-ref", "refs/heads/wfs/one", f.ok("git", "commit-tree", "-p", "wfs/one", "-m", "by hand", "wfs/one^{tree}"))
				s.refs = "as left"
			}
			f.leavesRefs(t, s)
		},
		rules: abandoned(),
	},
}

// leavesHanded sets the branch that a finish makes, and HEAD.
func leavesHanded(f *fixture, t turn, s leftover) {
	const branch = "refs/heads/handed"
	made := t.Refs[0].New
	base := f.ok("git", "rev-parse", made+"^")
	switch s.refs {
	case "none":
		f.ok("git", "update-ref", "-d", branch)
	case "base":
		f.ok("git", "update-ref", branch, base)
	case "theirs":
		f.ok("git", "update-ref", branch, f.ok("git", "commit-tree", "-p", made, "-m", "by hand", "side^{tree}"))
	case "amended":
		f.ok("git", "update-ref", branch, f.ok("git", "commit-tree", "-p", base, "-m", "my words", made+"^{tree}"))
	}
	s.refs = "as left"
	f.leavesRefs(t, s)
}

// leavesDeleted carries a deletion out as far as s says.
func leavesDeleted(f *fixture, t turn, s leftover) {
	far := map[string]int{"none": 0, "copied": 1, "theirs": 1, "half": 2, "ledger": 3, "all": 4}[s.refs]
	for _, m := range t.Refs {
		isLedger := strings.HasSuffix(m.Ref, "/ledger")
		if m.Old == "" && far >= 1 || m.New == "" && (m.Ref == "refs/heads/wfs/two" && far >= 2 || !isLedger && far >= 3 || isLedger && far >= 4) {
			f.moveRef(m.Ref, m.New, m.Old)
		}
	}
	if s.refs == "theirs" {
		f.ok("git", "update-ref", "refs/heads/wfs/two", f.ok("git", "commit-tree", "-p", "wfs/two", "-m", "by hand", "wfs/two^{tree}"))
	}
	if s.head == "theirs" && far < 2 {
		f.ok("git", "symbolic-ref", "HEAD", "refs/heads/wfs/two")
	}
}
