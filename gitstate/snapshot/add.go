package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// maxRounds limits how many paths may make `git add` fail as a whole. After each of them, git has to run again.
const maxRounds = 50

// addition is the result of bringing a private index up to date with the work tree.
type addition struct {
	session.Staged
	Now     *object.Index   // index after the addition
	Copied  []byte          // tracked files whose new keys are withheld, see withheld.copied
	Plain   bool            // the files were added without git
	Objects []object.Object // if Plain: objects of the added files, not stored yet
}

// isGiven reports whether a path is a tracked file that now contains a new key.
func (h *holding) isGiven(p string) bool {
	return slices.ContainsFunc(h.given, func(s session.Skip) bool { return s.Path == p })
}

func joinSkips(lists ...[]session.Skip) []session.Skip {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b session.Skip) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b session.Skip) bool { return a.Path == b.Path })
}

// maxSpecs limits the pathspecs that wfs passes as arguments, in bytes. Systems allow somewhat more; longer lists go
// into a file.
const maxSpecs = 64 << 10

// AddAll stages the whole work tree into a private index, except for .wfs and the files held out of checkpoints, and
// lists the paths that it could not add. x is the private index before the addition. nothingStaged says that its tree
// is headTree. A nested repository becomes a gitlink only if head already has that gitlink or the user has made the
// repository a submodule, because a gitlink saves none of its files.
func (r *Adder) AddAll(ctx context.Context, index string, x *object.Index, nothingStaged bool, exclude string,
	head session.Commit, headTree session.Tree) (made addition, err error) {
	began := time.Unix(0, int64(r.Git.FileTime()))
	h, err := r.files.hold(ctx, index, x, exclude, head)
	if err != nil {
		return made, err
	}
	out, err := r.files.withhold(ctx, index, x, nothingStaged, &h, head)
	if err != nil {
		return made, err
	}
	if made.Copied, h.given = out.copied, out.skips; len(out.unstaged) > 0 {
		if x, err = r.Objects.ReadIndex(ctx, index); err != nil {
			return made, err
		}
		h.unsure = true
	}
	made.HeldOut, made.Ignored, made.Now = h.held, h.ignored, x
	slices.SortFunc(made.HeldOut, func(a, b session.Held) int { return strings.Compare(a.Path, b.Path) })
	// Git would give the index the time at which it was written. But a file that changed since AddAll began must not
	// seem older than the index.
	defer func() {
		if err == nil {
			err = gitcmd.IgnoreAbsent(os.Chtimes(index, began, began))
		}
	}()
	if !h.unsure && len(h.force) == 0 {
		paths := slices.DeleteFunc(slices.Clone(h.paths), h.isGiven)
		if now, objects, ok := r.addPlain(ctx, index, x, paths); ok {
			made.Now, made.Objects, made.Plain, made.Skipped = now, objects, true, joinSkips(out.skips)
			return made, nil
		}
	}
	if err := cmp.Or(x.Store(), r.Objects.Doubt(index, x, h.doubted)); err != nil {
		return made, err
	}
	added, err := r.addHeld(ctx, index, x, &h)
	if err != nil {
		return made, err
	}
	if added != nil || len(h.doubted) > 0 {
		if made.Now, err = r.Objects.ReadIndex(ctx, index); err != nil {
			return made, err
		}
	}
	unseen, err := r.unseen(ctx, made.Now) // in a sparse checkout, git has removed the marks of files that exist
	if err != nil {
		return made, err
	}
	var nested []session.Skip
	if made.Now, nested, err = r.ungraft(ctx, index, made.Now, headTree); err != nil {
		return made, err
	}
	made.Skipped = joinSkips(added, unseen, out.skips, nested)
	return made, nil
}

// addHeld runs `git add` for the paths that hold has selected, and returns the paths that git skipped. It returns nil
// if there was nothing to add.
//
// It adds single paths without exclusions: if a path in the same directory is excluded, git 2.39 silently adds nothing
// there.
func (r *Adder) addHeld(ctx context.Context, index string, x *object.Index, h *holding) (skipped []session.Skip,
	err error) {
	paths := literally(slices.DeleteFunc(slices.Clone(h.paths), h.isGiven))
	sure := !h.unsure && len(paths) <= MaxNamed
	if sure && len(paths) > 0 {
		// without preloadIndex: git would start threads that have nothing to compare
		report, err := r.addOnce(ctx, index, paths, h.how, "-c", "core.preloadIndex=false")
		sure, skipped = err == nil && report.Fatal == nil && len(report.Skipped) == 0, []session.Skip{}
	}
	if !sure {
		if skipped, err = r.addEverything(ctx, index, h.how, everythingBut(h, x)); err != nil {
			return nil, err
		}
		skipped = append([]session.Skip{}, skipped...)
	}
	if len(h.force) == 0 {
		return skipped, nil
	}
	report, err := r.addOnce(ctx, index, literally(h.force), "-f")
	return append([]session.Skip{}, append(skipped, report.Skipped...)...), err
}

// literally returns pathspecs that match exactly the given paths, without wildcards.
func literally(paths []string) (specs []string) {
	for _, p := range paths {
		specs = append(specs, ":(top,literal)"+p)
	}
	return specs
}

// everythingBut returns pathspecs for the work tree without .wfs, the held-out paths, and the tracked files that
// contain a new key.
func everythingBut(h *holding, x *object.Index) []string {
	all := []string{".", ":(exclude,top)" + object.UserDir}
	for _, s := range h.given {
		all = append(all, ":(exclude,top,literal)"+s.Path)
	}
	for _, p := range h.keep {
		// If a held-out directory has no tracked file, exclude rules keep git out of it. A tracked file in it was added
		// by force.
		if p = strings.TrimSuffix(p, "/"); !x.Tracks(p) {
			all = append(all, ":(exclude,top,literal)"+p)
		}
	}
	return all
}

// unseen returns the files that differ from an index, but that git does not compare because they are marked
// assume-unchanged or skip-worktree. It omits files that do not exist, such as those outside of a sparse checkout: they
// have no content to lose.
func (r *Adder) unseen(ctx context.Context, x *object.Index) (skipped []session.Skip, err error) {
	var files []object.TreeFile
	for _, p := range r.Git.ThoseThere(x.Marked()) {
		e, _ := object.Find(x.Entries, 0, p)
		if f, ok := object.LookAt(filepath.Join(r.Git.Root, filepath.FromSlash(p))); !ok || !x.Unchanged(e, f, nil) {
			files = append(files, object.TreeFile{Path: p, Mode: fmt.Sprintf("%06o", e.Mode), ID: hex.EncodeToString(e.ID)})
		}
	}
	ids, err := r.idsOf(ctx, files)
	for _, f := range files {
		if ids[f.Path] != f.ID {
			skipped = append(skipped, session.Skip{Path: f.Path, Why: WayUnseen})
		}
	}
	return skipped, err
}

// idsOf returns the ids that the given files would have if git added them now, by path. It omits files that it cannot
// hash; callers regard these as changed.
func (r *Adder) idsOf(ctx context.Context, files []object.TreeFile) (map[string]string, error) {
	ids, named := map[string]string{}, []string{}
	for _, f := range files {
		full := filepath.Join(r.Git.Root, filepath.FromSlash(f.Path))
		switch info, err := os.Lstat(full); {
		case err != nil, strings.Contains(f.Path, "\n"): // hash-object reads one path a line: count it as changed
		case info.Mode()&fs.ModeSymlink != 0 && f.Mode == object.ModeLink:
			if to, err := os.Readlink(full); err == nil {
				ids[f.Path] = r.Objects.NewObject("blob", []byte(to)).ID
			}
		case info.Mode().IsRegular() && f.Regular() && (info.Mode()&0o100 != 0) == (f.Mode == object.ModeExec):
			named = append(named, f.Path)
		}
	}
	if len(named) == 0 {
		return ids, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(named, "\n") + "\n")}, "hash-object",
		"--stdin-paths")
	if lines := strings.Fields(string(out)); err == nil && len(lines) == len(named) {
		for i, p := range named {
			ids[p] = lines[i]
		}
	}
	return ids, nil // files that cannot be read count as changed
}

// Holds reports whether the work tree has what changes lead to: each path with that content, or no file where one was
// removed. It writes nothing.
func (r *Adder) Holds(ctx context.Context, changes []object.TreeChange) (bool, error) {
	var files []object.TreeFile
	for _, c := range changes {
		if c.NewMode != object.ModeNone {
			files = append(files, object.TreeFile{Path: c.Path, Mode: c.NewMode, ID: c.NewID})
		} else if len(r.Git.ThoseThere([]string{c.Path})) > 0 {
			return false, nil
		}
	}
	ids, err := r.idsOf(ctx, files)
	return !slices.ContainsFunc(files, func(f object.TreeFile) bool { return ids[f.Path] != f.ID }), err
}

// addEverything runs `git add` for the whole work tree, limited by the pathspecs, and returns the paths that git
// skipped. It tries again if git could not store objects.
func (r *Adder) addEverything(ctx context.Context, index, how string, all []string) (skipped []session.Skip,
	err error) {
	for try := 1; ; try++ {
		if skipped, err = r.addRest(ctx, index, how, all); err != nil {
			return nil, err
		}
		notStored := slices.ContainsFunc(skipped, func(s session.Skip) bool { return s.Why == skipNotStored })
		if !notStored || try == object.MaxTries {
			return skipped, nil // a full disk fails on each try; a concurrent garbage collection does not
		}
	}
}

// addRest runs `git add` with the option `how` (-A or -u). If one path makes git fail as a whole, it excludes that path
// and runs git again. It returns the skipped and the excluded paths.
func (r *Adder) addRest(ctx context.Context, index, how string, paths []string) ([]session.Skip, error) {
	var skipped []session.Skip
	report, err := r.addOnce(ctx, index, paths, how)
	for round := 0; ; round++ {
		var failed *gitcmd.GitError
		if err != nil && (!errors.As(err, &failed) || report.Fatal == nil) {
			return nil, err
		}
		if report.Fatal == nil {
			return append(skipped, report.Skipped...), nil
		}
		// One path made git fail as a whole: exclude it and try again.
		known := slices.ContainsFunc(skipped, func(s session.Skip) bool { return s.Path == report.Fatal.Path })
		if known || round == maxRounds {
			return nil, err
		}
		skipped = append(skipped, *report.Fatal)
		paths = append(paths, ":(exclude,top,literal)"+report.Fatal.Path)
		report, err = r.addOnce(ctx, index, paths, how)
	}
}

// addOnce runs one `git add`. It passes all pathspecs as arguments or in a file, never through a pipe: if wfs is killed
// while it writes to a pipe, git would miss exclusions, or add everything if it gets no pathspec at all.
func (r *Adder) addOnce(ctx context.Context, index string, pathspecs []string, how string,
	settings ...string) (addReport, error) {
	// With core.safecrlf, git may refuse files whose line ends do not survive a round trip. That setting is meant as
	// advice for people, not for snapshots.
	args := append(settings, "-c", "core.excludesFile="+r.Settings.ExcludesPath(), "-c",
		"core.safecrlf=false",
		"add", how, "--ignore-errors", "--sparse")
	if all := strings.Join(pathspecs, "\x00"); len(all) > maxSpecs {
		file := index + ".specs"
		if err := durable.WriteCache(file, []byte(all), 0o600); err != nil {
			return addReport{}, err
		}
		defer os.Remove(file)
		args = append(args, "--pathspec-from-file="+file, "--pathspec-file-nul")
	} else {
		args = append(append(args, "--"), pathspecs...)
	}
	_, stderr, err := r.Git.RunBoth(ctx,
		gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), OkExit: []int{1}}, args...)
	report := ReadAddReport(stderr)
	report.Skipped = slices.DeleteFunc(report.Skipped, r.rulesOnly)
	if err == nil && report.Fatal == nil && report.Unknown != "" {
		err = &gitcmd.GitError{Args: []string{"add"}, Exit: 1, Stderr: report.Unknown}
	}
	return report, err
}

// ungraft removes gitlinks from a private index (x), except those that head has and those that the user has made
// submodules. It returns the resulting index, and the paths of the removed gitlinks and of submodules with uncommitted
// edits.
func (r *Adder) ungraft(ctx context.Context, path string, x *object.Index, head session.Tree) (*object.Index,
	[]session.Skip, error) {
	info := x.Info()
	if len(info.Gitlinks) == 0 {
		return x, nil, nil
	}
	skipped, err := r.dropGitlinks(ctx, path, info.Gitlinks, head)
	if err == nil && len(skipped) > 0 {
		x, err = r.Objects.ReadIndex(ctx, path)
	}
	if err != nil {
		return x, skipped, err
	}
	edited, err := r.editedSubmodules(ctx, path, x.Info().Gitlinks)
	return x, append(skipped, edited...), err
}

// dropGitlinks removes the gitlinks from the private index that ungraft must remove, and returns their paths.
func (r *Adder) dropGitlinks(ctx context.Context, index string, gitlinks []string,
	head session.Tree) ([]session.Skip, error) {
	old := map[string]bool{}
	if head != "" {
		args := append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", string(head), "--"}, gitlinks...)
		out, err := r.Git.Ask(ctx, args...)
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(out), "\x00") {
			if meta, name, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(meta, object.ModeGitlink+" ") {
				old[name] = true
			}
		}
	}
	if slices.ContainsFunc(gitlinks, func(p string) bool { return !old[p] }) {
		made, err := r.stagedSubmodules(ctx, index)
		if err != nil {
			return nil, err
		}
		maps.Copy(old, made)
	}
	var skipped []session.Skip
	var drop bytes.Buffer
	for _, path := range gitlinks {
		if !old[path] {
			skipped = append(skipped, session.Skip{Path: path, Why: session.SkipNested})
			drop.WriteString(path + "\x00")
		}
	}
	if len(skipped) == 0 {
		return nil, nil
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), Stdin: drop.Bytes()},
		"update-index", "--force-remove", "-z", "--stdin")
	return skipped, err
}

// putEntries adds entries to a private index. They are in the input format of `git update-index --index-info -z`.
func (r *Adder) putEntries(ctx context.Context, index string, entries []byte) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), Stdin: entries}, "update-index",
		"-z", "--index-info")
	return err
}
