package room

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// treeNames has the paths of the files and directories in a tree, without submodules.
type treeNames struct{ files, dirs map[string]bool }

// namesOf returns the paths in a tree. For the tree "", there are none.
func (s *Set) namesOf(ctx context.Context, tree session.Tree) (*treeNames, error) {
	t := &treeNames{files: map[string]bool{}, dirs: map[string]bool{}}
	if tree == "" {
		return t, nil
	}
	lines, err := s.treeLines(ctx, tree)
	for _, line := range lines {
		meta, name, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(meta, object.ModeGitlink) {
			continue
		}
		t.files[name] = true
		for d := path.Dir(name); d != "." && !t.dirs[d]; d = path.Dir(d) {
			t.dirs[d] = true
		}
	}
	return t, err
}

// layout makes a directory contain a tree and nothing else. It reuses files of earlier layouts, but does not trust
// them: it rewrites files that have changed since. Its private files (git's index, the state of each file that was
// written, the path of the room) are in the repository's state directory, where commands that run in the room do not
// find them.
type layout struct {
	set     *Set
	dir     string
	private string

	tree *treeNames
	anew bool // the last call of lay emptied the directory
}

// keeps reports whether a path that is not in the tree stays in the room, with everything below it.
type keeps func(t *treeNames, rel string) bool

func (m *layout) index() string  { return filepath.Join(m.private, "index") }
func (m *layout) gitDir() string { return filepath.Join(m.private, "git") }
func (m *layout) place() string  { return filepath.Join(m.private, "place") }
func (m *layout) laid() string   { return filepath.Join(m.private, "laid") }
func (m *layout) seal() string   { return filepath.Join(m.private, "seal") }
func (m *layout) times() string  { return filepath.Join(m.private, "times") }

func (m *layout) at(rel string) string { return filepath.Join(m.dir, filepath.FromSlash(rel)) }

// lay makes the directory contain a tree and nothing else. If it is killed, the next call starts with an empty
// directory.
func (m *layout) lay(ctx context.Context, tree session.Tree, keep keeps) error {
	for _, top := range []string{m.set.Git.Root, m.set.Git.CommonDir} {
		if real, err := filepath.EvalSymlinks(top); err != nil || durable.Inside(m.dir, real) || durable.Inside(m.dir, top) {
			return errors.Join(err, fmt.Errorf(
				"%s lies in the repository: commands there would find the files of the work tree", m.dir))
		}
	}
	var err error
	if m.tree, err = m.set.namesOf(ctx, tree); err != nil {
		return err
	}
	m.anew = false
	err = m.write(ctx, tree, keep)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// A file is in the way, or has changed in a way that git does not repair: start with an empty directory.
	if again := m.empty(); again != nil {
		return errors.Join(err, again)
	}
	return m.write(ctx, tree, keep)
}

// empty removes everything except for one fact: the newest time that a file of the directory has had. Caches elsewhere
// may identify files by path and time.
func (m *layout) empty() error {
	m.anew = true
	newest, _ := os.ReadFile(m.times())
	return errors.Join(os.RemoveAll(m.private), durable.RemoveTree(m.dir), durable.MkdirAll(m.private),
		durable.MkdirAll(m.dir), durable.WriteCache(m.times(), newest, 0o600),
		durable.WriteCache(m.place(), []byte(m.dir), 0o600))
}

// inDir returns a Git that runs in the room, as commands there would run it.
func (m *layout) inDir() *gitcmd.Git {
	return gitcmd.New(gitcmd.Place{Root: m.dir, Env: m.set.Git.Env, UserEnv: m.set.Git.UserEnv})
}

// git runs git in the room, with the private index.
func (m *layout) git(ctx context.Context, o gitcmd.Opts, args ...string) ([]byte, error) {
	o.GitDir, o.Env = m.gitDir(), gitcmd.WithIndex(m.index())
	own := []string{"-c", "core.sparseCheckout=false", "-c",
		"core.untrackedCache=false", "-c", "core.trustctime=true",
		"-c", "core.checkStat=default", "-c", "index.skipHash=false"}
	out, err := m.inDir().Run(ctx, o, append(own, args...)...)
	_ = os.Chmod(m.index(), 0o600) // git gives new files the mode that the umask allows
	return out, err
}

func (m *layout) write(ctx context.Context, tree session.Tree, keep keeps) error {
	laid, err := m.begin()
	if err != nil {
		return err
	}
	if err := m.checkOut(ctx, tree, laid); err != nil {
		return err
	}
	durable.Hit(durable.CleanWritten)
	if laid, err = m.age(laid); err != nil {
		return err
	}
	if err := m.tidy("", keep); err != nil {
		return err
	}
	if err := m.refresh(ctx); err != nil {
		return err
	}
	if err := m.ownGit(ctx, tree); err != nil {
		return err
	}
	return laid.write(m.laid())
}

// begin returns the states that the files had after the last layout, and removes the record of these states: if this
// layout is killed, the next one finds no record. If there is no record for this directory, begin empties the
// directory. It also removes leftovers of a killed process.
func (m *layout) begin() (seal, error) {
	laid := readSeal(m.laid())
	if text, err := os.ReadFile(m.place()); err != nil || string(text) != m.dir || laid == nil {
		laid = nil
		if err := m.empty(); err != nil {
			return nil, err
		}
		durable.Hit(durable.CleanMade)
	}
	left, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(m.private), durable.TempPrefix+"*"))
	for _, file := range append(left, m.index()+".lock", m.laid()) {
		if err := os.Remove(file); err != nil && !durable.Absent(err) {
			return nil, err
		}
	}
	return laid, m.set.Git.MakeGitDir(m.gitDir(), "ref: refs/heads/none")
}

// checkOut makes git write the files of a tree, except those that are still as the last layout left them. laid has
// their states. Git may only compare times in whole seconds. So changed files are first removed from its index: git
// rewrites a file that the index does not have.
func (m *layout) checkOut(ctx context.Context, tree session.Tree, laid seal) error {
	var changed strings.Builder
	for name, state := range laid {
		if now, err := stateAt(m.at(name)); err != nil || now != state {
			changed.WriteString(name + "\x00")
		}
	}
	if changed.Len() > 0 {
		forget := []string{"update-index", "--force-remove", "-z", "--stdin"}
		if _, err := m.git(ctx, gitcmd.Opts{Stdin: []byte(changed.String())}, forget...); err != nil {
			return err
		}
	}
	_, err := m.git(ctx, gitcmd.Opts{}, "read-tree", "--reset", "-u", string(tree))
	return err
}

// refresh updates the times of the files in git's index. A file that differs from the tree is an error.
func (m *layout) refresh(ctx context.Context) error {
	differ, err := m.git(ctx, gitcmd.Opts{OkExit: []int{1}}, "update-index", "--ignore-submodules", "--refresh")
	if err != nil {
		return err
	}
	if line, _, _ := strings.Cut(string(differ), "\n"); line != "" {
		return fmt.Errorf("not as the tree has it: %s", line)
	}
	// With an older time, git would regard the files as possibly changed since it read them, and would read them again
	// each time.
	at := time.Unix(0, m.newest()).Add(timeStep)
	return os.Chtimes(m.index(), at, at)
}

// tidy removes all paths that are neither in the tree nor kept by keep. It does not follow symbolic links.
func (m *layout) tidy(rel string, keep keeps) error {
	entries, err := readDir(m.at(rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		switch {
		case m.tree.files[name] && !e.IsDir():
			continue
		case m.tree.dirs[name] && e.IsDir():
			err = m.tidy(name, keep)
		case keep != nil && keep(m.tree, name):
		default:
			err = durable.RemoveTree(m.at(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readDir lists a directory, even if a command in the room has removed the permission to read it.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		_ = os.Chmod(dir, 0o700)
		return os.ReadDir(dir)
	}
	return entries, err
}
