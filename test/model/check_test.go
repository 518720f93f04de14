package model

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// picture is the state of a repository at one moment, as git and the files show it.
type picture struct {
	places  map[string]spot   // by directory
	objects map[string]string // ids that must not get lost: "" for commits and their trees, else a path
	index   map[string]bool   // ids that are staged
	refs    map[string]string
	theirs  map[string]string // the user's things that are not refs: ignored files, reflogs, configuration, hooks
}

// spot is one work tree.
type spot struct {
	head  string // full name of the branch, or a commit
	tip   string
	files map[string]string // "mode id" by path, of files that are neither ignored nor held out
}

const heldOutName = ".env"

func (w *world) look() *picture {
	w.t.Helper()
	p := &picture{places: map[string]spot{}, objects: map[string]string{}, index: map[string]bool{}, refs: map[string]string{}, theirs: map[string]string{}}
	w.reach(p.objects)
	for line := range strings.Lines(w.must(w.main, "git", "for-each-ref", "--format=%(objectname) %(refname)")) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.refs[ref] = id
	}
	for _, part := range strings.Split(w.must(w.main, "git", "worktree", "list", "--porcelain"), "\n\n") {
		at := map[string]string{}
		for _, line := range strings.Split(part, "\n") {
			key, value, _ := strings.Cut(line, " ")
			at[key] = value
		}
		dir := at["worktree"]
		if _, err := os.Stat(filepath.Join(dir, ".git")); dir == "" || err != nil {
			continue
		}
		s := spot{head: at["branch"], tip: at["HEAD"], files: map[string]string{}}
		if s.head == "" {
			s.head = s.tip
		}
		tracked := false
		for _, line := range list0(w.must(dir, "git", "ls-files", "-z", "-s")) {
			p.index[strings.Fields(line)[1]] = true
			tracked = tracked || strings.HasSuffix(line, "\t"+heldOutName)
		}
		for _, name := range list0(w.must(dir, "git", "ls-files", "-z", "-c", "-o", "--exclude-standard")) {
			if mode, id := blobOf(filepath.Join(dir, name)); id != "" && (name != heldOutName || tracked) {
				s.files[name] = mode + " " + id
				p.objects[id] = name
			}
		}
		untouched := list0(w.must(dir, "git", "ls-files", "-z", "-o", "-i", "--exclude-standard"))
		if !tracked {
			untouched = append(untouched, heldOutName)
		}
		for _, name := range untouched {
			if _, id := blobOf(filepath.Join(dir, name)); id != "" {
				p.theirs[filepath.Join(dir, name)] = id
			}
		}
		p.places[dir] = s
	}
	git := filepath.Join(w.main, ".git")
	for _, top := range []string{"config", "hooks", "info/exclude", "logs/refs/heads", "logs/refs/stash"} {
		_ = filepath.WalkDir(filepath.Join(git, top), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(path, "/refs/heads/wfs/") {
				_, p.theirs[path] = blobOf(path)
			}
			return nil
		})
	}
	return p
}

// reach adds all objects that are reachable from a ref, except from the operation log, from auto-saves, which replace
// each other, and from refs of the given patterns.
func (w *world) reach(objects map[string]string, without ...string) {
	w.t.Helper()
	args := []string{"git", "rev-list", "--objects"}
	for _, pattern := range append(without, "refs/wfs-ops/*", "refs/wfs/*/auto", "refs/wfs-deleted/*/auto") {
		args = append(args, "--exclude="+pattern)
	}
	for line := range strings.Lines(w.must(w.main, append(args, "--all")...)) {
		id, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		objects[id] = path
	}
}

func list0(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}

// blobOf returns the mode and the id with which git would store a file, "" when there is none.
func blobOf(path string) (mode, id string) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", ""
	}
	var data []byte
	switch {
	case info.Mode().IsRegular():
		mode = "100644"
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		data, err = os.ReadFile(path)
	case info.Mode()&fs.ModeSymlink != 0:
		mode = "120000"
		var to string
		to, err = os.Readlink(path)
		data = []byte(to)
	default:
		return "", ""
	}
	if err != nil {
		return "", ""
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return mode, hex.EncodeToString(h.Sum(nil))
}

// filesOf returns the files of a commit or tree, in the form of a spot's files.
func (w *world) filesOf(what string) map[string]string {
	w.t.Helper()
	files := map[string]string{}
	for _, line := range list0(w.must(w.main, "git", "ls-tree", "-r", "-z", "--full-tree", what)) {
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		files[path] = f[0] + " " + f[2]
	}
	return files
}

// ours reports whether a ref, or a file of git, belongs to wfs.
func ours(name string) bool {
	return strings.HasPrefix(name, "refs/wfs") || strings.HasPrefix(name, branchPrefix) || strings.Contains(name, "refs/heads/handed-")
}

// compare checks the rules that hold between the moments before and after any command of wfs, whatever its outcome.
// agent means that an agent ran, which may make branches and stashes of its own.
func (w *world) compare(before, after *picture, verb string, agent bool) {
	w.t.Helper()
	for id, path := range before.objects {
		if _, there := after.objects[id]; !there {
			w.t.Errorf("lost: %s, which was %s", id, orCommit(path))
		}
	}
	for id := range before.index {
		if _, there := after.objects[id]; !there && !after.index[id] {
			w.t.Errorf("lost: %s, which was in the index", id)
		}
	}
	for ref, id := range before.refs {
		if !ours(ref) && after.refs[ref] != id && !(agent && ref == "refs/stash") {
			w.t.Errorf("%s is at %q and was at %s", ref, after.refs[ref], id)
		}
	}
	for ref := range after.refs {
		if before.refs[ref] == "" && !ours(ref) && !agent {
			w.t.Errorf("%s is new", ref)
		}
	}
	for path, id := range before.theirs {
		if _, now := blobOf(path); now == id || ours(path) || agent && (strings.Contains(path, "/logs/") || filepath.Base(path) == heldOutName) || verb == "delete --worktree" {
			continue
		}
		w.t.Errorf("%s was changed", path)
	}
	w.keepsAll(after, verb)
}

func orCommit(path string) string {
	if path == "" {
		return "a commit or its tree"
	}
	return path
}

// keepsAll checks that ledgers and rescues still hold everything that they ever held, whatever people and agents do
// with their branches. It leaves out the copy of the branch that a deletion makes: a restore brings the branch itself
// back, and compare checks the objects that only the branch reaches. After gc it checks nothing: compare knows from
// forgets which objects gc may free.
func (w *world) keepsAll(after *picture, verb string) {
	w.t.Helper()
	args := []string{"git", "rev-list", "--objects"}
	for ref := range after.refs {
		deleted := strings.HasPrefix(ref, "refs/wfs-deleted/")
		if !deleted && !strings.HasPrefix(ref, "refs/wfs/") || strings.HasSuffix(ref, "/auto") || strings.HasSuffix(ref, "/index") || deleted && strings.HasSuffix(ref, "/branch") {
			continue
		}
		args = append(args, ref)
	}
	now := map[string]bool{}
	if len(args) > 3 {
		for line := range strings.Lines(w.must(w.main, args...)) {
			id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			now[id] = true
		}
	}
	if verb != "gc" {
		for id := range w.kept {
			if !now[id] {
				w.t.Errorf("not kept any more: %s", id)
			}
		}
	}
	w.kept = now
}

// agrees checks that wfs's report of its sessions matches the repository, and that no checkpoint has changed.
func (w *world) agrees(p *picture) {
	w.t.Helper()
	var l listJSON
	w.say(w.main, &l, "list")
	said := map[string]bool{}
	for _, s := range l.Sessions {
		said[s.ID] = true
		if s.Status == unreadable {
			w.t.Errorf("%s cannot be read: %s", s.ID, s.Why)
			continue
		}
		if s.Worktree != "" && !s.Gone && p.places[s.Worktree].head != branchPrefix+s.ID {
			w.t.Errorf("list says %s is in %s, where HEAD is on %s", s.ID, s.Worktree, p.places[s.Worktree].head)
		}
		var log logJSON
		w.say(w.main, &log, "log", s.ID)
		slices.Reverse(log.Checkpoints)
		old := w.logs[s.ID]
		for i, c := range log.Checkpoints {
			switch {
			case c.Number != i:
				w.t.Errorf("%s: checkpoint %d has the number %d", s.ID, i, c.Number)
			case i < len(old) && (old[i].Code != c.Code || old[i].Tree != c.Tree):
				w.t.Errorf("%s: checkpoint %d was %s and is %s", s.ID, i, old[i].Code, c.Code)
			case p.objects[c.Code] != "" || !w.kept[c.Code]:
				w.t.Errorf("%s: checkpoint %d, %s, is not reachable", s.ID, i, c.Code)
			}
		}
		if len(old) > len(log.Checkpoints) {
			w.t.Errorf("%s: had %d checkpoints and has %d", s.ID, len(old), len(log.Checkpoints))
		}
		if log.Current != s.Checkpoint || log.Current >= len(log.Checkpoints) {
			w.t.Errorf("%s: list says checkpoint %d, log says %d of %d", s.ID, s.Checkpoint, log.Current, len(log.Checkpoints))
		}
		w.logs[s.ID] = log.Checkpoints
	}
	for ref := range p.refs {
		id, isLedger := strings.CutSuffix(strings.TrimPrefix(ref, "refs/wfs/"), "/ledger")
		if isLedger && strings.HasPrefix(ref, "refs/wfs/") && !said[id] {
			w.t.Errorf("list does not say that there is %s", id)
		}
	}
	maps.DeleteFunc(w.logs, func(id string, _ []checkpoint) bool { return !said[id] })
}

// sound checks the repository with git.
func (w *world) sound() {
	w.t.Helper()
	gone, errs := w.fsck()
	for id := range gone {
		if !w.gone[id] {
			w.t.Errorf("git's commit-graph lists %s, which is gone", id)
		}
	}
	if errs != "" {
		w.t.Errorf("git fsck: %s", errs)
	}
	for _, args := range [][]string{{"git", "for-each-ref"}, {"git", "status", "--porcelain"}} {
		_, exit, errs := w.run(w.main, nil, args...)
		said := slices.DeleteFunc(strings.Split(errs, "\n"), func(line string) bool { // about the link a.txt -> a.txt
			return line == "" || strings.HasSuffix(line, ": Too many levels of symbolic links")
		})
		if exit != 0 || len(said) > 0 {
			w.t.Errorf("%s: exit %d: %s", strings.Join(args, " "), exit, errs)
		}
	}
}

// listedOnly matches the complaint of git fsck about a commit that only git's commit-graph still has.
var listedOnly = regexp.MustCompile(`^(?:error: )?(?:failed to parse commit|Could not read) ([0-9a-f]{40})(?: from object database for commit-graph)?$`)

// fsck returns the missing commits that git's commit-graph still lists, and git's other complaints.
func (w *world) fsck() (gone map[string]bool, complaints string) {
	w.t.Helper()
	args := []string{"fsck", "--full", "--strict", "--no-dangling"}
	if _, exit, errs := w.run(w.main, nil, append([]string{"git", "-c", "core.commitGraph=false"}, args...)...); exit != 0 || errs != "" {
		complaints = fmt.Sprintf("exit %d: %s", exit, errs)
	}
	gone = map[string]bool{}
	_, _, errs := w.run(w.main, nil, append([]string{"git"}, args...)...)
	for line := range strings.Lines(errs) {
		if m := listedOnly.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			gone[m[1]] = true
		} else {
			complaints += line
		}
	}
	return gone, complaints
}

// same compares files and HEAD of the given work trees, by default of all, at two moments.
func (w *world) same(what string, want, got *picture, only ...string) {
	w.t.Helper()
	for dir, a := range want.places {
		if len(only) > 0 && !slices.Contains(only, dir) {
			continue
		}
		b, there := got.places[dir]
		switch {
		case !there:
			w.t.Errorf("%s: there is no work tree %s", what, dir)
		case a.head != b.head:
			w.t.Errorf("%s: HEAD of %s is %s and should be %s", what, dir, b.head, a.head)
		case !maps.Equal(a.files, b.files):
			w.t.Errorf("%s: the files in %s are\n%v\nand should be\n%v", what, dir, b.files, a.files)
		}
	}
}

// failed decodes wfs's report of a failure.
func (w *world) failed(stderr string) failure {
	var f failure
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &f); err != nil {
		f.Error, f.Code = stderr, "unknown"
	}
	return f
}
