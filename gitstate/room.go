package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// RoomRequest says what a room is to hold.
type RoomRequest struct {
	Dir     string // the room itself
	Name    string // tells it from other rooms of the repository; "" for the work tree's own
	Tree    session.Tree
	Further []string // patterns of untracked and ignored files of the work tree to bring
	Env     []string // of the gates that will run there
	// SetUp installs packages there. nil: they are copied from the work tree.
	SetUp func() error
	// Judged is the tree beside whose files packages are looked for in the work tree. Copies of them stay as long as Key
	// is the same. Fresh asks whether the work tree still has the same ones.
	Judged session.Tree
	Key    string
	Fresh  bool
	// Cold leaves out what builders and tools have left there.
	Cold bool
	// Packages are those that must be there, as a room has named them before; "" for any.
	Packages string
}

// Room makes a directory hold a tree, as Materialise does, with installed packages. They come there once, are sealed,
// and stay from one tree to the next: what is done to those of the work tree meanwhile changes nothing here. They come
// anew when they were changed in the room.
//
// Whoever calls it lets nobody else use the directory meanwhile.
func (r *Repo) Room(ctx context.Context, q RoomRequest) (session.CleanTree, error) {
	b, err := r.bringer(ctx, q.Dir, q.Tree)
	if err != nil {
		return *b.clean, err
	}
	names, err := r.untrackedBy(ctx, q.Further)
	if err != nil {
		return *b.clean, err
	}
	if b.judged, err = r.namesOf(ctx, q.Judged); err != nil {
		return *b.clean, err
	}
	b.m = r.materialiser(q.Dir)
	if q.Name != "" {
		b.m.private = r.roomMemory(q.Name)
	}
	b.had, b.cold = readSeal(b.m.seal()), q.Cold
	if !b.had.has("") || b.had.changed(q.Dir) != "" {
		if err := b.m.anew(); err != nil {
			return *b.clean, err
		}
	}
	if err := b.layAround(ctx, q.Tree, names); err != nil {
		return *b.clean, err
	}
	if b.had.has("") && q.SetUp == nil && !b.fits(ctx, q) {
		b.had = seal{}
		if err := b.layAround(ctx, q.Tree, names); err != nil {
			return *b.clean, err
		}
	}
	for try := 0; !b.had.has("") && try < 2; try++ { // a layout that fails begins anew, and takes along what was just installed
		if err := b.install(ctx, q, names); err != nil {
			return *b.clean, err
		}
	}
	if b.cold {
		if err := b.dropCaches(); err != nil {
			return *b.clean, err
		}
	}
	b.waysOut()
	b.lookOutside(q.Env)
	if err := b.bringAsked(); err != nil {
		return *b.clean, err
	}
	b.clean.Packages = b.had.packages()
	b.clean.Changed = func() string { return b.had.changed(q.Dir) }
	b.clean.Absent = func() []string { return b.absent(ctx) }
	b.clean.Written = func() []string { return b.written(ctx) }
	if q.SetUp == nil {
		b.clean.Stale = func() bool { return b.differs(ctx) != nil && b.installedNow(ctx) != b.had.packages() }
	}
	if q.Packages != "" && q.Packages != b.clean.Packages {
		return *b.clean, session.ErrOtherPackages
	}
	return *b.clean, nil
}

// install brings packages into a room, lays out anew what that changed of the tree, and seals them.
func (b *bringer) install(ctx context.Context, q RoomRequest, names []string) error {
	durable.Hit(durable.CleanSetUp)
	h := sha256.New()
	switch {
	case q.Packages == NoPackages(): // and nothing that came meanwhile
	case q.SetUp == nil:
		if err := b.copyPackages(ctx, h); err != nil {
			return err
		}
	default:
		if err := q.SetUp(); err != nil {
			return err
		}
		if err := b.seal(""); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(b.had)) {
			fmt.Fprintf(h, "%q %v\n", name, b.had[name].own)
		}
	}
	durable.Hit(durable.CleanBrought)
	b.had.complete(h.Sum(nil), q.Key)
	if b.waysOut(); q.SetUp != nil && b.clean.LeadsBack != nil {
		return fmt.Errorf("%s leads to %s", b.clean.LeadsBack.Path, b.clean.LeadsBack.To)
	}
	b.m.passTick(b.changed)
	if err := b.layAround(ctx, q.Tree, names); err != nil {
		return err
	}
	return b.had.write(b.m.seal())
}

// dropCaches removes what tools keep beside installed packages. What Python has compiled stays: it can be told to look
// elsewhere.
func (b *bringer) dropCaches() error {
	for name := range b.had {
		if !strings.HasSuffix(name, "/") {
			continue
		}
		for cache := range caches {
			if cache == "__pycache__" || cache == ".git" {
				continue
			}
			if err := RemoveAll(b.at(name + cache)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgetRoom removes what is remembered of a room.
func (r *Repo) ForgetRoom(name string) error { return os.RemoveAll(r.roomMemory(name)) }

func (r *Repo) roomMemory(name string) string { return filepath.Join(r.StateDir(), "rooms", name) }

// installing are files that say what is to be installed. Where a package manager has a lock file, its manifest says
// nothing more.
var installing = lazyregexp.New(`(^|/)(go\.sum|(package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|` +
	`bun\.lockb?|(Cargo|Gemfile|Pipfile|Podfile|composer|deno|mix|pdm|poetry|pubspec|uv|yarn)\.lock|` +
	`pyproject\.toml|setup\.(py|cfg)|composer\.json|Gemfile|Pipfile|pnpm-workspace\.yaml|` +
	`([^/]*requirements[^/]*|requirements/[^/]+)\.(txt|in)|environment\.ya?ml|` +
	`\.npmrc|\.yarnrc(\.yml)?|\.python-version|\.nvmrc|\.node-version|\.tool-versions)$`)

// NoPackages is what a room names its packages when nothing is installed.
func NoPackages() string {
	s, sum := seal{}, sha256.Sum256(nil)
	s.complete(sum[:], "")
	return s.packages()
}

// Installed reports whether packages are installed in the work tree, beside files of a tree.
func (r *Repo) Installed(ctx context.Context, tree session.Tree) (bool, error) {
	judged, err := r.namesOf(ctx, tree)
	if err != nil {
		return false, err
	}
	b := &bringer{repo: r, judged: judged}
	err = b.packages(ctx, func(string, string, fs.FileInfo) error { return errOther })
	return errors.Is(err, errOther), ctx.Err()
}

// Bare reports whether the work tree has nothing that its clean tree would lack: neither files that are ignored nor others
// beside those of a tree, but for what is installed and what further patterns bring.
func (r *Repo) Bare(ctx context.Context, tree session.Tree, further []string) (bool, error) {
	names, err := r.untrackedBy(ctx, further)
	if err != nil {
		return false, err
	}
	b := &bringer{repo: r}
	if b.tree, err = r.namesOf(ctx, tree); err != nil {
		return false, err
	}
	b.ask(names)
	return len(b.absent(ctx)) == 0, ctx.Err()
}

// namesOf are the paths that a tree has; of no tree there are none.
func (r *Repo) namesOf(ctx context.Context, tree session.Tree) (*treeNames, error) {
	t := &treeNames{files: map[string]bool{}, dirs: map[string]bool{}}
	if tree == "" {
		return t, nil
	}
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "-r", "--name-only", "-z", string(tree))
	for _, name := range splitZ(out) {
		t.add(name)
	}
	return t, err
}

// Installing is a digest of the files of a tree that say what is to be installed.
func (r *Repo) Installing(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "-r", "-z", string(tree))
	if err != nil {
		return "", err
	}
	locked := false
	var manifests []string
	h := sha256.New()
	for _, line := range splitZ(out) {
		_, name, _ := strings.Cut(line, "\t")
		if installing.MatchString(name) {
			base := path.Base(name)
			locked = locked || strings.Contains(base, "lock") || strings.Contains(base, "shrinkwrap")
			fmt.Fprintf(h, "%q\n", line)
		} else if path.Base(name) == "package.json" {
			manifests = append(manifests, line)
		}
	}
	if !locked {
		fmt.Fprintf(h, "%q\n", manifests)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// WithoutRules is a digest of a tree without the files below .wfs/.
func (r *Repo) WithoutRules(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "-z", string(tree))
	h := sha256.New()
	for _, entry := range splitZ(out) {
		if !strings.HasSuffix(entry, "\t"+userDir) {
			fmt.Fprintf(h, "%q\n", entry)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// layAround lays the tree out, and leaves alone what is sealed, what builders left, and what is asked for besides.
func (b *bringer) layAround(ctx context.Context, tree session.Tree, names []string) error {
	err := b.m.lay(ctx, tree, func(t *treeNames) func(string) bool {
		b.tree = t
		if b.m.before == nil { // nothing of before is there
			b.had = seal{}
		}
		b.ask(names)
		above := b.had.above()
		return func(rel string) bool {
			return b.had.has(rel) || b.had.has(rel+"/") || above[rel] || !b.cold && t.builds(rel) ||
				b.further[rel] || b.above[rel]
		}
	})
	if err == nil && b.over {
		err = errTooMany
	}
	if err != nil {
		return err
	}
	return b.linkOutside()
}

// seal notes what is in a directory, whose name ends in a slash, and not in the tree.
func (b *bringer) seal(dir string) error {
	entries, err := os.ReadDir(b.at(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := dir + e.Name()
		switch {
		case b.tree.files[name] && !e.IsDir(), caches[e.Name()], b.tree.builds(name):
			continue
		case e.IsDir():
			if !b.tree.dirs[name] {
				b.had[name+"/"] = sealedFile{}
			}
			if err := b.seal(name + "/"); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		f := sealedFile{own: fileStateOf(info)}
		b.had[name], b.changed = f, max(b.changed, f.own.changed)
	}
	return nil
}

// builds reports whether a directory is one that builders keep.
func (t *treeNames) builds(rel string) bool {
	beside, ok := buildDirs[path.Base(rel)]
	return ok && t.files[strings.TrimPrefix(path.Dir(rel)+"/"+beside, "./")]
}
