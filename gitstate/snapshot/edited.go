package snapshot

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Edited lists the files of the work tree that differ from a commit, except those in .wfs. It writes nothing and takes
// no snapshot. exclude is the path of the session's exclude file (its list of paths that checkpoints leave out), "" for
// none.
func (r *Files) Edited(ctx context.Context, since session.Commit, exclude string) (tracked, untracked []string,
	err error) {
	paths := []string{"--", ":/", ":(top,exclude)" + object.UserDir}
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	if head.Commit != since { // the user may have committed since
		moved, err := r.Git.Ask(ctx,
			append([]string{"diff-tree", "-r", "--name-only", "-z", "--no-renames", string(since), string(head.Commit)},
				paths...)...)
		if err != nil {
			return nil, nil, err
		}
		tracked = gitcmd.SplitZ(moved)
	}
	// Use git status: git diff would write the index if only a file's time has changed.
	status := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"}
	changed, err := r.Git.Ask(ctx, append(status, paths...)...)
	if err != nil {
		return nil, nil, err
	}
	for _, line := range gitcmd.SplitZ(changed) { // XY PATH
		if len(line) > 3 {
			tracked = append(tracked, line[3:])
		}
	}
	slices.Sort(tracked)
	tracked = slices.Compact(tracked)
	if untracked, err = r.untracked(ctx, exclude); err != nil {
		return nil, nil, err
	}
	untracked = slices.DeleteFunc(untracked, func(p string) bool {
		_, is := slices.BinarySearch(tracked, p)
		return is
	})
	return tracked, untracked, nil
}

// untracked lists the files that are not in the index and not ignored, except those in .wfs.
func (r *Files) untracked(ctx context.Context, exclude string) ([]string, error) {
	others := []string{"ls-files", "-z", "--others", "--exclude-standard"}
	if exclude != "" {
		others = append(others, "--exclude-from="+exclude)
	}
	names, err := r.Git.Ask(ctx, append(others, "--", ":/", ":(top,exclude)"+object.UserDir)...)
	return gitcmd.SplitZ(names), err
}

// EditedLines lists the files of the work tree that differ from a commit, except those in .wfs, with the numbers of
// lines that were added and removed. Like Edited, it writes nothing. The lines of a file that is not in the index,
// although the commit has it, are not counted.
func (r *Files) EditedLines(ctx context.Context, since session.Commit, exclude string) ([]session.FileLines, error) {
	out, err := r.Git.Ask(ctx, "diff-index", object.EverySubmodule, "-z", "--numstat", "--no-renames", "--no-ext-diff",
		"--no-textconv", string(since), "--", ":/", ":(top,exclude)"+object.UserDir)
	if err != nil {
		return nil, err
	}
	untracked, err := r.untracked(ctx, exclude)
	if err != nil {
		return nil, err
	}
	files := object.ParseLines(out)
	for _, path := range untracked {
		i := slices.IndexFunc(files, func(f session.FileLines) bool { return f.Path == path })
		if i < 0 {
			text, err := durable.ReadFile(filepath.Join(r.Git.Root, filepath.FromSlash(path)), countedSize)
			files = append(files, session.FileLines{Path: path, Added: lineCount(text),
				Binary: err != nil || bytes.IndexByte(text, 0) >= 0})
			continue
		}
		raw, err := r.Git.Ask(ctx, "diff-index", "--raw", "-z", "--no-renames", "--no-abbrev", string(since), "--",
			":(top,literal)"+path)
		if err != nil {
			return nil, err
		}
		was, err := object.ParseRaw(raw)
		if err != nil {
			return nil, err
		}
		for k := range was {
			was[k].NewMode, was[k].NewID = was[k].OldMode, was[k].OldID
		}
		same, err := r.Holds(ctx, was)
		if err != nil {
			return nil, err
		}
		if files[i] = (session.FileLines{Path: path, Binary: true}); same {
			files = slices.Delete(files, i, i+1)
		}
	}
	return files, nil
}

// countedSize is the maximum size in bytes of a file whose lines EditedLines counts.
const countedSize = 1 << 20

// lineCount counts the lines of a text. The last one need not end in a line break.
func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Dirty returns the number of paths in the work tree that differ from HEAD or are untracked, except .wfs. An untracked
// directory counts as one path. Dirty takes no lock.
func (r *Files) Dirty(ctx context.Context) (int, error) {
	out, err := r.Git.Ask(ctx, "status", object.EverySubmodule, "--porcelain", "--no-renames", "-z", "--", ":/",
		":(top,exclude)"+object.UserDir)
	return strings.Count(string(out), "\x00"), err
}

// Fold replaces the untracked files in directories that tools fill, such as .venv, by these directories, each with a
// slash at its end. Snapshots leave such a directory out, unless git tracks something in it.
func (r *Files) Fold(ctx context.Context, untracked []string) (folded []string, err error) {
	tracks := map[string]bool{}
	for _, file := range untracked {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if !filled(path.Base(dir)) {
				continue
			}
			if _, asked := tracks[dir]; !asked {
				out, err := r.Git.Ask(ctx, "ls-files", "-z", "--", ":(top,literal)"+dir)
				if err != nil {
					return nil, err
				}
				tracks[dir] = len(out) > 0
			}
			if !tracks[dir] {
				file = dir + "/"
			}
		}
		folded = append(folded, file)
	}
	slices.Sort(folded)
	return slices.Compact(folded), nil
}
