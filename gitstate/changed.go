package gitstate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// `git add -A` compares every tracked file with the index, one after the other, and reads every directory: most of what a
// checkpoint costs in a tree that hardly changed. The look at the work tree reads the directories anyway, so it compares
// the files as well, on all processors, and git is told which paths to look at. It is git that looks at them: a path too
// many costs a little time, and what cannot be told for certain is left to git as a whole.

// maxChanged is how many paths git is told of. It compares each of them with the name of each file in the index: beyond
// this many, to look at every file is no slower.
const maxChanged = 100

// comparable reports whether the stat data in an index say all that there is to know about a file: no entries of
// submodules, conflicts, intentions, or files that git was told not to look at, and nothing that others keep up to date.
func (x *index) comparable() bool {
	return x.written > 0 && !x.odd && !slices.ContainsFunc(x.entries, func(e indexEntry) bool {
		return e.stage != 0 || e.intended || e.unseen || e.mode&indexType == indexGitlink
	})
}

// fileLook is what git remembers of a file: numbers of 32 bits, whatever is cut off.
type fileLook struct {
	changed, changedNano, modified, modifiedNano, inode, mode, user, group, size uint32
}

// The kinds of files, as systems with a stat number them and as the index does.
const (
	kindRegular = 0o100000
	kindLink    = 0o120000
)

// unchanged reports whether a file is for certain as an entry says. That is stricter than git, whose settings let it pass
// over some differences. A file that was modified in the second in which the index was written, or later, may have been
// modified again without a trace (racy-git in git's documentation), unless it is known to have been left alone for a while
// when it was read. Git sets the size of such a file to 0 when it writes the index anew, whatever it was: only what is
// empty for certain may have that.
func (x *index) unchanged(e *indexEntry, f fileLook, empty []byte) bool {
	switch f.mode & indexType {
	case kindRegular:
		if e.mode&indexType != kindRegular || (e.mode^f.mode)&0o100 != 0 {
			return false
		}
	case kindLink:
		if e.mode&indexType != kindLink {
			return false
		}
	default:
		return false
	}
	return e.isOf(f) && !x.young(f) && (f.size > 0 || bytes.Equal(e.id, empty))
}

// young reports whether a file that is as git read it may have changed since without a trace in its times.
func (x *index) young(f fileLook) bool {
	newest := f.modified
	if f.changedNano == 0 { // times are whole seconds here, and that of modification can be set back
		newest = max(newest, f.changed)
	}
	return int64(newest) >= x.written && !f.stamp().settled(x.read)
}

// isOf reports whether a file is still as it was when git read it, as far as stat data tell. The device is left out, as git
// does: it is numbered anew when a system starts.
func (e *indexEntry) isOf(f fileLook) bool {
	n := func(i int) uint32 { return binary.BigEndian.Uint32(e.stat[4*i:]) }
	return n(0) == f.changed && n(1) == f.changedNano && n(2) == f.modified && n(3) == f.modifiedNano &&
		n(5) == f.inode && n(7) == f.user && n(8) == f.group && n(9) == f.size
}

func (f fileLook) stamp() dirStamp {
	at := func(seconds, nano uint32) uint64 { return uint64(seconds)*uint64(time.Second) + uint64(nano) }
	return dirStamp{changed: at(f.changed, f.changedNano), made: at(f.modified, f.modifiedNano)}
}

// Git knows when it wrote an index, and not when it read the files: every file of that second it reads again, and so
// would wfs in all that is done in that second. But when a checkpoint begins to look at the files is known. Whatever could
// have changed without a trace is read after that, and so whatever changes after it was read has a later time than what
// had been left alone by then.

func (r *Repo) readFile() string { return filepath.Join(r.worktreeDir(), "read") }

// readSince is from when on the files of an index were read, 0 when that is not known.
func (r *Repo) readSince(x *index) uint64 {
	data, err := durable.ReadFile(r.readFile(), 1024)
	sum, since, ok := strings.Cut(string(data), " ")
	if err != nil || !ok || sum != hex.EncodeToString(x.sum) || len(bytes.Trim(x.sum, "\x00")) == 0 { // index.skipHash
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(since, "\n"), 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// noteRead remembers it. It is a cache: without it git reads more.
func (r *Repo) noteRead(x *index, since uint64) {
	if x != nil && since > 0 {
		_ = durable.WriteCache(r.readFile(), fmt.Appendf(nil, "%x %x\n", x.sum, since), 0o600)
	}
}

// addChanged adds to an index, x, what a look found to have changed, and reports whether that was all, without a word from
// git. Otherwise the caller adds everything. It returns the index that there is then, and
// what of those paths rules exclude.
//
// Git is not told what to keep out: with a path to be left out beside a single one in a directory, git 2.39 finds nothing
// there and does not say so.
func (r *Repo) addChanged(ctx context.Context, index string, x *index, h holding) (now *index, ignored []string, ok bool) {
	if h.unsure {
		return nil, nil, false
	}
	changed := slices.DeleteFunc(slices.Clone(h.changed), func(p string) bool { return isSkipped(p, h.given) })
	for _, k := range h.keep {
		k = strings.TrimSuffix(k, "/")
		changed = slices.DeleteFunc(changed, func(p string) bool { return p == k })
		if x.tracks(k) || slices.ContainsFunc(changed, func(p string) bool {
			return strings.HasPrefix(k, p+"/") || strings.HasPrefix(p, k+"/")
		}) {
			return nil, nil, false
		}
	}
	var paths []string
	for _, p := range changed {
		paths = append(paths, ":(top,literal)"+p)
	}
	if len(paths) == 0 {
		return x, nil, true
	}
	report, err := r.addOnce(ctx, index, paths, h.how, "-c", "core.preloadIndex=false") // its threads would compare nothing
	if err != nil || report.fatal != nil || len(report.skipped) > 0 {
		return nil, nil, false
	}
	now, _, err = r.readParsed(ctx, index)
	if err == nil && now != nil {
		now, err = r.reread(ctx, index, x, now, changed, nil, nil)
	}
	return now, report.ignored, err == nil && now != nil && !slices.ContainsFunc(changed, func(p string) bool { return !r.accounts(now, p, report.ignored) })
}

// reread has git read those files of the given paths, nil for all, that it has let pass though they may have changed since it
// read them. Mostly git is built to compare times by seconds, and a file that is written to twice in one, with as many bytes,
// is for ever the first one to it; or somebody has set the time back. x is the index as it was before git looked, now as it
// is. It returns the index that there is then.
//
// More than maxChanged files are not named to git, which compares each name with every file: all is the pathspecs of all that is
// added, and of the files that nothing is known of git finds by itself that it has to read them.
func (r *Repo) reread(ctx context.Context, path string, x, now *index, paths, all []string, not []session.Skip) (*index, error) {
	blind := slices.DeleteFunc(r.blind(x, now, paths), func(e *indexEntry) bool { return isSkipped(string(e.name), not) })
	if len(blind) == 0 {
		return now, nil
	}
	var anew bytes.Buffer // entries without what git knows of the files
	var specs []string
	for _, e := range blind {
		fmt.Fprintf(&anew, "%o %x\t%s\x00", e.mode, e.id, e.name)
		specs = append(specs, ":(top,literal)"+string(e.name))
	}
	o := gitOpts{write: true, env: withIndex(path), stdin: anew.Bytes()}
	if _, err := r.git(ctx, o, "-c", "core.splitIndex=false", "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	if len(specs) > maxChanged {
		specs = all
	}
	if _, err := r.addRest(ctx, path, "-u", specs); err != nil { // what cannot be read stays as it was
		return nil, err
	}
	now, _, err := r.readParsed(ctx, path)
	return now, err
}

// plain is an index that only git can read, as git writes it in full: neither split nor sparse. It is nil when that fails, or
// when there is none.
func (r *Repo) plain(ctx context.Context, path string) *index {
	to := path + ".plain"
	if removeLeftovers(to) != nil {
		return nil
	}
	defer os.Remove(to)
	info, err := os.Stat(path)
	if err != nil || copyKeepingTime(path, to) != nil {
		return nil
	}
	o := gitOpts{write: true, env: withIndex(to)}
	if _, err := r.git(ctx, o, "-c", "core.splitIndex=false", "-c", "index.sparse=false", "update-index", "--force-write-index"); err != nil {
		return nil
	}
	data, err := os.ReadFile(to)
	if err != nil {
		return nil
	}
	return r.parsedOf(data, info.ModTime())
}

// rereadAll is reread of all files, as far as indexes can be read. old is the index as it was before, nil when nobody can
// read it. all is the pathspecs of what was added.
func (r *Repo) rereadAll(ctx context.Context, path string, old *index, all []string, not []session.Skip) error {
	if old == nil {
		return nil
	}
	now, _, err := r.readParsed(ctx, path)
	if err == nil && now == nil {
		now = r.plain(ctx, path)
	}
	if err == nil && now != nil {
		_, err = r.reread(ctx, path, old, now, nil, all, not)
	}
	return err
}

// blind are the entries of those files. Only stat data and times count: another kind of file, or another executable bit, git
// finds by itself, or passes over on purpose (core.symlinks, core.fileMode), and would do so each time.
func (r *Repo) blind(x, now *index, paths []string) (list []*indexEntry) {
	look := func(e *indexEntry) {
		if e.stage != 0 || e.intended || e.unseen || e.mode&indexType == indexGitlink || bytes.HasPrefix(e.name, []byte(userDir+"/")) {
			return
		}
		f, ok := lookAt(filepath.Join(r.root, filepath.FromSlash(string(e.name))))
		if !ok || e.isOf(f) && (!x.young(f) || int64(f.modified) >= x.written) { // young as it is, git has looked at it
			return
		}
		n, _ := find(now.entries, 0, string(e.name))
		if n != nil && bytes.Equal(n.stat, e.stat) && bytes.Equal(n.id, e.id) {
			list = append(list, n)
		}
	}
	if paths == nil {
		for i := range x.entries {
			look(&x.entries[i])
		}
		return list
	}
	for _, p := range paths {
		if e, _ := find(x.entries, 0, p); e != nil {
			look(e)
		}
	}
	return list
}

// maxHollow bounds the directories that are looked into for a file.
const maxHollow = 100

func isSkipped(p string, list []session.Skip) bool {
	return slices.ContainsFunc(list, func(s session.Skip) bool { return s.Path == p })
}

// hollow reports whether a directory holds nothing but directories: there is nothing in it that git could add.
func (r *Repo) hollow(p string) bool {
	todo := []string{filepath.Join(r.root, filepath.FromSlash(p))}
	for n := 0; n < len(todo); n++ {
		entries, err := os.ReadDir(todo[n])
		if err != nil {
			return false
		}
		for _, e := range entries {
			if !e.IsDir() || e.Name() == ".git" || len(todo) == maxHollow {
				return false
			}
			todo = append(todo, filepath.Join(todo[n], e.Name()))
		}
	}
	return true
}

// accounts reports whether an index says of a path what the work tree says: that git has looked at it is not taken on
// trust, because of what it passes over without a word. ignored are paths of which it said that they are.
func (r *Repo) accounts(x *index, p string, ignored []string) bool {
	file, below := find(x.entries, 0, p)
	info, err := r.lstat(p)
	switch {
	case absent(err):
		return file == nil && len(below) == 0
	case err != nil:
		return false
	case file == nil && len(below) == 0 && slices.Contains(ignored, p):
		return true
	case info.IsDir():
		return file == nil && (len(below) > 0 || r.hollow(p))
	case file == nil:
		return false
	}
	f, ok := lookAt(filepath.Join(r.root, filepath.FromSlash(p)))
	return ok && file.isOf(f)
}
