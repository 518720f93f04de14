package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/installed"
)

// Bounds of what is looked at in dependency directories: files, and bytes of one that is read.
const (
	maxInstalled     = 200_000
	maxInstalledSize = 32 << 20
)

// Installed is what the directories hold that packages are installed into, as far as they are in the work tree and not in
// the tree of the newest Snapshot, and what Pythons elsewhere run by themselves; env is that of the gates. Files that are
// untouched since known, which may be nil, are not read again. It is nil when nobody can tell: with too many files, or
// before there was a Snapshot.
func (r *Repo) Installed(ctx context.Context, known *installed.State, env []string) (*installed.State, error) {
	if !r.looked.Load() {
		return nil, nil
	}
	if known == nil {
		known = installed.NewState()
	}
	s := &installedScan{ctx: ctx, repo: r, known: known, out: installed.NewState()}
	if t := r.last.Load(); t != nil {
		s.rootsFound(t)
	} else if err := s.rootsLookedFor(); err != nil {
		return nil, err
	}
	for root, kind := range s.out.Roots {
		switch kind {
		case installed.Python:
			for _, part := range []string{"pyvenv.cfg", "bin", "Scripts", "lib/*/site-packages", "Lib/site-packages"} {
				found, _ := filepath.Glob(filepath.Join(escapeGlob(s.live(root)), filepath.FromSlash(part)))
				for _, f := range found {
					if rel, err := filepath.Rel(s.live(root), f); err == nil {
						s.walk(f, root+"/"+filepath.ToSlash(rel))
					}
				}
			}
		default:
			if real, err := filepath.EvalSymlinks(s.live(root)); err == nil {
				s.walk(real, root)
			}
		}
	}
	s.sites(env)
	if s.count > maxInstalled {
		return nil, ctx.Err()
	}
	s.read()
	return s.out, ctx.Err()
}

type installedScan struct {
	ctx    context.Context
	repo   *Repo
	known  *installed.State
	out    *installed.State
	count  int
	unread []unread
}

type unread struct{ file, rel string }

func (s *installedScan) live(rel string) string {
	return filepath.Join(s.repo.root, filepath.FromSlash(rel))
}

// rootsFound finds dependency directories where the newest Snapshot found anything that is not in it.
func (s *installedScan) rootsFound(t *lastSnapshot) {
	entries := t.added.now.entries
	file := func(rel string) bool {
		f, _ := find(entries, 0, rel)
		return f != nil
	}
	in := func(rel string) bool {
		_, below := find(entries, 0, rel)
		return len(below) > 0
	}
	parent := func(p string) string { return strings.TrimSuffix(path.Dir("/" + p)[1:], "/") }
	beside := map[string]bool{"": true}
	for _, p := range t.added.others {
		beside[parent(p)] = true
		_, below := find(entries, 0, p) // of a new directory, some of which is in the tree now
		for _, e := range below {
			for d := parent(string(e.name)); len(d) >= len(p) && !beside[d]; d = parent(d) {
				beside[d] = true
			}
		}
	}
	for dir := range beside {
		s.rootsIn(dir, file, in)
	}
	for _, e := range entries {
		if name := string(e.name); installed.Declares(name) {
			s.out.Manifests = append(s.out.Manifests, name)
		}
	}
}

// rootsLookedFor finds dependency directories beside all files of the tree.
func (s *installedScan) rootsLookedFor() error {
	m := &materialiser{repo: s.repo, dir: s.repo.root, private: s.repo.worktreeDir()}
	t, err := m.names(s.ctx)
	if err != nil {
		return err
	}
	t.dirs[""] = true
	for dir := range t.dirs {
		s.rootsIn(dir, func(rel string) bool { return t.files[rel] }, func(rel string) bool { return t.dirs[rel] })
	}
	for name := range t.files {
		if installed.Declares(name) {
			s.out.Manifests = append(s.out.Manifests, name)
		}
	}
	return nil
}

// rootsIn finds dependency directories beside the files of one directory of the tree. file and in report whether a path is
// that of a file of the tree, or of a directory of it.
func (s *installedScan) rootsIn(dir string, file, in func(rel string) bool) {
	at := func(name string) string { return strings.TrimPrefix(dir+"/"+name, "/") }
	isDir := func(rel string) bool {
		info, err := os.Stat(s.live(rel))
		return err == nil && info.IsDir() && !in(rel) && !file(rel)
	}
	if rel := at("node_modules"); isDir(rel) {
		s.out.Roots[rel] = installed.Node
	}
	python := dir == ""
	for _, name := range []string{"composer.json", "go.mod", "Gemfile"} {
		if rel := at("vendor"); file(at(name)) && isDir(rel) {
			s.out.Roots[rel] = installed.Vendor
		}
	}
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"} {
		python = python || file(at(name))
	}
	if !python {
		return
	}
	entries, _ := os.ReadDir(s.live(dir))
	for _, e := range entries {
		rel := at(e.Name())
		if e.Type().IsRegular() || file(rel) || in(rel) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(s.live(rel), "pyvenv.cfg")); err == nil {
			s.out.Roots[rel] = installed.Python
		}
	}
}

func (s *installedScan) walk(file, rel string) {
	info, err := os.Lstat(file)
	if err != nil || s.count > maxInstalled || s.ctx.Err() != nil {
		return
	}
	if !info.IsDir() {
		s.add(file, rel, info)
		return
	}
	entries, _ := os.ReadDir(file)
	for _, e := range entries {
		if !installed.Skips(rel, e.Name()) {
			s.walk(filepath.Join(file, e.Name()), rel+"/"+e.Name())
		}
	}
}

func (s *installedScan) add(file, rel string, info fs.FileInfo) {
	s.count++
	f := installed.File{Size: info.Size(), Written: info.ModTime().UnixNano(), Run: info.Mode()&0o111 != 0, Inode: inodeOf(info)}
	f.Changed, _ = changeOf(info)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Link, _ = os.Readlink(file)
		f.Link = filepath.ToSlash(f.Link)
		f.Size = 0
	case !info.Mode().IsRegular():
		return
	}
	if old, ok := s.known.Files[rel]; ok && old.Untouched(f) {
		s.out.Files[rel] = old
		return
	}
	s.out.Files[rel] = f
	if f.Link == "" && f.Size <= maxInstalledSize {
		s.unread = append(s.unread, unread{file, rel})
	}
}

// sites looks at Pythons that lie elsewhere: what they run by themselves, and which distributions they have.
func (s *installedScan) sites(env []string) {
	for _, dir := range s.repo.pythonDirs(env) {
		entries, err := os.ReadDir(dir)
		if err != nil || inside(dir, s.repo.root) {
			continue
		}
		rel := filepath.ToSlash(dir)
		s.out.Roots[rel] = installed.Site
		for _, e := range entries {
			switch {
			case strings.HasSuffix(e.Name(), ".dist-info"):
				s.walk(filepath.Join(dir, e.Name(), "RECORD"), rel+"/"+e.Name()+"/RECORD")
			case installed.MaySay(e.Name()):
				s.walk(filepath.Join(dir, e.Name()), rel+"/"+e.Name())
			}
		}
	}
}

// read reads the files that are new or were touched.
func (s *installedScan) read() {
	var wait sync.WaitGroup
	var lock sync.Mutex
	next := make(chan unread)
	for range max(1, runtime.GOMAXPROCS(0)) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for u := range next {
				sum, version := sumOf(u)
				lock.Lock()
				f := s.out.Files[u.rel]
				f.Sum, f.Version = sum, version
				s.out.Files[u.rel] = f
				lock.Unlock()
			}
		}()
	}
	for _, u := range s.unread {
		if s.ctx.Err() != nil {
			break
		}
		next <- u
	}
	close(next)
	wait.Wait()
}

func sumOf(u unread) (sum, version string) {
	f, err := os.Open(u.file)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if path.Base(u.rel) == "package.json" {
		data, _ := io.ReadAll(io.LimitReader(f, maxInstalledSize))
		s := sha256.Sum256(data)
		return hex.EncodeToString(s[:]), installed.VersionOf(data)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", ""
	}
	return hex.EncodeToString(h.Sum(nil)), ""
}

// ReadInstalled returns a file of what Installed looks at, nil for none. Links are followed.
func (r *Repo) ReadInstalled(rel string) []byte {
	file := filepath.FromSlash(rel)
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.root, file)
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := readSome(file)
	if err != nil {
		return nil
	}
	return []byte(text)
}
