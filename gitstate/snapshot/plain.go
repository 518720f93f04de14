package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Git stores the bytes of most changed files as they are. wfs adds these plain files itself, without a git process, and
// writes their blobs and trees together with the commit. If anything else may concern one of the paths (attributes,
// settings, odd names, a file that changes while it is read), git adds all of the paths.

// Limits of the file contents in memory, in bytes: of one file, and of all files together.
const (
	maxPlain    = 32 << 20
	maxPlainAll = 128 << 20
)

// readPlain reads a regular file, or the target of a symbolic link. ok is false if the path did not have the stat data
// `was`, before or after reading.
func readPlain(path string, was object.FileLook) (data []byte, ok bool) {
	if was.Size > maxPlain {
		return nil, false
	}
	if was.Mode&object.IndexType == object.KindLink {
		to, err := os.Readlink(path)
		data = []byte(to)
		ok = err == nil
	} else {
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, false
		}
		defer f.Close()
		data = make([]byte, was.Size)
		_, err = io.ReadFull(f, data)
		n, err2 := f.Read(make([]byte, 1))
		ok = err == nil && n == 0 && errors.Is(err2, io.EOF)
	}
	now, there := object.LookAt(path)
	return data, ok && there && now == was
}

// plainRules are the settings of the repository and the user that concern the content of files.
type plainRules struct {
	repo    *Files
	returns bool              // git may convert line ends even without an attribute
	texts   map[string]string // contents of attributes files that were read
	all     []string          // attributes files that apply to all paths
}

// plainName reports whether git accepts a path on every system, and does not treat it specially.
func plainName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		lower := strings.ToLower(part)
		switch lower {
		case ".gitignore", ".gitattributes", ".gitkeep", ".github", ".gitlab-ci.yml":
			continue
		}
		if part == "" || strings.HasPrefix(lower, ".git") || strings.Contains(lower, "git~") ||
			strings.ContainsFunc(part, odd) {
			return false
		}
	}
	return true
}

// odd reports whether some file systems may store a name with this character differently, or not at all.
func odd(c rune) bool { return c > 126 || c < ' ' || c == '\\' || c == ':' }

// keeps reports whether git stores a file's bytes unchanged.
func (p *plainRules) keeps(name string, data []byte) bool {
	returns, ident := bytes.IndexByte(data, '\r') >= 0, bytes.Contains(data, []byte("$Id"))
	if returns && p.returns {
		return false
	}
	files := slices.Clone(p.all)
	for dir := name; dir != "."; {
		dir = filepath.ToSlash(filepath.Dir(dir))
		files = append(files, filepath.Join(p.repo.Git.Root, filepath.FromSlash(dir), ".gitattributes"))
	}
	for _, file := range files {
		text, read := p.texts[file]
		if !read {
			data, err := gitcmd.ReadFile(file)
			if err != nil && !gitcmd.Absent(err) {
				return false
			}
			text = strings.TrimPrefix(string(data), "\ufeff") // git ignores a byte order mark
			p.texts[file] = text
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			end := max(strings.IndexAny(line, " \t"), 0)
			pattern, attributes := line[:end], line[end:]
			concerns := strings.HasPrefix(pattern, "[attr]") || strings.HasPrefix(pattern, `"`) || MayMatch(pattern, name)
			if concerns && converts(attributes, returns, ident) {
				return false
			}
		}
	}
	return true
}

// converts reports whether attributes may change a file's bytes when git adds it. returns and ident say that the file
// contains carriage returns, or "$Id": without these, git changes no line ends or keywords.
func converts(attributes string, returns, ident bool) bool {
	for _, name := range []string{"filter", "encoding"} {
		if strings.Contains(attributes, name) {
			return true
		}
	}
	for _, name := range []string{"text", "crlf", "eol"} {
		if returns && strings.Contains(attributes, name) {
			return true
		}
	}
	return ident && strings.Contains(attributes, "ident")
}

// plainAdd collects the changes to be made in an index.
type plainAdd struct {
	repo    *Adder
	old     *object.Index
	rules   *plainRules
	edits   []object.IndexEdit
	objects []object.Object
	dirty   map[string]bool // changed directories, see TreesOf
	bytes   int64
}

// addPlain brings a private index up to date with some paths of the work tree. It returns the new index, and the new
// objects: blobs, and trees except the root. If ok is false, it has changed nothing, and git has to add the paths.
func (r *Adder) addPlain(ctx context.Context, path string, x *object.Index, paths []string) (now *object.Index,
	objects []object.Object, ok bool) {
	if x.Special || x.Version != 2 && x.Version != 3 || !r.Git.ReadsDirectly() {
		return nil, nil, false
	}
	a := &plainAdd{repo: r, old: x, dirty: map[string]bool{}}
	if a.rules, ok = r.plainRules(ctx); !ok {
		return nil, nil, false
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if !a.add(p) {
			return nil, nil, false
		}
	}
	if now, ok = a.index(); !ok {
		return nil, nil, false
	}
	_, trees, ok := r.Objects.TreesOf(now, a.dirty)
	if !ok {
		return nil, nil, false
	}
	r.Objects.EncodeIndex(now)
	if durable.WriteCache(path, now.Data, 0o600) != nil {
		return nil, nil, false
	}
	return now, append(a.objects, trees...), true
}

// add adds or removes the entry of one path. It returns false if git has to do this.
func (a *plainAdd) add(p string) bool {
	full := filepath.Join(a.repo.Git.Root, filepath.FromSlash(p))
	file, below := a.old.Position(p)
	f, ok := object.LookAt(full)
	if !ok {
		_, err := os.Lstat(full)
		a.remove(p, file, below)
		return gitcmd.Absent(err)
	}
	blob, ok := a.blob(p, full, f)
	if !ok {
		return false
	}
	if below.N > 0 {
		a.edits = append(a.edits, below)
	}
	mode, id := modeOf(f), object.RawID(blob.ID)
	same := file.N > 0 && a.old.Entries[file.From].Mode == mode && bytes.Equal(a.old.Entries[file.From].ID, id)
	if !same || below.N > 0 {
		a.touch(p)
	}
	if !same {
		a.objects = append(a.objects, blob)
	}
	file.Data = object.AppendEntry(nil, f, mode, id, p)
	e, _, ok := object.ParseIndexEntry(file.Data, len(id))
	e.Name = []byte(p)
	file.Entry = &e
	a.edits = append(a.edits, file)
	return ok
}

// remove removes the entries at and below a path.
func (a *plainAdd) remove(p string, file, below object.IndexEdit) {
	for _, e := range []object.IndexEdit{below, file} {
		if e.N > 0 {
			a.edits = append(a.edits, e)
		}
	}
	a.touch(p)
}

// blob returns a file's content as a blob, or false if git may store other bytes.
func (a *plainAdd) blob(p, full string, f object.FileLook) (object.Object, bool) {
	if !plainKind(f) || !plainName(p) {
		return object.Object{}, false
	}
	data, ok := readPlain(full, f)
	if a.bytes += int64(len(data)); !ok || a.bytes > maxPlainAll {
		return object.Object{}, false
	}
	if f.Mode&object.IndexType == object.KindRegular && !a.rules.keeps(p, data) {
		return object.Object{}, false
	}
	return a.repo.Objects.NewObject("blob", data), true
}

// plainKind reports whether a path is a regular file or a symbolic link.
func plainKind(f object.FileLook) bool {
	kind := f.Mode & object.IndexType
	return kind == object.KindRegular || kind == object.KindLink
}

// modeOf returns a file's mode as an index stores it.
func modeOf(f object.FileLook) uint32 {
	switch {
	case f.Mode&object.IndexType == object.KindLink:
		return object.KindLink
	case f.Mode&0o100 != 0:
		return object.KindRegular | 0o755
	}
	return object.KindRegular | 0o644
}

// touch marks the directories of a path as changed.
func (a *plainAdd) touch(p string) {
	for i := range len(p) {
		if p[i] == '/' {
			a.dirty[p[:i+1]] = true
		}
	}
}

// index returns the index with all edits, but without the cached trees and the checksum, which EncodeIndex adds. It
// returns false if a file and a directory would have the same path. The result has no Version, because the offsets of
// its entries in the file are unknown.
func (a *plainAdd) index() (*object.Index, bool) {
	slices.SortStableFunc(a.edits, func(x, y object.IndexEdit) int { return x.From - y.From })
	old := a.old
	now := &object.Index{At: old.At, Written: old.Written, Cached: old.Cached, Sum: old.Sum,
		Entries: make([]object.IndexEntry, 0, len(old.Entries)+len(a.edits)),
		Data:    make([]byte, 0, len(old.Data)+len(old.Data)/32)}
	now.Data = append(now.Data, old.Data[:12]...)
	from := 0
	keep := func(to int) {
		now.Entries = append(now.Entries, old.Entries[from:to]...)
		start := len(now.Data)
		now.Data = append(now.Data, old.Data[old.Offset(from):old.Offset(to)]...)
		old.SmudgeYoung(now.Data[start:], from, to)
	}
	for _, e := range a.edits {
		if e.From < from {
			return nil, false
		}
		keep(e.From)
		from = e.From + e.N
		if e.Entry == nil {
			continue
		}
		if n := len(now.Entries); n > 0 && bytes.Compare(now.Entries[n-1].Name, e.Entry.Name) >= 0 {
			return nil, false
		}
		now.Entries, now.Data = append(now.Entries, *e.Entry), append(now.Data, e.Data...)
	}
	keep(len(old.Entries))
	for _, e := range a.edits {
		if e.Entry != nil && now.Blocked(string(e.Entry.Name)) {
			return nil, false
		}
	}
	now.End = len(now.Data)
	binary.BigEndian.PutUint32(now.Data[8:], uint32(len(now.Entries)))
	return now, true
}

// plainRules reads the rules for the content of files. It returns false if settings make git treat files in a way that
// this package does not implement.
func (r *Adder) plainRules(ctx context.Context) (*plainRules, bool) {
	s, err := r.Git.Answers.Settings(ctx)
	if err != nil || !usual(s) {
		return nil, false
	}
	global := s["core.attributesfile"]
	if strings.HasPrefix(global, "~") && !strings.HasPrefix(global, "~/") || strings.HasPrefix(global, "%") ||
		strings.HasPrefix(global, ":") {
		return nil, false
	}
	if global == "" {
		global = strings.TrimSuffix(r.Settings.ExcludeFile(""), "ignore") + "attributes"
	} else {
		global = r.Settings.ExcludeFile(global)
	}
	p := &plainRules{repo: r.files, returns: s["core.autocrlf"] != "", texts: map[string]string{}}
	p.all = []string{filepath.Join(r.Git.CommonDir, "info", "attributes"), global}
	for _, prefix := range []string{"/", "/usr/local", "/opt/homebrew"} {
		p.all = append(p.all, filepath.Join(prefix, "etc", "gitattributes"))
	}
	return p, true
}

// usual reports whether, with these settings, git stores the names, kinds and modes of files unchanged.
func usual(s map[string]string) bool {
	off := func(key string) bool { value, set := s[key]; return set && !gitcmd.Truth(value) }
	return !off("core.filemode") && !off("core.symlinks") && !gitcmd.Truth(s["core.ignorecase"]) &&
		!gitcmd.Truth(s["core.precomposeunicode"]) && s["core.bigfilethreshold"] == "" && s["attr.tree"] == ""
}
