package model

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// typed is one command of wfs.
type typed struct {
	verb string
	dir  string
	args []string
	id   string // the session that it goes to or is about
	at   int    // checkpoint, -1 for none

	agent bool // an agent works in it, and may use git
	moves bool // an undo undoes it
	once  bool // typed again it does something else, or is refused
}

func (c typed) argv() []string { return append(append([]string{"wfs"}, c.args...), "--json") }

// elsewhere reports whether the command does not touch the work tree in which it is typed: the leftovers of a killed
// command there stay until another command opens that session.
func (c typed) elsewhere() bool {
	return slices.Contains(c.args, "--worktree")
}

func (c typed) String() string { return strings.Join(c.args, " ") }

// types runs a command, or kills it.
func (w *world) types(t *rapid.T, c typed) {
	before := w.look()
	if c.verb == "gc" {
		w.forgets(before)
	}
	w.sum.steps++
	fate := rapid.IntRange(0, 2).Draw(t, "fate")
	if w.steps != nil {
		w.last = nil
		w.records(c)
		return
	}
	if fate == 2 {
		w.last, w.back = nil, nil
		w.kills(t, c, before)
		return
	}
	_, exit, errs := w.run(c.dir, nil, c.argv()...)
	t.Logf("in %s: wfs %s: exit %d %s", filepath.Base(c.dir), c, exit, errs)
	w.came(c, before, w.look(), exit, errs)
}

// came checks the effects of a command that was not killed.
func (w *world) came(c typed, before, after *picture, exit int, errs string) {
	w.t.Helper()
	w.count(c, exit)
	w.compare(before, after, c.verb, c.agent)
	w.agrees(after)
	if exit != 0 && !(c.agent && exit > testkit.ExitUsage) {
		f := w.failed(errs)
		if f.Code == "error" || f.Code == "unknown" {
			w.t.Errorf("wfs %s: exit %d: %s", c, exit, errs)
		}
		w.unlocks(f)
		if len(w.cut) == 0 && !c.agent {
			w.same("wfs "+c.String()+" refused", before, after)
		}
	}
	if exit == 0 && len(w.cut) == 0 {
		w.did(c, before, after)
	}
	if exit == 0 && !c.elsewhere() {
		delete(w.cut, c.dir)
	}
	if exit == 0 && len(w.cut) == 0 {
		for _, name := range testkit.Litter(w.main) {
			if strings.HasPrefix(name, ".git/wfs/.tmp-") || strings.HasPrefix(name, ".git/wfs/half-made/.tmp-") || strings.HasPrefix(name, "../state/wfs/tmp/") {
				continue // shared: it goes when it is an hour old, or with the next run
			}
			if of, below, ok := strings.Cut(strings.TrimPrefix(name, ".git/wfs/sessions/"), "/"); ok && strings.HasPrefix(name, ".git/wfs/sessions/") {
				if id := of; id != c.id && id != w.on(after.places[c.dir]) {
					continue // it goes when that session is opened, or with gc if the session was never made
				}
				if c.verb != "gc" && strings.Contains(below, ".tmp-gone-") {
					continue // a directory that a killed gc was removing: the next gc removes it
				}
			}
			if !strings.Contains(name, "/objects/") || strings.Contains(name, "wfs") || strings.HasSuffix(name, ".keep") { // otherwise it is git's
				w.t.Errorf("wfs %s: left behind: %s", c, name)
			}
		}
	}
	w.t.Logf("  %s", w.where(after))
}

func (w *world) count(c typed, exit int) {
	n := w.sum.verbs[c.verb]
	if exit == 0 {
		n[0]++
	} else {
		n[1]++
	}
	w.sum.verbs[c.verb] = n
}

func (w *world) where(p *picture) string {
	var all []string
	for _, dir := range slices.Sorted(maps.Keys(p.places)) {
		s := p.places[dir]
		all = append(all, fmt.Sprintf("%s on %s at %.7s %v", filepath.Base(dir), strings.TrimPrefix(s.head, "refs/heads/"), s.tip, slices.Sorted(maps.Keys(s.files))))
	}
	return strings.Join(all, "; ")
}

// on returns the session that HEAD is on in a work tree, "" for none.
func (w *world) on(s spot) string {
	id, ours := strings.CutPrefix(s.head, branchPrefix)
	if _, there := w.logs[id]; !ours || !there {
		return ""
	}
	return id
}

// did checks that a successful command has had its effect.
func (w *world) did(c typed, before, after *picture) {
	w.t.Helper()
	was, is := before.places[c.dir], after.places[c.dir]
	wrong := func(format string, args ...any) {
		w.t.Helper()
		w.t.Errorf("wfs %s: %s", c, fmt.Sprintf(format, args...))
	}
	holds := func(what string, files map[string]string) {
		w.t.Helper()
		if got := w.filesOf(what); !maps.Equal(got, files) {
			wrong("%s holds\n%v\nand should hold\n%v", what, got, files)
		}
	}
	branch := branchPrefix + string(c.id)
	left := w.on(was)
	last, back := w.last, w.back
	w.last, w.back = nil, nil
	if c.moves && (is.head != was.head || !maps.Equal(is.files, was.files) || c.at >= 0) {
		w.last = &done{c.dir, before, after}
	}
	switch c.verb {
	case "checkpoint":
		holds(is.tip, is.files)
		if !maps.Equal(was.files, is.files) || is.head != was.head {
			wrong("it moved the work tree")
		}
	case "switch", "resume":
		if is.head != branch {
			wrong("HEAD is on %s", is.head)
		}
		if left != "" && left != c.id {
			holds(branchPrefix+string(left), was.files)
		}
		if left == c.id {
			if !maps.Equal(was.files, is.files) {
				wrong("it moved the work tree")
			}
		} else {
			holds(branch, is.files)
		}
	case "resume --at":
		cp := w.logs[c.id][c.at]
		if is.head != branch || after.refs[branch] != string(cp.Code) {
			wrong("HEAD is on %s, the branch at %s, the checkpoint is %s", is.head, after.refs[branch], cp.Code)
		}
		holds(string(cp.Tree), is.files)
	case "leave":
		if is.head != "refs/heads/main" {
			wrong("HEAD is on %s", is.head)
		}
		if left != "" {
			holds(branchPrefix+string(left), was.files)
		}
	case "new":
		id := w.on(is)
		if id == "" || is.head == was.head || len(w.logs[id]) == 0 {
			wrong("HEAD is on %s", is.head)
			return
		}
		holds(is.tip, is.files)
	case "undo":
		if last != nil && last.dir == c.dir && w.untouched(last.after, before) {
			w.same("undo", last.before, after, c.dir)
		}
		w.back = &done{c.dir, before, after}
	case "redo":
		if back != nil && back.dir == c.dir && w.untouched(back.after, before) {
			w.same("redo", back.before, after, c.dir)
		}
	case "finish":
		if !strings.HasPrefix(is.head, "refs/heads/handed-") {
			wrong("HEAD is on %s", is.head)
		}
	case "delete":
		if after.refs["refs/wfs/"+string(c.id)+"/ledger"] != "" || after.refs[branch] != "" {
			wrong("it is there")
		}
	}
	for id, log := range w.logs { // a command that moves a session's branch moves it to a checkpoint
		ref := branchPrefix + string(id)
		if now := after.refs[ref]; now != before.refs[ref] && now != "" && !slices.ContainsFunc(log, func(c checkpoint) bool { return c.Code == now }) && !c.agent && c.verb != "undo" && c.verb != "redo" && c.verb != "delete --restore" {
			wrong("%s is at %s, which is no checkpoint", ref, now)
		}
	}
}

// untouched reports whether files and HEADs are the same at two moments.
func (w *world) untouched(a, b *picture) bool {
	return maps.EqualFunc(a.places, b.places, func(x, y spot) bool { return x.head == y.head && x.tip == y.tip && maps.Equal(x.files, y.files) })
}

// kills runs a command to its end in a copy, kills it in the original, and mostly types it again: then the result
// must be the same as without the kill.
func (w *world) kills(t *rapid.T, c typed, before *picture) {
	log := filepath.Join(filepath.Dir(w.top), "points")
	_ = os.Remove(log)
	cut := len(w.cut) > 0
	w.copies(w.top, w.top+".kept")
	calls, exit := w.traces(c, []string{"WFS_FAILPOINT_LOG=" + log}, 0)
	if calls == 0 {
		_, exit, _ = w.run(c.dir, []string{"WFS_FAILPOINT_LOG=" + log}, c.argv()...)
	}
	want := w.look()
	if err := os.RemoveAll(w.top); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.top+".kept", w.top); err != nil {
		t.Fatal(err)
	}

	data, _ := os.ReadFile(log)
	points := strings.Fields(string(data))
	at := ""
	if n := rapid.IntRange(0, 1<<16).Draw(t, "where"); len(points) > 0 && (calls == 0 || n%2 == 0) {
		n %= len(points)
		nth := 0
		for _, p := range points[:n+1] {
			if p == points[n] {
				nth++
			}
		}
		at = fmt.Sprintf("%s#%d", points[n], nth)
		w.run(c.dir, []string{"WFS_FAILPOINT=" + at}, c.argv()...)
	} else if calls > 0 {
		at = fmt.Sprintf("call %d of %d", 1+n%calls, calls)
		w.traces(c, nil, 1+n%calls)
	}
	w.sum.crashes++
	t.Logf("in %s: wfs %s: killed at %s; %d else", filepath.Base(c.dir), c, at, exit)
	half := w.look()
	t.Logf("  %s", w.where(half))
	w.compare(before, half, c.verb, c.agent)
	w.sound()
	w.agrees(half)
	stays := w.cut[c.dir] && c.elsewhere()
	w.cut[c.dir] = true
	w.killed = w.killed || c.agent
	if rapid.IntRange(0, 2).Draw(t, "again") == 0 {
		return
	}
	w.sum.again++
	if c.verb == "gc" { // it still has to be completed
		w.forgets(half)
	}
	_, code, errs := w.run(c.dir, nil, c.argv()...)
	if c.agent && code != 0 && w.unlocks(w.failed(errs)) {
		_, code, errs = w.run(c.dir, nil, c.argv()...)
	}
	if hint, ok := strings.CutPrefix(w.failed(errs).Hint, "wfs resume "); ok && c.agent && w.failed(errs).Code == "no_session" { // the agent had gone elsewhere
		t.Logf("wfs resume %s", hint)
		if _, code, errs = w.run(c.dir, nil, "wfs", "resume", hint, "--json"); code == 0 {
			_, code, errs = w.run(c.dir, nil, c.argv()...)
		}
	}
	after := w.look()
	t.Logf("typed again: exit %d %s", code, errs)
	w.count(c, code)
	w.compare(half, after, c.verb, c.agent)
	w.agrees(after)
	t.Logf("  %s", w.where(after))
	if f := w.failed(errs); code != 0 && (exit == 0 && !c.once || f.Code == "error") {
		t.Errorf("wfs %s: killed at %s and typed again: exit %d: %s", c, at, code, errs)
	}
	if code == 0 && !stays {
		delete(w.cut, c.dir)
	}
	if code == 0 && exit == 0 && !c.once && !c.agent && !cut {
		w.same(fmt.Sprintf("wfs %s: killed at %s and typed again", c, at), want, after)
	}
}

// unlocks removes, as the hint tells people to, the lock of a killed git that was not run by wfs, but by an agent.
func (w *world) unlocks(f failure) bool {
	if f.Code != "locked" {
		return false
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(f.Error, "git's lock "), " is ")
	w.t.Logf("removed %s", path)
	return os.Remove(path) == nil
}

func (w *world) copies(from, to string) {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}
