package gitstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/checkout"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// evilTree makes a tree, out of raw objects, with one file at a path that git itself would not store.
func (r *testRepo) evilTree(path string, leaf object.Entry, more ...object.Entry) session.Tree {
	r.t.Helper()
	parts := strings.Split(path, "/")
	leaf.Name = parts[len(parts)-1]
	entries := []object.Entry{leaf}
	var objects []object.Object
	for i := len(parts) - 1; ; i-- {
		if i == 0 {
			entries = append(entries, more...)
		}
		tree, err := r.Objects.NewTree(entries)
		if err != nil {
			r.t.Fatal(err)
		}
		objects = append(objects, tree)
		if i == 0 {
			break
		}
		entries = []object.Entry{{Mode: object.ModeTree, Name: parts[i-1], ID: tree.ID}}
	}
	for _, o := range objects { // as a fetch without fsckObjects would store them
		if _, err := r.Git.Run(context.Background(), gitcmd.Opts{Stdin: o.Data, Write: true}, "hash-object", "-w", "-t",
			"tree", "--literally", "--stdin"); err != nil {
			r.t.Fatal(err)
		}
	}
	return session.Tree(objects[len(objects)-1].ID)
}

// outside returns all files in the directory around the repository, including the hooks and configuration in its git
// directory, except for those that a move may write: objects, wfs's own directory, and the work tree.
func (r *testRepo) outside() map[string]string {
	r.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(r.home, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(r.home, path)
		if rel = filepath.ToSlash(rel); rel == "repo/.git/objects" || rel == "repo/.git/wfs" ||
			strings.HasPrefix(rel, "tree-index") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if err != nil || d.IsDir() || strings.HasPrefix(rel, "repo/") && !strings.HasPrefix(rel, "repo/.git/") {
			return err
		}
		data, err := os.ReadFile(path)
		found[rel] = string(data)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// TestBar15RestoreEscape moves to trees with paths outside of the work tree or in .git. Nothing is written there, the
// error names the path, and the work tree is as before.
func TestBar15RestoreEscape(t *testing.T) {
	t.Parallel()
	names := []string{".git/hooks/post-checkout", ".git/config", ".GIT/config", ".Git/config", "git~1/config",
		"GIT~1/hooks/post-checkout",
		".git /config", ".git./config", ".git::$INDEX_ALLOCATION/config", ".g\u200cit/config", ".git\u200d/config",
		"\u200e.git/config", ".gi\ufefft/config",
		"../escaped", "../../escaped", "dir/../../escaped", "./here", "dir/.git/config", "dir/GIT~1/config",
		"a\\..\\..\\escaped/x", "..\\escaped"}
	refused := 0
	for _, name := range names {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			r := newRepo(t)
			blob := r.Objects.NewObject("blob", []byte("evil\n"))
			if err := r.Objects.WriteObjects(context.Background(), blob); err != nil {
				t.Fatal(err)
			}
			to := r.evilTree(name, object.Entry{Mode: object.ModeExec, ID: blob.ID})
			before, files := r.outside(), r.disk()
			err := r.tryMove(to)
			if after := r.outside(); !maps.Equal(after, before) {
				t.Errorf("written outside: %q", after)
			}
			if strings.Contains(name, "\\") { // an ordinary character here
				if err == nil {
					return
				}
			} else if err == nil {
				t.Fatal("moved")
			}
			refused++
			if !errors.Is(err, checkout.ErrInTheWay) &&
				!strings.Contains(err.Error(),
					"invalid path '"+name+"'") { // git checks all names before it writes the first file
				t.Errorf("it says %v", err)
			}
			if got := r.disk(); !maps.Equal(got, files) {
				t.Errorf("the work tree holds %q", got)
			}
			if now := r.snapshot().Tree; now != r.treeOf(map[string]string{"a.txt": "a\n"}) {
				t.Error("a snapshot is another one")
			}
		})
	}
	t.Logf("%d hostile names, %d refused, 0 files outside", len(names), refused)
}

// TestBar15RestoreThroughLinks checks that no symbolic links are followed, whether in the work tree, in the tree, or in
// both at one path.
func TestBar15RestoreThroughLinks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	target := filepath.Join(r.home, "outside")
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(target, "f"), []byte("theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out": target, "git": ".git", "up": ".."} {
		if err := os.Symlink(to, r.path(name)); err != nil {
			t.Skip(err)
		}
	}
	links := r.snapshot().Tree
	before := r.outside()
	unharmed := func(what string) {
		t.Helper()
		if after := r.outside(); !maps.Equal(after, before) {
			t.Errorf("%s wrote outside: %q", what, after)
		}
	}
	// Directories in the place of links, with their files deleted again, and links in the place of directories.
	dirs := r.treeOf(map[string]string{"a.txt": "a\n", "out/f": "evil\n", "out/g": "evil\n", "git/config": "evil\n",
		"git/hooks/post-checkout": "x evil\n", "up/escaped": "evil\n"})
	r.move(dirs)
	unharmed("a move to directories")
	r.move(links)
	unharmed("a move back to links")
	// Another process makes a link where the move is about to write or to delete.
	r.move(dirs)
	m, err := r.PlanMove(context.Background(), r.snapshot(),
		r.treeOf(map[string]string{"a.txt": "a\n", "out/f": "changed\n", "up/escaped": "changed\n"}), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out": target, "git": ".git", "up": ".."} {
		if err := os.RemoveAll(r.path(name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, r.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.MoveTree(context.Background(), m); err == nil {
		t.Error("moved through links")
	}
	unharmed("a refused move")
	// A tree with a link and a file below it, which git would never make.
	blob, link := r.Objects.NewObject("blob", []byte("evil\n")), r.Objects.NewObject("blob", []byte(target))
	if err := r.Objects.WriteObjects(context.Background(), blob, link); err != nil {
		t.Fatal(err)
	}
	both := r.evilTree("out/g", object.Entry{Mode: object.ModeFile, ID: blob.ID},
		object.Entry{Mode: object.ModeLink, Name: "out", ID: link.ID})
	_ = r.tryMove(both)
	unharmed("a move to a tree with both")
}

// TestBar15RestoreHostileSubmodules: a .gitmodules that points out of the work tree, or is a link, has no effect:
// submodules are never checked out.
func TestBar15RestoreHostileSubmodules(t *testing.T) {
	t.Parallel()
	for name, modules := range map[string]string{
		"path":    "[submodule \"x\"]\n\tpath = ../escaped\n\turl = ./payload\n",
		"name":    "[submodule \"../../hooks\"]\n\tpath = sub\n\turl = ./payload\n",
		"option":  "[submodule \"x\"]\n\tpath = sub\n\turl = -u./payload\n",
		"command": "[submodule \"x\"]\n\tpath = sub\n\turl = ./payload\n\tupdate = !touch ../escaped\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.run("config", "submodule.recurse", "true")
			o := r.Objects.NewObject("blob", []byte(modules))
			if err := r.Objects.WriteObjects(context.Background(), o); err != nil {
				t.Fatal(err)
			}
			to := r.evilTree("sub", object.Entry{Mode: object.ModeGitlink, ID: string(r.head())},
				object.Entry{Mode: object.ModeFile, Name: ".gitmodules", ID: o.ID})
			before := r.outside()
			err := r.tryMove(to)
			if after := r.outside(); !maps.Equal(after, before) {
				t.Errorf("written outside: %q, %v", after, err)
			}
			if err == nil && r.read(".gitmodules") != modules {
				t.Error("the file is another one")
			}
		})
	}
}
