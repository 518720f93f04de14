package model

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pgregory.net/rapid"
)

// begin makes the first session in most histories, because few should be about a repository without one.
func (w *world) begin(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "bare") == 0 {
		return
	}
	w.must(w.main, "wfs", "new", "s0", "--workflow", "plain", "--agent", "sh ../agent.sh")
	w.n++
	p := w.look()
	w.keepsAll(p, "new")
	w.agrees(p)
}

// actions returns the possible next actions. Names with several entries are drawn more often.
func (w *world) actions() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){
		"new": w.typesNew, "checkpoint": w.typesCheckpoint, "switch": w.typesSwitch, "switch 2": w.typesSwitch, "resume": w.typesResume, "resume 2": w.typesResume,
		"undo": w.typesUndo, "undo 2": w.typesUndo, "redo": w.typesRedo, "finish": w.typesFinish, "abandon": w.typesAbandon, "delete": w.typesDelete,
		"run": w.typesRun, "gc": w.typesGC, "remove": w.typesRemove,
		"edit": w.edits, "edit 2": w.edits, "edit 3": w.edits, "stage": w.stages, "git": w.usesGit, "git 2": w.usesGit, "care": w.caresForGit,
	}
	for name, act := range all {
		all[name] = func(t *rapid.T) {
			act(t)
			if w.t.Failed() { // later failures would mean nothing
				w.t.FailNow()
			}
		}
	}
	return all
}

func (w *world) typesNew(t *rapid.T) {
	p := w.look()
	w.n++
	c := typed{verb: "new", dir: w.place(t, p), id: fmt.Sprintf("s%d", w.n), at: -1, moves: true, once: true}
	c.args = []string{"new", string(c.id), "--workflow", "plain", "--agent", "sh ../agent.sh"}
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		c.args = append(c.args, "--carry")
	case 1:
		c.verb, c.moves = "new --worktree", false
		c.args = append(c.args, "--worktree")
	case 2:
		if from := w.some(t); from != "" {
			n := rapid.IntRange(0, len(w.logs[from])-1).Draw(t, "from")
			c.args = []string{"new", string(c.id), "--leave", "--from", fmt.Sprintf("%s@%d", from, n)}
		}
	default:
		c.args = append(c.args, "--leave")
	}
	w.types(t, c)
}

func (w *world) typesCheckpoint(t *rapid.T) {
	dir := w.place(t, w.look())
	c := typed{verb: "checkpoint", dir: dir, args: []string{"checkpoint", "-m", "x"}, at: -1}
	w.types(t, c)
	if rapid.IntRange(0, 3).Draw(t, "twice") == 0 && !w.t.Failed() {
		before := w.look()
		_, exit, _ := w.run(dir, nil, c.argv()...)
		after := w.look()
		if exit == 0 && len(w.cut) == 0 && after.refs["refs/wfs/"+string(w.on(before.places[dir]))+"/ledger"] != before.refs["refs/wfs/"+string(w.on(before.places[dir]))+"/ledger"] {
			if w.last == nil { // the first had succeeded
				_, exit, _ = w.run(dir, nil, c.argv()...)
				if again := w.look(); exit == 0 && !mapsEqual(again.refs, after.refs) {
					t.Errorf("a checkpoint of what is in one already moved refs")
				}
			}
		}
		w.compare(before, after, c.verb, false)
		w.agrees(after)
	}
}

func (w *world) typesSwitch(t *rapid.T) {
	c := typed{verb: "switch", dir: w.place(t, w.look()), id: w.some(t), at: -1, moves: true}
	if c.id == "" || rapid.IntRange(0, 4).Draw(t, "leave") == 0 {
		c.verb, c.args, c.id = "leave", []string{"switch", "main"}, ""
	} else {
		c.args = []string{"switch", string(c.id)}
	}
	w.types(t, c)
}

func (w *world) typesResume(t *rapid.T) {
	c := typed{verb: "resume", dir: w.main, id: w.some(t), at: -1, moves: true}
	if c.id == "" {
		t.Skip()
	}
	c.args = []string{"resume", string(c.id)}
	switch rapid.IntRange(0, 3).Draw(t, "at") {
	case 0:
		c.verb, c.at = "resume --at", 0
		c.args = append(c.args, "--fresh")
	case 1, 2:
		c.verb, c.at = "resume --at", rapid.IntRange(0, len(w.logs[c.id])-1).Draw(t, "checkpoint")
		c.args = append(c.args, "--at", fmt.Sprint(c.at))
	}
	for dir, s := range w.look().places { // resume goes there by itself
		if w.on(s) == c.id {
			c.dir = dir
		}
	}
	w.types(t, c)
}

func (w *world) typesUndo(t *rapid.T) {
	w.types(t, typed{verb: "undo", dir: w.place(t, w.look()), args: []string{"undo"}, at: -1, once: true})
}

func (w *world) typesRedo(t *rapid.T) {
	w.types(t, typed{verb: "redo", dir: w.place(t, w.look()), args: []string{"redo"}, at: -1, once: true})
}

func (w *world) typesFinish(t *rapid.T) {
	w.n++
	args := []string{"finish", "--branch", fmt.Sprintf("handed-%d", w.n)}
	if rapid.IntRange(0, 3).Draw(t, "keep") == 0 {
		args = append(args, "--keep")
	}
	w.types(t, typed{verb: "finish", dir: w.place(t, w.look()), args: args, at: -1, moves: true, once: true})
}

func (w *world) typesAbandon(t *rapid.T) {
	if id := w.some(t); id != "" && rapid.IntRange(0, 2).Draw(t, "sure") == 0 {
		w.types(t, typed{verb: "abandon", dir: w.main, id: id, args: []string{"abandon", string(id)}, at: -1, once: true})
	}
}

func (w *world) typesDelete(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "restore") == 0 {
		for _, ref := range sortedKeys(w.look().refs) {
			if rest, ok := strings.CutPrefix(ref, "refs/wfs-deleted/"); ok {
				id, _, _ := strings.Cut(rest, "/")
				w.types(t, typed{verb: "delete --restore", dir: w.main, id: id, args: []string{"delete", "--restore", id}, at: -1, once: true})
				return
			}
		}
	}
	if id := w.some(t); id != "" {
		w.types(t, typed{verb: "delete", dir: w.main, id: id, args: []string{"delete", string(id), "--force"}, at: -1, once: true})
	}
}

// agentDeeds are the agent's actions in an attempt.
var agentDeeds = []string{
	"echo work-%[1]d > work.txt", "echo work-%[1]d > work.txt", "rm -f a.txt", "echo over-%[1]d > b.txt; exit 1", "true",
	"echo %[1]d > b.txt; git add -A; git commit -qm agent-%[1]d", "git commit -q --allow-empty --amend -m amended-%[1]d",
	"git reset -q --hard HEAD~1", "git checkout -q -b agent-%[1]d; echo %[1]d > c.txt; git add c.txt; git commit -qm side-%[1]d",
	"echo %[1]d > b.txt; git stash -q", "git checkout -q main", "git clean -fdq", "git gc -q --prune=now",
}

func (w *world) typesRun(t *rapid.T) {
	w.n++
	text := rapid.SampledFrom(agentDeeds).Draw(t, "agent")
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(text, w.n)
	}
	if err := os.WriteFile(filepath.Join(w.top, "agent.sh"), []byte(text+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("the agent: %s", text)
	w.types(t, typed{verb: "run", dir: w.place(t, w.look()), args: []string{"run", "--max-attempts", "2", "--no-wait"}, at: -1, agent: true})
	w.last = nil
}

func (w *world) typesGC(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "sure") == 0 {
		w.types(t, typed{verb: "gc", dir: w.main, args: []string{"gc", "--force", "--days", "0"}, at: -1})
		w.last = nil
	}
}

func (w *world) typesRemove(t *rapid.T) {
	places := w.look().places
	for _, dir := range sortedKeys(places) {
		if id := w.on(places[dir]); dir != w.main && id != "" {
			w.types(t, typed{verb: "delete --worktree", dir: w.main, id: id, args: []string{"delete", "--worktree", string(id), "--discard-ignored"}, at: -1, once: true})
			w.last = nil
			return
		}
	}
	t.Skip()
}

// edits changes some files, as a person does between commands.
func (w *world) edits(t *rapid.T) {
	dir := w.place(t, w.look())
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		name := rapid.SampledFrom([]string{"a.txt", "b.txt", "dir/c.txt", "dir", "dir/sub/d.txt", "sp ace", "-rf", "ü", "x.ignored", heldOutName}).Draw(t, "file")
		path := filepath.Join(dir, name)
		how := rapid.IntRange(0, 7).Draw(t, "how")
		if how == 7 {
			_ = os.RemoveAll(path)
			t.Logf("removed %s in %s", name, filepath.Base(dir))
			continue
		}
		for above := filepath.Dir(path); len(above) > len(dir); above = filepath.Dir(above) { // a file may be there
			if info, err := os.Lstat(above); err == nil && !info.IsDir() {
				_ = os.Remove(above)
			}
		}
		_ = os.RemoveAll(path)
		_ = os.MkdirAll(filepath.Dir(path), 0o777)
		text, mode := w.unique("text"), os.FileMode(0o644)
		var err error
		switch how {
		case 4:
			mode = 0o755
		case 5:
			text = "same\n"
		}
		if how == 6 {
			err = os.Symlink("a.txt", path)
		} else {
			err = os.WriteFile(path, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("wrote %s in %s: %q", name, filepath.Base(dir), text)
	}
	w.last = nil
}

// stages adds a content to the index that exists nowhere else.
func (w *world) stages(t *rapid.T) {
	dir := w.place(t, w.look())
	path := filepath.Join(dir, "a.txt")
	_ = os.RemoveAll(path)
	if err := os.WriteFile(path, []byte(w.unique("staged")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, exit, errs := w.run(dir, nil, "git", "add", "a.txt"); exit != 0 {
		lock := strings.TrimSpace(w.must(dir, "git", "rev-parse", "--path-format=absolute", "--git-path", "index.lock"))
		mark, _ := os.ReadFile(lock)
		if len(w.cut) > 0 && strings.Contains(errs, "index.lock") && (w.killed || string(mark) == "locked by wfs\n") {
			return // the lock of a killed command: the next successful command removes it, or came reports it
		}
		t.Fatalf("git add a.txt: exit %d: %s", exit, errs)
	}
	if rapid.Bool().Draw(t, "again") {
		if err := os.WriteFile(path, []byte(w.unique("changed again")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("staged a.txt in %s", filepath.Base(dir))
	w.last = nil
}

// usesGit runs git commands of a person or of an agent that outlived its run, without wfs.
func (w *world) usesGit(t *rapid.T) {
	dir := w.place(t, w.look())
	lines := []string{
		"git add -A . ':!.env'; git commit -qm mine-%d", "git commit -q --allow-empty --amend -m amended-%d", "git reset -q --hard HEAD~1", "git switch -q main",
		"git switch -q -c mine-%d", "git rebase -q main || git rebase --abort", "git stash -q || true", "git tag t%d", "git checkout -q -- . || true",
		"git reset -q --soft HEAD~1", "git stash -q; git stash pop -q || git checkout -q -f",
	}
	if id := w.some(t); id != "" {
		lines = append(lines, "git switch -q wfs/"+string(id))
	}
	line := rapid.SampledFrom(lines).Draw(t, "line")
	if strings.Contains(line, "%") {
		w.n++
		line = fmt.Sprintf(line, w.n)
	}
	out, exit, errs := w.run(dir, nil, "sh", "-c", line)
	t.Logf("in %s: %s: exit %d %s%s", filepath.Base(dir), line, exit, out, errs)
	w.last = nil
	w.keepsAll(w.look(), "")
}

// caresForGit runs git's own maintenance, or deletes wfs's files.
func (w *world) caresForGit(t *rapid.T) {
	line := rapid.SampledFrom([]string{"git gc -q --prune=now", "git repack -adq", "git pack-refs --all", "git prune --expire=now", "git multi-pack-index write 2> /dev/null || true", "rm -rf .git/wfs"}).Draw(t, "line")
	if line == "rm -rf .git/wfs" && len(w.cut) > 0 {
		return // a killed command needs these files to continue
	}
	w.sound()
	out, exit, errs := w.run(w.main, nil, "sh", "-c", line)
	t.Logf("%s: exit %d %s%s", line, exit, out, errs)
	// `git repack -ad` deletes unreachable commits, and leaves them in the commit-graph that an earlier `git gc`
	// wrote. That is normal for git; commits that a command of wfs deletes are not.
	w.gone, _ = w.fsck()
	if exit != 0 && len(w.cut) == 0 { // a killed command's lock may stay until the next command
		t.Errorf("%s: exit %d: %s", line, exit, errs)
	}
	p := w.look()
	w.keepsAll(p, "")
	w.agrees(p)
}

func mapsEqual(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
