package model

import (
	"os"
	"path/filepath"
	"strings"
)

// forgets removes from a picture exactly the objects that `wfs gc --force --days 0` may free:
//
//   - objects that only deleted sessions reach. Deletion is for that, and gc says so: this includes the newest
//     documents of their ledgers, and rescues with the only copy. As long as a session of that name exists, all of them
//     stay. A deletion that was killed counts, because every command completes it first;
//   - the description of a rescue: its commit, its documents, and the two commits that wrap its files and its index.
//     The files themselves must last, and so must every commit below that the rescue did not make, and raw bytes.
func (w *world) forgets(p *picture) {
	w.t.Helper()
	going, rescues := []string{}, map[string]string{}
	for ref, tip := range p.refs {
		if id, _, _ := strings.Cut(strings.TrimPrefix(ref, "refs/wfs-deleted/"), "/"); strings.HasPrefix(ref, "refs/wfs-deleted/") {
			if p.refs["refs/wfs/"+id+"/ledger"] == "" || w.deleting(p, id) {
				going = append(going, ref)
			}
			continue
		}
		id, rest, _ := strings.Cut(strings.TrimPrefix(ref, "refs/wfs/"), "/")
		switch {
		case strings.HasPrefix(ref, branchPrefix):
			if w.deleting(p, strings.TrimPrefix(ref, branchPrefix)) {
				going = append(going, ref)
			}
		case !strings.HasPrefix(ref, "refs/wfs/"):
		case w.deleting(p, id) && !(strings.HasPrefix(rest, "rescue/") && w.ofTheUser(tip)):
			going = append(going, ref)
		case strings.HasPrefix(rest, "rescue/"):
			rescues[ref] = tip
		}
	}
	lasting, elsewhere := map[string]string{}, map[string]string{}
	w.reach(lasting, going...)
	w.reach(elsewhere, append(going, sortedKeys(rescues)...)...)
	for _, tip := range rescues {
		for _, id := range w.wordsOf(tip) {
			if _, also := elsewhere[id]; !also {
				delete(lasting, id)
			}
		}
	}
	for _, s := range p.places {
		for name, file := range s.files {
			_, id, _ := strings.Cut(file, " ")
			lasting[id] = name
		}
	}
	p.objects = lasting
}

// deleting reports whether a session's deletion was begun and will be completed: its journal ends with it, and no
// work tree is on the session's branch.
func (w *world) deleting(p *picture, id string) bool {
	for _, s := range p.places {
		if s.head == branchPrefix+id {
			return false
		}
	}
	journals, _ := filepath.Glob(filepath.Join(w.main, ".git/wfs/sessions", id, "events-*.jsonl"))
	for _, path := range journals {
		text, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if strings.Contains(lines[len(lines)-1], `"kind":"delete_started"`) {
			return true
		}
	}
	return false
}

// ofTheUser reports whether a rescue was made while HEAD was on a branch of the user's: it stays when its session goes.
func (w *world) ofTheUser(rescue string) bool {
	return strings.Contains(w.must(w.main, "git", "cat-file", "blob", rescue+":state.json"), `"ref": "refs/heads/`) &&
		!strings.Contains(w.must(w.main, "git", "cat-file", "blob", rescue+":state.json"), `"ref": "`+branchPrefix)
}

// wordsOf returns the objects that only describe a rescue.
func (w *world) wordsOf(rescue string) []string {
	ids := []string{rescue, strings.TrimSpace(w.must(w.main, "git", "rev-parse", rescue+"^{tree}"))}
	for line := range strings.Lines(w.must(w.main, "git", "ls-tree", rescue)) {
		if f := strings.Fields(line); f[1] == "blob" {
			ids = append(ids, f[2])
		}
	}
	for line := range strings.Lines(w.must(w.main, "git", "log", "-1", "--format=%B", rescue)) {
		if key, id, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && (key == "Wfs-State-Code" || key == "Wfs-State-Index") {
			ids = append(ids, id)
		}
	}
	return ids
}
