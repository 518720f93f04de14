package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// cleanFor is the file beside a clean tree that says when it was used last, in Unix seconds, and whose it is: the path of the
// repository's common git directory.
const cleanFor = "for"

// cleanDir is where this work tree's clean tree is: in the person's state directory, because what looks in the
// directories above for packages, modules or configuration must not find the work tree's. The directory itself is called
// as the work tree's, which some tools take for the project's name.
func (a *app) cleanDir(repo *gitstate.Repo) (string, error) {
	state, err := a.env.StateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(repo.CommonDir() + "\x00" + repo.Worktree()))
	return filepath.Join(state, "clean", hex.EncodeToString(sum[:4]), filepath.Base(repo.Root())), nil
}

// packagesOf says which packages gates run with.
type packagesOf struct {
	notes  *notes
	file   string       // the note of a session that says which ones its work began with
	judged session.Tree // its manifests say which ones are meant
	fresh  bool         // those of the work tree are taken as they are now: a person has said so
	cold   bool         // without what gates left that ran there before
}

// cleanTree makes the clean tree of a tree, for the gates of a plan.
func (a *app) cleanTree(ctx context.Context, plan workflows.Plan, in packagesOf,
	tree session.Tree) (session.CleanTree, error) {
	c, err := a.setUpRoom(ctx, plan, in.cold, tree)
	if err != nil {
		return session.CleanTree{}, err
	}
	if c == nil {
		if c, err = a.copiedTree(ctx, plan, in, tree); err != nil {
			return *c, err
		}
	}
	if c.LeadsBack != nil {
		c.LeadsBack.Mend = a.mendRooms(plan)
	}
	c.Home, c.Temp = filepath.Join(filepath.Dir(c.Root), "wfs-home"), filepath.Join(filepath.Dir(c.Root), "wfs-tmp")
	for _, dir := range []string{c.Home, c.Temp} {
		if err := errors.Join(gitstate.RemoveAll(dir), durable.MkdirAll(dir)); err != nil {
			return *c, err
		}
	}
	if len(c.Temp) > maxTemp {
		c.Temp = ""
	}
	return *c, nil
}

// maxTemp bounds the path of a directory for temporary files, in bytes: programs put sockets there, whose path must not
// be longer than 104 bytes.
const maxTemp = 64

// copiedTree makes it with packages that are copied from the work tree.
func (a *app) copiedTree(ctx context.Context, plan workflows.Plan, in packagesOf,
	tree session.Tree) (*session.CleanTree, error) {
	dir, err := a.cleanDir(a.Repo)
	if err != nil {
		return &session.CleanTree{}, err
	}
	if err := durable.MkdirAll(filepath.Dir(dir)); err != nil {
		return &session.CleanTree{}, err
	}
	if err := a.usesClean(filepath.Dir(dir)); err != nil {
		return &session.CleanTree{}, err
	}
	key, err := a.Repo.Installing(ctx, in.judged)
	if err != nil {
		return &session.CleanTree{}, err
	}
	q := gitstate.RoomRequest{Dir: dir, Tree: tree, Judged: in.judged, Further: plan.Provide, Key: key, Cold: in.cold,
		Env: phases.DefaultEnv(a.env.Environ, plan.Env)}
	if !in.fresh {
		q.Packages = in.read(key)
	}
	if q.Fresh = q.Packages == ""; q.Fresh && !in.fresh && !plan.Setup.IsZero() && len(in.notes.read(in.file)) > 0 {
		return &session.CleanTree{}, session.ErrOtherPackages // what manifests ask for now could not be installed
	}
	c, err := a.Repo.Room(ctx, q)
	if err == nil && q.Fresh {
		err = in.write(key, c.Packages)
	}
	return &c, err
}

// takePackages copies what is installed before somebody is set to work, if there is no copy yet of what manifests ask for:
// gates in clean trees run with that, whatever is done to it meanwhile. That a copy was noted is not enough: the gates on
// the base note theirs, and it is made again from the work tree.
func (w *works) takePackages(ctx context.Context, r session.RunRequest) error {
	a := w.app
	in := packagesOf{notes: &a.notes, file: besideRuns(r.RunDir, "packages"), judged: r.Started.Tree}
	if r.Plan.Unproven {
		return nil
	}
	key, err := a.Repo.Installing(ctx, in.judged)
	if err != nil {
		return err
	}
	there, err := a.Repo.Installed(ctx, in.judged)
	if err != nil {
		return err
	}
	if !there {
		return in.write(key, gitstate.NoPackages())
	}
	defer a.leaveRooms()
	if c, err := a.setUpRoom(ctx, r.Plan, false, in.judged); err != nil {
		return err
	} else if c != nil {
		return in.write(key, c.Packages)
	}
	w.say("keeping a copy of what is installed …")
	_, err = a.copiedTree(ctx, r.Plan, in, in.judged)
	return err
}

// read returns which packages the work began with under a key, "" when nobody knows.
func (p packagesOf) read(key string) string {
	for line := range strings.Lines(string(p.notes.read(p.file))) {
		if is, packages, ok := strings.Cut(strings.TrimSpace(line), " "); ok && is == key {
			return packages
		}
	}
	return ""
}

// write notes it. Without a session's directory there is nobody to note it for.
func (p packagesOf) write(key, packages string) error {
	if _, err := os.Stat(filepath.Dir(p.file)); err != nil || p.read(key) == packages {
		return nil
	}
	text := key + " " + packages + "\n"
	for line := range strings.Lines(string(p.notes.read(p.file))) {
		if !strings.HasPrefix(line, key+" ") {
			text += line
		}
	}
	err := p.notes.write(p.file, []byte(text))
	durable.Hit(durable.PackagesKept)
	return err
}

// usesClean notes that the clean tree below a directory is used now.
func (a *app) usesClean(above string) error {
	text := fmt.Appendf(nil, "%d %s\n", a.env.Now().Unix(), a.Repo.CommonDir())
	return durable.WriteCache(filepath.Join(above, cleanFor), text, 0o600)
}

// cleanUsed reads that: when, in Unix seconds, and by which repository.
func cleanUsed(above string) (used int64, whose string, ok bool) {
	owner, err := os.ReadFile(filepath.Join(above, cleanFor))
	when, whose, ok := strings.Cut(strings.TrimSuffix(string(owner), "\n"), " ")
	used, bad := strconv.ParseInt(when, 10, 64)
	return used, whose, ok && err == nil && bad == nil
}

// dropClean removes this work tree's clean tree. It is made again when it is needed.
func (a *app) dropClean() {
	if dir, err := a.cleanDir(a.Repo); err == nil {
		if err := errors.Join(a.Repo.Dematerialise(dir), gitstate.RemoveAll(filepath.Dir(dir))); err != nil {
			a.note("the clean tree was not removed: %v", err)
		}
	}
}

// cleanTrees finds clean trees of this repository that were not used since a time, and those of repositories that no longer
// exist.
func (g *search) cleanTrees() error {
	dir, err := g.cleanDir(g.Repo)
	if err != nil {
		return nil //nolint:nilerr // there is no place for them
	}
	all := filepath.Dir(filepath.Dir(dir))
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		path := filepath.Join(all, e.Name())
		used, whose, ok := cleanUsed(path)
		if !ok || g.young(used) {
			continue
		}
		if _, err := os.Lstat(whose); err != nil || whose == g.Repo.CommonDir() { // else its own gc sees to it
			g.addOutside("clean tree for gates", path)
		}
	}
	return nil
}

// sizeBelow is how much the files below a directory weigh.
func sizeBelow(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
