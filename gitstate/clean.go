package gitstate

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Materialise makes a directory hold a tree and nothing else, so that gates can run on what a checkpoint has and on
// nothing that only lies beside it. The directory is made if it is not there, and has a repository of its own: see ownGit.
// What was put into it before is used again: files that are as in the tree are not written. Nothing of it is believed,
// though: files that were changed since are written anew, and whatever is in it and not in the tree is removed, but for
// paths (with slashes, from its top) that keep says yes to, with everything below them. A nil keep keeps nothing.
//
// The index that says what was written lies in this work tree's own directory, out of the way of what runs there. It is
// written last: killed in the middle, the next call begins where it was. The caller holds the work tree's lock.
func (r *Repo) Materialise(ctx context.Context, dir string, tree session.Tree, keep func(rel string) bool) error {
	return r.materialiser(dir).lay(ctx, tree, func(*treeNames) func(string) bool { return keep })
}

// keeps says what is kept beside a tree's files and the directories that they are in.
type keeps func(*treeNames) func(rel string) bool

// treeNames are the paths that a tree has.
type treeNames struct {
	files, dirs map[string]bool
	links       []string // those of the files that are symbolic links
}

func (t *treeNames) add(name string) {
	t.files[name] = true
	for d := path.Dir(name); d != "." && !t.dirs[d]; d = path.Dir(d) {
		t.dirs[d] = true
	}
}

func (r *Repo) materialiser(dir string) *materialiser {
	return &materialiser{repo: r, dir: dir, private: filepath.Join(r.worktreeDir(), "clean")}
}

func (m *materialiser) lay(ctx context.Context, tree session.Tree, keep keeps) error {
	r, dir := m.repo, m.dir
	root, err := filepath.EvalSymlinks(r.root)
	if err != nil {
		return err
	}
	if inside(dir, root) || inside(dir, r.root) || inside(dir, r.commonDir) {
		return fmt.Errorf("%s lies in the repository: what looks for files in the directories above would find those of the work tree", dir)
	}
	err = m.write(ctx, tree, keep)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// Something is in the way, or was changed in a way that git does not mend: begin anew.
	if again := m.anew(); again != nil {
		return errors.Join(err, again)
	}
	return m.write(ctx, tree, keep)
}

// Dematerialise removes a materialised tree, and what is remembered of it.
func (r *Repo) Dematerialise(dir string) error {
	return r.materialiser(dir).discard()
}

type materialiser struct {
	repo    *Repo
	dir     string
	private string // what is remembered of it: the index, a private git directory, and the place
	before  *index // of the last layout, nil for none
}

func (m *materialiser) index() string { return filepath.Join(m.private, "index") }
func (m *materialiser) place() string { return filepath.Join(m.private, "place") }
func (m *materialiser) seal() string  { return filepath.Join(m.private, "seal") }

func (m *materialiser) discard() error {
	return errors.Join(os.RemoveAll(m.private), RemoveAll(m.dir))
}

// anew makes the directory empty. The times that files of it had are remembered: what lies elsewhere may know it by its
// path.
func (m *materialiser) anew() error {
	had := m.readTimes()
	if err := m.discard(); err != nil {
		return err
	}
	if err := errors.Join(durable.MkdirAll(m.private), durable.MkdirAll(m.dir),
		m.noteTimes(laidTimes{newest: had.newest})); err != nil {
		return err
	}
	return durable.WriteCache(m.place(), []byte(m.dir), 0o600)
}

// git runs git on the directory, with what is remembered of it.
func (m *materialiser) git(ctx context.Context, args ...string) ([]byte, error) {
	in := &Repo{root: m.dir, env: m.repo.env, userEnv: m.repo.userEnv}
	o := gitOpts{gitDir: filepath.Join(m.private, "git"), env: withIndex(m.index())}
	own := []string{"-c", "core.splitIndex=false", "-c", "core.untrackedCache=false", "-c", "core.trustctime=true",
		"-c", "core.checkStat=default", "-c", "index.skipHash=false"}
	out, err := in.git(ctx, o, append(own, args...)...)
	_ = os.Chmod(m.index(), 0o600) // git makes files as the umask says
	return out, err
}

func (m *materialiser) write(ctx context.Context, tree session.Tree, keep keeps) error {
	if err := m.prepare(); err != nil {
		return err
	}
	// Files that differ from the index by their stat data, or by content where those cannot tell, are written anew even
	// if the tree has not changed there; so are files that the tree had before.
	if _, err := m.git(ctx, "read-tree", "--reset", "-u", string(tree)); err != nil {
		return err
	}
	durable.Hit(durable.CleanWritten)
	if err := m.age(); err != nil {
		return err
	}
	if err := m.tidy(ctx, keep); err != nil {
		return err
	}
	if m.before != nil { // else git has just written every file
		differ, err := m.git(ctx, "diff-files", "--name-only", "-z", "--ignore-submodules=all")
		if err != nil {
			return err
		}
		if names := splitZ(differ); len(names) > 0 {
			return fmt.Errorf("%s is not as the tree has it", names[0])
		}
	}
	return m.ownGit(ctx, tree)
}

// prepare makes the directory and what is remembered of it fit for each other.
func (m *materialiser) prepare() error {
	text, err := os.ReadFile(m.place())
	info, there := os.Lstat(m.dir)
	var data []byte
	if m.before = nil; err == nil && string(text) == m.dir && there == nil && info.IsDir() {
		m.before, data = m.laidIndex()
	}
	if m.before == nil {
		if err := m.anew(); err != nil {
			return err
		}
		durable.Hit(durable.CleanMade)
	} else if err := m.distrust(data); err != nil {
		return err
	}
	left, _ := filepath.Glob(filepath.Join(escapeGlob(m.private), durable.TempPrefix+"*")) // of a killed process
	for _, file := range append(left, m.index()+".lock") {
		if err := os.Remove(file); err != nil && !absent(err) {
			return err
		}
	}
	return m.repo.makeGitDir(filepath.Join(m.private, "git"), "ref: refs/heads/none")
}

// names lists what the index has: files, and the directories that they are in.
func (m *materialiser) names(ctx context.Context) (*treeNames, error) {
	t := &treeNames{files: map[string]bool{}, dirs: map[string]bool{}}
	add := func(name string, link bool) {
		t.add(name)
		if link {
			t.links = append(t.links, name)
		}
	}
	data, err := os.ReadFile(m.index())
	if absent(err) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if x := m.repo.parsed(data); x != nil {
		for _, e := range x.entries {
			add(string(e.name), e.mode&indexType == kindLink)
		}
		return t, nil
	}
	out, err := m.git(ctx, "ls-files", "-s", "-z")
	for _, line := range splitZ(out) {
		kind, name, _ := strings.Cut(line, "\t")
		add(name, strings.HasPrefix(kind, "120000 "))
	}
	return t, err
}

// tidy removes what is neither in the index nor kept. Links are not followed.
func (m *materialiser) tidy(ctx context.Context, ask keeps) error {
	t, err := m.names(ctx)
	if err != nil {
		return err
	}
	keep := ask(t)
	var walk func(rel string) error
	walk = func(rel string) error {
		entries, err := os.ReadDir(filepath.Join(m.dir, filepath.FromSlash(rel)))
		if errors.Is(err, fs.ErrPermission) { // what runs there may have taken it away
			_ = os.Chmod(filepath.Join(m.dir, filepath.FromSlash(rel)), 0o700)
			entries, err = os.ReadDir(filepath.Join(m.dir, filepath.FromSlash(rel)))
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := strings.TrimPrefix(rel+"/"+e.Name(), "/")
			switch {
			case t.files[name] && (!e.IsDir() || t.dirs[name]): // or a submodule's, which is empty
			case t.dirs[name] && e.IsDir():
				if err := walk(name); err != nil {
					return err
				}
			case keep != nil && keep(name):
			default:
				if err := RemoveAll(filepath.Join(m.dir, filepath.FromSlash(name))); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk("")
}

// ownGit gives the directory a repository of its own: what asks git there must neither find the live repository nor be
// told that there is none. It borrows the objects of that one, and its HEAD is a commit of the tree upon the live HEAD.
// Refs are the live tags alone. Whatever is done to it is gone the next time.
func (m *materialiser) ownGit(ctx context.Context, tree session.Tree) error {
	r := m.repo
	dir := filepath.Join(m.dir, ".git")
	if err := RemoveAll(dir); err != nil {
		return err
	}
	durable.Hit(durable.CleanTidied)
	for _, d := range []string{filepath.Join("objects", "info"), filepath.Join("objects", "pack"), filepath.Join("refs", "heads"), filepath.Join("refs", "tags")} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	commit := CommitInfo{At: firstDay}
	var parents []session.Commit
	if head.Commit != "" {
		if commit, err = r.CommitInfo(ctx, head.Commit); err != nil {
			return err
		}
		parents = append(parents, head.Commit)
	}
	own := r.newCommit(string(tree), parents, "wfs <wfs@localhost>", commit.At, "wfs: the tree that is judged")
	tags, err := r.git(ctx, gitOpts{}, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
	if err != nil {
		return err
	}
	settings, err := m.settings(ctx)
	if err != nil {
		return err
	}
	loose, err := deflated(own)
	if err != nil {
		return err
	}
	object := filepath.Join("objects", own.id[:2], own.id[2:])
	if err := os.Mkdir(filepath.Join(dir, "objects", own.id[:2]), 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"HEAD":   []byte(own.id + "\n"),
		"config": settings,
		object:   loose,
		filepath.Join("objects", "info", "alternates"): []byte(filepath.ToSlash(filepath.Join(r.commonDir, "objects")) + "\n"),
		"packed-refs": tags,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return copyKeepingTime(m.index(), filepath.Join(dir, "index"))
}

// firstDay is the date of a materialised tree's commit that has no parent: what is packed with it must not be older than
// archives can say.
const firstDay = 946684800 // 2000-01-01

// settings are those of the repository's configuration that say what its files look like, and nothing else: no remotes, no
// hooks, no aliases.
func (m *materialiser) settings(ctx context.Context) ([]byte, error) {
	r := m.repo
	var b strings.Builder
	version := 0
	if r.format == "sha256" {
		version = 1
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n\tbare = false\n\thooksPath = %s\n", version, os.DevNull)
	out, err := r.git(ctx, gitOpts{okExit: []int{1}}, "config", "--local", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|symlinks)$`)
	if err != nil {
		return nil, err
	}
	for _, entry := range splitZ(out) {
		key, value, _ := strings.Cut(entry, "\n")
		if value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
			fmt.Fprintf(&b, "\t%s = %s\n", strings.TrimPrefix(key, "core."), value)
		}
	}
	return []byte(b.String()), nil
}

// RemoveAll also removes directories that are protected from their owner, such as a cache of Go modules.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// deflated is an object as a file of its own holds it.
func deflated(o newObject) ([]byte, error) {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(z, "%s %d\x00", o.kind, len(o.data))
	_, err = z.Write(o.data)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}
