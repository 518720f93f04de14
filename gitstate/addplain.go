package gitstate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// Most files that change are plain ones: git stores their bytes as they are. Those are added here, without a
// git process, and their blobs and trees reach the disk with the commit. Wherever anything else may concern a
// path (attributes, settings, odd names, a file that changes while it is read), git adds all of them instead.

// Limits of what is kept in memory, in bytes.
const (
	maxPlain    = 32 << 20
	maxPlainAll = 128 << 20
)

// plainAdd is what is to become of an index.
type plainAdd struct {
	repo    *Repo
	old     *index
	rules   *plainRules
	edits   []indexEdit
	objects []newObject
	dirty   map[string]bool // directories with a change, see treesOf
	bytes   int64
}

// indexEdit replaces some entries of an index, from one on, by at most one.
type indexEdit struct {
	from, n int
	entry   *indexEntry
	data    []byte // of entry in the file
}

// addPlain brings a private index up to date with some paths of the work tree, and returns the objects of that:
// blobs, and trees but for the root. It answers false, and has done nothing, where git has to add them.
func (r *Repo) addPlain(ctx context.Context, path string, x *index, paths []string) (now *index,
	objects []newObject, ok bool) {
	if x.special || x.version != 2 && x.version != 3 || !r.Git.ReadsDirectly() {
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
	_, trees, ok := r.treesOf(now, a.dirty)
	if !ok {
		return nil, nil, false
	}
	r.encodeIndex(now)
	if durable.WriteCache(path, now.data, 0o600) != nil {
		return nil, nil, false
	}
	return now, append(a.objects, trees...), true
}

// add looks at one path.
func (a *plainAdd) add(p string) bool {
	full := filepath.Join(a.repo.Git.Root, filepath.FromSlash(p))
	file, below := a.old.position(p)
	f, ok := lookAt(full)
	kind := f.mode & indexType
	switch {
	case !ok:
		if _, err := os.Lstat(full); !gitcmd.Absent(err) {
			return false
		}
	case kind != kindRegular && kind != kindLink, !plainName(p):
		return false
	}
	if below.n > 0 {
		a.edits = append(a.edits, below)
	}
	if !ok {
		if file.n > 0 {
			a.edits = append(a.edits, file)
		}
		a.touch(p)
		return true
	}
	data, ok := readPlain(full, f)
	if a.bytes += int64(len(data)); !ok || a.bytes > maxPlainAll || kind == kindRegular && !a.rules.keeps(p, data) {
		return false
	}
	blob := a.repo.newObject("blob", data)
	id, err := hex.DecodeString(blob.id)
	if err != nil {
		return false
	}
	mode := uint32(kindLink)
	if kind == kindRegular {
		mode = kindRegular | 0o644
		if f.mode&0o100 != 0 {
			mode |= 0o111
		}
	}
	same := file.n > 0 && a.old.entries[file.from].mode == mode && bytes.Equal(a.old.entries[file.from].id, id)
	if !same || below.n > 0 {
		a.touch(p)
	}
	if !same {
		a.objects = append(a.objects, blob)
	}
	file.data = appendEntry(nil, f, mode, id, p)
	e, _, ok := parseIndexEntry(file.data, len(id))
	e.name = []byte(p)
	file.entry = &e
	a.edits = append(a.edits, file)
	return ok
}

// touch notes that the directories of a path are other ones.
func (a *plainAdd) touch(p string) {
	for i := range len(p) {
		if p[i] == '/' {
			a.dirty[p[:i+1]] = true
		}
	}
}

// position returns where a path is in an index, or would be, and what is below it.
func (x *index) position(p string) (file, below indexEdit) {
	at := func(name string) (int, bool) {
		return slices.BinarySearchFunc(x.entries, name, func(e indexEntry, name string) int { return compare(e.name, name) })
	}
	var there bool
	if file.from, there = at(p); there {
		file.n = 1
	}
	below.from, _ = at(p + "/")
	end, _ := at(p + "0") // the byte after the slash
	below.n = end - below.from
	return file, below
}

// index returns the index with all edits, of which the data lack notes of trees and the sum: see encodeIndex.
// No file may lie where another one has a directory. It has no version: where its entries are in its file is
// not known.
func (a *plainAdd) index() (*index, bool) {
	slices.SortStableFunc(a.edits, func(x, y indexEdit) int { return x.from - y.from })
	old := a.old
	now := &index{at: old.at, written: old.written, cached: old.cached, sum: old.sum,
		entries: make([]indexEntry, 0, len(old.entries)+len(a.edits)), data: make([]byte, 0, len(old.data)+len(old.data)/32)}
	now.data = append(now.data, old.data[:12]...)
	from := 0
	keep := func(to int) {
		now.entries = append(now.entries, old.entries[from:to]...)
		now.data = append(now.data, old.data[old.offset(from):old.offset(to)]...)
	}
	for _, e := range a.edits {
		if e.from < from {
			return nil, false
		}
		keep(e.from)
		from = e.from + e.n
		if e.entry == nil {
			continue
		}
		if n := len(now.entries); n > 0 && bytes.Compare(now.entries[n-1].name, e.entry.name) >= 0 {
			return nil, false
		}
		now.entries, now.data = append(now.entries, *e.entry), append(now.data, e.data...)
	}
	keep(len(old.entries))
	for _, e := range a.edits {
		if e.entry != nil && now.blocked(string(e.entry.name)) {
			return nil, false
		}
	}
	now.end = len(now.data)
	binary.BigEndian.PutUint32(now.data[8:], uint32(len(now.entries)))
	return now, true
}

// offset is where an entry begins in the file, or where the last one ends.
func (x *index) offset(i int) int {
	if i == len(x.entries) {
		return x.end
	}
	return x.entries[i].at
}

// blocked reports whether an index has a file on the way to a path.
func (x *index) blocked(p string) bool {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		if file, _ := find(x.entries, 0, p[:i]); file != nil {
			return true
		}
	}
	return false
}

// encodeIndex completes an index's file: entries are in its data, notes of its trees and its sum are not.
func (r *Repo) encodeIndex(x *index) {
	notes := x.cached.append(nil)
	data := append(x.data[:x.end], "TREE"...)
	data = append(binary.BigEndian.AppendUint32(data, uint32(len(notes))), notes...)
	sum := make([]byte, r.Git.IDLength()/2)
	if len(bytes.Trim(x.sum, "\x00")) > 0 { // else index.skipHash
		h := r.newHash()
		h.Write(data)
		sum = h.Sum(nil)
	}
	x.data = append(data, sum...)
	x.sum = x.data[len(x.data)-len(sum):]
}

// appendEntry encodes an entry as gitformat-index(5) has it.
func appendEntry(b []byte, f fileLook, mode uint32, id []byte, name string) []byte {
	start := len(b)
	for _, n := range []uint32{f.changed, f.changedNano, f.modified, f.modifiedNano, f.device, f.inode, mode, f.user,
		f.group, f.size} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = append(b, id...)
	b = binary.BigEndian.AppendUint16(b, uint16(min(len(name), 0xfff)))
	b = append(b, name...)
	return append(b, make([]byte, 8-(len(b)-start)%8)...)
}

// readPlain reads a file, or where a link leads, if it is as it was looked at before and afterwards.
func readPlain(path string, was fileLook) (data []byte, ok bool) {
	if was.size > maxPlain {
		return nil, false
	}
	if was.mode&indexType == kindLink {
		to, err := os.Readlink(path)
		data = []byte(to)
		ok = err == nil
	} else {
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, false
		}
		defer f.Close()
		data = make([]byte, was.size)
		_, err = io.ReadFull(f, data)
		n, err2 := f.Read(make([]byte, 1))
		ok = err == nil && n == 0 && errors.Is(err2, io.EOF)
	}
	now, there := lookAt(path)
	return data, ok && there && now == was
}

// plainRules are what the repository's and the user's settings say about files.
type plainRules struct {
	repo    *Repo
	returns bool              // git may convert line ends without an attribute
	texts   map[string]string // files of attributes that were read
	all     []string          // of everybody
}

// plainRules answers false where settings make git look at files in another way than is done here.
func (r *Repo) plainRules(ctx context.Context) (*plainRules, bool) {
	s, err := r.Git.Settings(ctx)
	off := func(key string) bool { value, set := s[key]; return set && !gitcmd.Truth(value) }
	if err != nil || off("core.filemode") || off("core.symlinks") || gitcmd.Truth(s["core.ignorecase"]) ||
		gitcmd.Truth(s["core.precomposeunicode"]) ||
		s["core.bigfilethreshold"] != "" || s["attr.tree"] != "" {
		return nil, false
	}
	global := s["core.attributesfile"]
	if strings.HasPrefix(global, "~") && !strings.HasPrefix(global, "~/") || strings.HasPrefix(global, "%") ||
		strings.HasPrefix(global, ":") {
		return nil, false
	}
	if global == "" {
		global = strings.TrimSuffix(r.excludeFile(""), "ignore") + "attributes"
	} else {
		global = r.excludeFile(global)
	}
	p := &plainRules{repo: r, returns: s["core.autocrlf"] != "", texts: map[string]string{}}
	p.all = []string{filepath.Join(r.Git.CommonDir, "info", "attributes"), global}
	for _, prefix := range []string{"/", "/usr/local", "/opt/homebrew"} {
		p.all = append(p.all, filepath.Join(prefix, "etc", "gitattributes"))
	}
	return p, true
}

// plainName reports whether git takes the path of a file as it is.
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

// odd characters are those that some file systems make other names of.
func odd(c rune) bool { return c > 126 || c < ' ' || c == '\\' || c == ':' }

// keeps reports whether git stores a file's bytes as they are.
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
			text = strings.TrimPrefix(string(data), byteOrderMark)
			p.texts[file] = text
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			end := max(strings.IndexAny(line, " \t"), 0)
			pattern, attributes := line[:end], line[end:]
			concerns := strings.HasPrefix(pattern, "[attr]") || strings.HasPrefix(pattern, `"`) || mayMatch(pattern, name)
			if concerns && converts(attributes, returns, ident) {
				return false
			}
		}
	}
	return true
}

// converts reports whether attributes may change a file's bytes on their way into git. Line ends are only
// changed where there are carriage returns.
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
