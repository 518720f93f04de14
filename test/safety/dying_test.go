package safety

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// step is the step at which a command dies: a failpoint of internal/durable/points.go. then makes by hand the state
// that no failpoint can make.
type step struct {
	point  string
	inTurn bool // each turn passes it once, and a command may make several turns
	then   func(f *fixture, id string)
}

// Each is named after the last step that was done.
var (
	staged       = step{point: "checkpoint/staged"}                  // a checkpoint's index is installed
	unpublished  = step{point: "checkpoint/journaled", inTurn: true} // the journal ends in the turn
	ledgerMoved  = step{point: "ledger/moved", inTurn: true}         // the turn is committed
	indexMoved   = step{point: "settle/index"}                       // and the index is that of the turn
	branchMoved  = step{point: "settle/branch"}                      // and the branches are moved
	headMoved    = step{point: "settle/head"}                        // and HEAD is moved
	moveBegun    = step{point: "move/journaled"}                     // the journal has move_started, no file is moved
	moveHalf     = step{point: "move/planned", then: (*fixture).moveOne}
	moveDone     = step{point: "move/tree"}        // all files are moved
	finishBegun  = step{point: "finish/journaled"} // the journal has finish_started
	finishBranch = step{point: "finish/branch"}    // the user's branch is at the base
	finishCommit = step{point: "finish/committed"} // and has its commit
	deleteBegun  = step{point: "delete/journaled"}
	deleteCopied = step{point: "oplog/written", then: func(f *fixture, id string) { f.deletesPart(id, false) }} // the refs are copied
	deleteHalf   = step{point: "oplog/written", then: func(f *fixture, id string) { f.deletesPart(id, true) }}  // and the branch is deleted
)

// turn has the old and new values of one turn, see docs/formats.md.
type turn struct {
	Refs    []refMove `json:"refs"`
	HeadOld string    `json:"head_old"`
	HeadNew string    `json:"head_new"`
	Tree    string    `json:"tree"`
	Index   string    `json:"index"`
	TreeOld string    `json:"tree_old"`
	Rescue  string    `json:"rescue"`
}

type refMove struct{ Ref, Old, New string }

// prepared is a turn that was ready to be published when its process died.
type prepared struct {
	Code              string // commit of a checkpoint
	Ledger, LedgerOld string
	Turn              turn
}

// dies runs a command that dies at a step of its first turn.
func (f *fixture) dies(id string, at step, args ...string) {
	f.t.Helper()
	f.diesInTurn(id, at, 1, args...)
}

// diesInTurn runs a command that dies at a step of its nth turn, counted from 1.
func (f *fixture) diesInTurn(id string, at step, nth int, args ...string) {
	f.t.Helper()
	point := at.point
	if at.inTurn {
		point += fmt.Sprint("#", nth)
	}
	if out, exit := f.try([]string{"WFS_FAILPOINT=" + point}, append([]string{"wfs"}, args...)...); exit != -1 {
		f.t.Fatalf("wfs %s did not die at %s, but exit %d: %s", strings.Join(args, " "), point, exit, out)
	}
	if at.then != nil {
		at.then(f, id)
	}
	if at.point == unpublished.point {
		f.prepared = f.lastTurn(id)
	}
}

// lastTurn returns the turn at the end of a session's journal, and its ledger commit, which no ref reaches yet.
func (f *fixture) lastTurn(id string) prepared {
	f.t.Helper()
	e := f.lastEvent(id)
	p := prepared{Code: e.Data.Code, Turn: e.Data.Turn}
	if old, exit := f.try(nil, "git", "rev-parse", "-q", "--verify", ledgerOf(id)); exit == 0 {
		p.LedgerOld = strings.TrimSpace(old)
	}
	reachable, found := f.reachable(), []string{}
	for line := range strings.Lines(f.ok("git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")) {
		kind, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "commit" || reachable[commit] {
			continue
		}
		parents := strings.Fields(f.ok("git", "log", "-1", "--format=%P", commit))
		_, exit := f.try(nil, "git", "cat-file", "-e", commit+":session.json")
		if exit == 0 && (p.LedgerOld == "" || slices.Contains(parents, p.LedgerOld)) {
			found = append(found, commit)
		}
	}
	if len(found) != 1 {
		f.t.Fatalf("ledger commits to which no ref leads: %v", found)
	}
	p.Ledger = found[0]
	return p
}

// event is a line of a journal.
type event struct {
	Seq  int64
	Kind string
	Data struct {
		Code    string
		Turn    turn
		Text    string
		Request string
	}
}

func (f *fixture) lastEvent(id string) event {
	f.t.Helper()
	data, err := os.ReadFile(f.journalFile(id))
	if err != nil {
		f.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var e event
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &e); err != nil {
		f.t.Fatal(err)
	}
	return e
}

func (f *fixture) moveRef(ref, to, from string) {
	f.t.Helper()
	if to == "" {
		f.ok("git", "update-ref", "-d", ref, from)
		return
	}
	if now, _ := f.try(nil, "git", "rev-parse", "-q", "--verify", ref); strings.TrimSpace(now) != to {
		f.ok("git", "update-ref", ref, to, from)
	}
}

// moveOne carries out the first file change of the move at the end of a session's journal.
func (f *fixture) moveOne(id string) {
	f.t.Helper()
	t := f.lastEvent(id).Data.Turn
	changes := strings.Split(f.ok("git", "diff-tree", "-r", "--no-renames", "--name-status", t.TreeOld, t.Tree), "\n")
	if len(changes) < 2 {
		f.t.Fatalf("half of %v is nothing, or everything", changes)
	}
	status, name, _ := strings.Cut(changes[0], "\t")
	if status == "D" {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	f.write(name, f.ok("git", "cat-file", "blob", t.Tree+":"+name)+"\n")
}

// deletesPart carries out the beginning of a deletion: it copies all refs, and if half is set it deletes the branch.
func (f *fixture) deletesPart(id string, half bool) {
	f.t.Helper()
	for _, m := range f.lastEvent(id).Data.Turn.Refs {
		if m.Old == "" || half && m.Ref == "refs/heads/wfs/"+id {
			f.moveRef(m.Ref, m.New, m.Old)
		}
	}
}

// Commands that die.

func (f *fixture) checkpointDies(at step) {
	f.t.Helper()
	f.dirty()
	f.kept = f.blobs()
	f.dies("one", at, "checkpoint", "-m", "mine")
}

// switchDies goes from session one, whose edits become checkpoint 3, to session two.
func (f *fixture) switchDies(at step) {
	f.t.Helper()
	f.dirty()
	f.kept = f.blobs()
	f.diesInTurn("two", at, 2, "switch", "two")
}

// resumeDies goes back to checkpoint 0 of session one.
func (f *fixture) resumeDies(at step) {
	f.t.Helper()
	f.dirty()
	f.kept = f.blobs()
	f.dies("one", at, "resume", "@0")
}

// finishDies hands session one over on the branch handed.
func (f *fixture) finishDies(at step) {
	f.t.Helper()
	f.ok("wfs", "run")
	f.dies("one", at, "finish", "--branch", "handed")
}

// recordDies changes the record of session one: it abandons, renames or edits it.
func (f *fixture) recordDies(at step, args []string) {
	f.t.Helper()
	f.kept = f.blobs()
	f.dies("one", at, args...)
}

var (
	abandon = []string{"abandon", "one", "-m", "why not"}
	rename  = []string{"rename", "one", "another title"}
	edit    = []string{"edit", "one", "--goal", "another goal"}
	revive  = []string{"resume", "one"}
	repin   = []string{"repin", "one", "--agent", "false"} // an agent that fails
)

// deleteDies deletes session two.
func (f *fixture) deleteDies(at step) {
	f.t.Helper()
	f.kept = f.blobs()
	f.dies("two", at, "delete", "two", "--force")
}

func ledgerOf(id string) string { return "refs/wfs/" + id + "/ledger" }

// journalFile returns the path of the journal that extends the tip of a session's ledger.
func (f *fixture) journalFile(id string) string {
	f.t.Helper()
	tip := "none"
	if now, exit := f.try(nil, "git", "rev-parse", "-q", "--verify", ledgerOf(id)); exit == 0 {
		tip = strings.TrimSpace(now)
	}
	common := f.ok("git", "rev-parse", "--path-format=absolute", "--git-common-dir")
	return filepath.Join(common, "wfs/sessions", id, "events-"+tip+".jsonl")
}

// happening is an event for a journal.
type happening struct{ kind, data string }

func noted(text string) happening { return happening{"noted", fmt.Sprintf(`{"text":%q}`, text)} }

// journal appends events to a session's journal, as by a process that died right after the last one.
func (f *fixture) journal(id string, events ...happening) {
	f.t.Helper()
	var last event
	for _, line := range strings.Split(f.ok("wfs", "log", "--events", id, "--json"), "\n") {
		var e event
		if json.Unmarshal([]byte(line), &e) == nil && e.Seq > last.Seq {
			last = e
		}
	}
	file, err := os.OpenFile(f.journalFile(id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	for n, e := range events {
		line := fmt.Sprintf(`{"v":1,"seq":%d,"at":"2027-01-15T08:00:00Z","kind":%q,"data":%s}`, last.Seq+int64(n)+1, e.kind, e.data)
		if _, err := file.Write(append(sealed([]byte(line)), '\n')); err != nil {
			f.t.Fatal(err)
		}
	}
}

// sealed adds its checksum to an event's line.
func sealed(line []byte) []byte {
	head := bytes.TrimSuffix(bytes.TrimRight(line, "\n"), []byte("}"))
	return fmt.Appendf(head[:len(head):len(head)], `,"sum":"%08x"}`, crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)))
}

// events lists a session's events, from its ledger and its journal.
func (f *fixture) events(id string) (all []event) {
	f.t.Helper()
	for _, line := range strings.Split(f.ok("wfs", "log", "--events", id, "--json"), "\n") {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			f.t.Fatalf("%v: %s", err, line)
		}
		if e.Kind != "" {
			all = append(all, e)
		}
	}
	return all
}

func (f *fixture) kinds(id string) string {
	f.t.Helper()
	var kinds []string
	for _, e := range f.events(id) {
		kinds = append(kinds, e.Kind)
	}
	return strings.Join(kinds, " ")
}

// attempt writes the first n events of an attempt to the journal of session one.
func (f *fixture) attempt(n int) {
	f.t.Helper()
	tree, run := f.snapshot(), cmp.Or(f.run, "one-0001-dead")
	all := []happening{
		{"driving", `{}`},
		{"attempt_started", `{"number":1,"phase":"WORK","lap":1,"attempt":1,"run_id":"` + run + `","tree":"` + tree + `","runner":"command"}`},
		{"run_ended", `{"outcome":"ok","exit":0,"millis":0,"done":true,"tree":"` + tree + `"}`},
		{"judged", `{"tree":"` + tree + `","verdict":"fail","class":"command_failed","reason":"what the dead process thought"}`},
		{"decided", `{"verdict":"fail","class":"command_failed","reason":"what the dead process thought","next":"WORK","next_lap":1,"progress":false}`},
	}
	f.journal("one", all[:n]...)
}

// snapshot returns the tree object of the work tree.
func (f *fixture) snapshot() string {
	f.t.Helper()
	index := "GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(f.dir), "snapshot")
	f.okWith(index, "git", "read-tree", "HEAD")
	f.okWith(index, "git", "add", "-A")
	return f.okWith(index, "git", "write-tree")
}
