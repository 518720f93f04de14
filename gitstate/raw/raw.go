package raw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Git can convert a file when it adds it and when it writes it: line ends, filters, $Id$, encodings. So a checkout of a
// snapshot may not restore the exact bytes of the file. Before a move overwrites or deletes such a file, wfs saves its
// bytes without conversion ("raw") in a second tree, next to the snapshot's. A move back writes these bytes.

// Files saves and restores the files of a work tree byte by byte.
type Files struct {
	Git     *gitcmd.Git
	Objects *object.Store
}

// New returns the files of a work tree.
func New(git *gitcmd.Git, objects *object.Store) *Files { return &Files{Git: git, Objects: objects} }

// Raw saves the exact bytes of those files that a plan's move overwrites or deletes and that a checkout of the tree
// From would not restore. It stores them durably and returns their tree, "" if there are no such files. No ref reaches
// that tree yet.
func (r *Files) Raw(ctx context.Context, m session.Move) (session.Tree, error) {
	target, err := r.Objects.WithUserDir(ctx, m.To, m.From)
	if err != nil {
		return "", err
	}
	changes, err := r.Objects.DiffTrees(ctx, m.From, target)
	if err != nil {
		return "", err
	}
	back, err := r.ToWrite(ctx, m.RawTo, target)
	if err != nil {
		return "", err
	}
	return r.Of(ctx, Endangered(changes, back))
}

// RawFiles does the same as Raw for all files of a snapshot. It is for a work tree that is about to be removed.
func (r *Files) RawFiles(ctx context.Context, s session.Snapshot) (session.Tree, error) {
	files, err := r.Objects.TreeFiles(ctx, s.Tree)
	if err != nil {
		return "", err
	}
	return r.Of(ctx, files)
}

// File is a file that needs other bytes than those that a checkout of its tree writes.
type File struct {
	object.TreeFile        // mode and id as in the tree
	Bytes           string // id of the blob with the file's exact bytes
}

// ToWrite lists the files in `raw`, a tree of raw bytes, that have other bytes in the work tree now. It omits paths
// that are not files in the tree `target`.
func (r *Files) ToWrite(ctx context.Context, raw, target session.Tree) ([]File, error) {
	if raw == "" {
		return nil, nil
	}
	all, err := r.Objects.TreeFiles(ctx, target)
	if err != nil {
		return nil, err
	}
	in := map[string]object.TreeFile{}
	for _, f := range all {
		in[f.Path] = f
	}
	want, err := r.Objects.TreeFiles(ctx, raw)
	if err != nil {
		return nil, err
	}
	want = slices.DeleteFunc(want, func(f object.TreeFile) bool { return !f.Regular() || !in[f.Path].Regular() })
	now, err := r.rawIDs(ctx, want, false)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range want {
		if now[f.Path] != f.ID {
			files = append(files, File{in[f.Path], f.ID})
		}
	}
	return files, nil
}

// Endangered lists the files whose bytes a move overwrites or deletes, with modes and ids from the snapshot.
func Endangered(changes []object.TreeChange, back []File) []object.TreeFile {
	var files []object.TreeFile
	changed := map[string]bool{}
	for _, c := range changes {
		changed[c.Path] = true
		files = append(files, object.TreeFile{Path: c.Path, Mode: c.OldMode, ID: c.OldID})
	}
	for _, b := range back {
		if !changed[b.Path] {
			files = append(files, b.TreeFile)
		}
	}
	return files
}

// Of saves the exact bytes of those files that a checkout would not restore. It returns the tree of these bytes, "" if
// there are no such files.
func (r *Files) Of(ctx context.Context, files []object.TreeFile) (session.Tree, error) {
	files = slices.DeleteFunc(files, func(f object.TreeFile) bool { return !f.Regular() })
	converted, err := r.converted(ctx, files)
	if err != nil {
		return "", err
	}
	there, err := r.regular(slices.DeleteFunc(files, func(f object.TreeFile) bool { return !converted[f.Path] }))
	if err != nil || len(there) == 0 {
		return "", err
	}
	dir := filepath.Join(r.Git.PrivateDir(), "raw") // a killed command may have left this directory
	if err := errors.Join(os.RemoveAll(dir), durable.MkdirAll(dir)); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	raw, err := r.notWrittenSo(ctx, dir, there)
	if err != nil || len(raw) == 0 {
		return "", err
	}
	ids, err := r.rawIDs(ctx, raw, true)
	if err != nil {
		return "", err
	}
	for i, f := range raw {
		if raw[i].ID = ids[f.Path]; raw[i].ID == "" {
			return "", fmt.Errorf("%q: %w", f.Path, session.ErrTouched)
		}
	}
	return r.treeOf(ctx, filepath.Join(dir, "index"), raw)
}

// treeOf writes a tree of some files. index is the path of a private index for this.
func (r *Files) treeOf(ctx context.Context, index string, files []object.TreeFile) (session.Tree, error) {
	if err := r.indexOf(ctx, index, files); err != nil {
		return "", err
	}
	return r.Objects.WriteTree(ctx, index)
}

// regular returns those of the files that are regular files in the work tree.
func (r *Files) regular(files []object.TreeFile) (there []object.TreeFile, err error) {
	for _, f := range files {
		info, err := r.Git.Lstat(f.Path)
		if err != nil && !gitcmd.Absent(err) {
			return nil, err
		}
		if err == nil && info.Mode().IsRegular() {
			there = append(there, f)
		}
	}
	return there, nil
}

// indexOf writes a private index that has just the given files.
func (r *Files) indexOf(ctx context.Context, index string, files []object.TreeFile) error {
	if err := object.RemoveLeftovers(index); err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "%s %s\t%s\x00", f.Mode, f.ID, f.Path)
	}
	return r.Objects.Enter(ctx, index, list.String())
}

// notWrittenSo returns the files whose present bytes differ from those that git would write. It makes git write the
// files to a temporary directory, because only git knows what its filters do. A file that git fails to write counts as
// different.
func (r *Files) notWrittenSo(ctx context.Context, dir string, files []object.TreeFile) ([]object.TreeFile, error) {
	if len(files) == 0 {
		return nil, nil
	}
	index, out := filepath.Join(dir, "written"), filepath.Join(dir, "files")
	if err := r.indexOf(ctx, index, files); err != nil {
		return nil, err
	}
	var failed *gitcmd.GitError
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "checkout-index", "--all",
		"--quiet",
		"--prefix="+filepath.ToSlash(out)+"/"); err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	var differ []object.TreeFile
	for _, f := range files {
		path := filepath.FromSlash(f.Path)
		same, err := gitcmd.SameContent(filepath.Join(r.Git.Root, path), filepath.Join(out, path))
		if err != nil {
			return nil, err
		}
		if !same {
			differ = append(differ, f)
		}
	}
	return differ, nil
}

// rawIDs returns the ids of blobs with the present, unconverted bytes of files, by path. It omits paths that are not
// regular files. If `keep` is true, it stores the blobs durably.
func (r *Files) rawIDs(ctx context.Context, files []object.TreeFile, keep bool) (map[string]string, error) {
	ids := map[string]string{}
	there, err := r.regular(files)
	if err != nil {
		return nil, err
	}
	args := []string{"hash-object", "--no-filters"}
	if keep {
		args = append(args, "-w")
	}
	for some := range slices.Chunk(there, 500) {
		ask := append(slices.Clone(args), "--")
		for _, f := range some {
			ask = append(ask, f.Path)
		}
		out, err := r.Git.Run(ctx, gitcmd.Opts{Write: keep}, ask...)
		if err != nil {
			return nil, err
		}
		lines := strings.Fields(string(out))
		if len(lines) != len(some) {
			return nil, fmt.Errorf("git hash-object: %d answers to %d questions", len(lines), len(some))
		}
		for i, f := range some {
			ids[f.Path] = lines[i]
		}
	}
	return ids, nil
}

// converting are the attributes that make git convert files.
var converting = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// converted returns which of the files git may convert when it adds or writes them.
func (r *Files) converted(ctx context.Context, files []object.TreeFile) (map[string]bool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "-z", "--get", "core.autocrlf")
	if err != nil {
		return nil, err
	}
	value, set := strings.CutSuffix(strings.ToLower(string(out)), "\x00")
	all := set && (value == "" || value == "input" || gitcmd.Truth(value)) // even without attributes, by core.autocrlf
	var ask bytes.Buffer
	for _, f := range files {
		ask.WriteString(f.Path + "\x00")
	}
	if out, err = r.Git.Run(ctx, gitcmd.Opts{Stdin: ask.Bytes()}, "check-attr", "-z", "--stdin", "--all"); err != nil {
		return nil, err
	}
	found, spared := map[string]bool{}, map[string]bool{}
	for answer := range slices.Chunk(gitcmd.SplitZ(out), 3) { // path, attribute, value
		if len(answer) < 3 {
			return nil, fmt.Errorf("git check-attr: the output ends early")
		}
		unset := answer[2] == "unset" || answer[2] == "unspecified"
		found[answer[0]] = found[answer[0]] || !unset && slices.Contains(converting, answer[1])
		spared[answer[0]] = spared[answer[0]] || answer[2] == "unset" && (answer[1] == "text" || answer[1] == "crlf")
	}
	for _, f := range files {
		found[f.Path] = found[f.Path] || all && !spared[f.Path]
	}
	return found, nil
}

// Write writes files with their exact bytes. Before it writes a file, it checks that its path still has the content
// from the beginning of the move (lay, see Lying).
func (r *Files) Write(ctx context.Context, files []File, lay map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(r.Git.Root) // so that no symbolic link can make it write elsewhere
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		err := r.untouched(lay, f.Path)
		if err == nil {
			err = r.writeRawFile(ctx, root, f)
		}
		if err != nil {
			return fmt.Errorf("writing the bytes of %q: %w", f.Path, err)
		}
	}
	return nil
}

// writeRawFile writes one file that git must not write. The snapshot has the content of an existing file at its path.
func (r *Files) writeRawFile(ctx context.Context, root *os.Root, f File) error {
	name, mode := filepath.FromSlash(f.Path), os.FileMode(0o666)
	if f.Mode == object.ModeExec {
		mode = 0o777
	}
	if _, err := r.Git.Lstat(f.Path); err == nil {
		if err := root.Remove(name); err != nil {
			return err
		}
	} else if !gitcmd.Absent(err) {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	durable.Hit(durable.MoveRaw)
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = r.Git.Stream(ctx, gitcmd.Opts{}, nil, io.Writer(out), "cat-file", "blob", f.Bytes)
	return errors.Join(err, out.Close())
}
