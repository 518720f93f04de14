package gitstate

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
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Git can be told to convert files on their way into the repository and out of it: line ends, filters, $Id$,
// encodings. What a snapshot holds of such a file need not lead back to the bytes that lay there. So before a
// move overwrites or deletes a file whose bytes a checkout would not write again, those bytes are kept as they
// are, in a tree of such files beside that of the snapshot; and a move back writes them.

// Raw keeps the bytes of those files that a plan's move overwrites or deletes and that no checkout of From would write
// again: a tree of them, durable, "" for none. Nothing refers to that tree yet.
func (r *Repo) Raw(ctx context.Context, m session.Move) (session.Tree, error) {
	target, err := r.withUserDir(ctx, m.To, m.From)
	if err != nil {
		return "", err
	}
	changes, err := r.diffTrees(ctx, m.From, target)
	if err != nil {
		return "", err
	}
	back, err := r.toWrite(ctx, m.RawTo, target)
	if err != nil {
		return "", err
	}
	return r.rawOf(ctx, endangered(changes, back))
}

// RawFiles is Raw for every file of a snapshot: for a work tree that is about to be removed.
func (r *Repo) RawFiles(ctx context.Context, s session.Snapshot) (session.Tree, error) {
	files, err := r.filesOf(ctx, s.Tree)
	if err != nil {
		return "", err
	}
	return r.rawOf(ctx, files)
}

// treeFile is a file in a tree.
type treeFile struct{ path, mode, id string }

func (f treeFile) regular() bool { return f.mode == modeFile || f.mode == modeExec }

// filesOf lists what a tree and those below it hold.
func (r *Repo) filesOf(ctx context.Context, t session.Tree) ([]treeFile, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "ls-tree", "-r", "-z", "--full-tree", string(t))
	if err != nil {
		return nil, err
	}
	var files []treeFile
	for _, line := range gitcmd.SplitZ(out) { // <mode> <kind> <id> TAB <path>
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree: unexpected answer %q", line)
		}
		files = append(files, treeFile{path, f[0], f[2]})
	}
	return files, nil
}

// rawFile is a file that is to have other bytes than those that a checkout of its tree writes.
type rawFile struct {
	treeFile        // as the tree has it
	bytes    string // id of the blob with its bytes
}

// toWrite lists the files of a tree of raw bytes that do not lie in the work tree as they are to. A path that the
// target does not have as a file is left out.
func (r *Repo) toWrite(ctx context.Context, raw, target session.Tree) ([]rawFile, error) {
	if raw == "" {
		return nil, nil
	}
	all, err := r.filesOf(ctx, target)
	if err != nil {
		return nil, err
	}
	in := map[string]treeFile{}
	for _, f := range all {
		in[f.path] = f
	}
	want, err := r.filesOf(ctx, raw)
	if err != nil {
		return nil, err
	}
	want = slices.DeleteFunc(want, func(f treeFile) bool { return !f.regular() || !in[f.path].regular() })
	now, err := r.rawIDs(ctx, want, false)
	if err != nil {
		return nil, err
	}
	var files []rawFile
	for _, f := range want {
		if now[f.path] != f.id {
			files = append(files, rawFile{in[f.path], f.id})
		}
	}
	return files, nil
}

// endangered lists the files, as the snapshot has them, whose bytes a move overwrites or deletes.
func endangered(changes []treeChange, back []rawFile) []treeFile {
	var files []treeFile
	changed := map[string]bool{}
	for _, c := range changes {
		changed[c.Path] = true
		files = append(files, treeFile{c.Path, c.oldMode, c.oldID})
	}
	for _, b := range back {
		if !changed[b.path] {
			files = append(files, b.treeFile)
		}
	}
	return files
}

// rawOf keeps the bytes of those files that a checkout would not write again.
func (r *Repo) rawOf(ctx context.Context, files []treeFile) (session.Tree, error) {
	files = slices.DeleteFunc(files, func(f treeFile) bool { return !f.regular() })
	converted, err := r.converted(ctx, files)
	if err != nil {
		return "", err
	}
	var there []treeFile
	for _, f := range files {
		info, err := r.lstat(f.path)
		if err != nil && !gitcmd.Absent(err) {
			return "", err
		}
		if err == nil && info.Mode().IsRegular() && converted[f.path] {
			there = append(there, f)
		}
	}
	if len(there) == 0 {
		return "", nil
	}
	dir := filepath.Join(r.Git.PrivateDir(), "raw")
	if err := os.RemoveAll(dir); err != nil { // of a command that was killed
		return "", err
	}
	if err := durable.MkdirAll(dir); err != nil {
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
		if raw[i].id = ids[f.path]; raw[i].id == "" {
			return "", fmt.Errorf("%q: %w", f.path, session.ErrTouched)
		}
	}
	index := filepath.Join(dir, "index")
	if err := r.indexOf(ctx, index, raw); err != nil {
		return "", err
	}
	return r.writeTree(ctx, index)
}

// indexOf makes an index of some files.
func (r *Repo) indexOf(ctx context.Context, index string, files []treeFile) error {
	if err := removeLeftovers(index); err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "%s %s\t%s\x00", f.mode, f.id, f.path)
	}
	return r.enter(ctx, index, list.String())
}

// notWrittenSo returns those files that git would write with other bytes than lie there. It lets git write them, into a
// directory of ours: only git knows what its filters do. What git fails to write counts as different.
func (r *Repo) notWrittenSo(ctx context.Context, dir string, files []treeFile) ([]treeFile, error) {
	if len(files) == 0 {
		return nil, nil
	}
	index, out := filepath.Join(dir, "written"), filepath.Join(dir, "files")
	if err := r.indexOf(ctx, index, files); err != nil {
		return nil, err
	}
	var failed *gitcmd.GitError
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "-c", "core.splitIndex=false", "checkout-index", "--all",
		"--quiet",
		"--prefix="+filepath.ToSlash(out)+"/"); err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	var differ []treeFile
	for _, f := range files {
		path := filepath.FromSlash(f.path)
		same, err := sameFile(filepath.Join(r.Git.Root, path), filepath.Join(out, path))
		if err != nil {
			return nil, err
		}
		if !same {
			differ = append(differ, f)
		}
	}
	return differ, nil
}

// rawIDs returns the ids of blobs with the bytes that lie at the files' places, by path; none for what is no regular
// file. With keep they are stored, durable.
func (r *Repo) rawIDs(ctx context.Context, files []treeFile, keep bool) (map[string]string, error) {
	ids := map[string]string{}
	var there []string
	for _, f := range files {
		info, err := r.lstat(f.path)
		if err != nil && !gitcmd.Absent(err) {
			return nil, err
		}
		if err == nil && info.Mode().IsRegular() {
			there = append(there, f.path)
		}
	}
	args := []string{"hash-object", "--no-filters"}
	if keep {
		args = append(args, "-w")
	}
	for some := range slices.Chunk(there, 500) {
		out, err := r.Git.Run(ctx, gitcmd.Opts{Write: keep}, append(append(slices.Clone(args), "--"), some...)...)
		if err != nil {
			return nil, err
		}
		lines := strings.Fields(string(out))
		if len(lines) != len(some) {
			return nil, fmt.Errorf("git hash-object: %d answers to %d questions", len(lines), len(some))
		}
		for i, p := range some {
			ids[p] = lines[i]
		}
	}
	return ids, nil
}

// converting are the attributes by which git converts files.
var converting = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// converted says which files git may convert when it adds or writes them.
func (r *Repo) converted(ctx context.Context, files []treeFile) (map[string]bool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "-z", "--get", "core.autocrlf")
	if err != nil {
		return nil, err
	}
	value, set := strings.CutSuffix(strings.ToLower(string(out)), "\x00")
	all := set && (value == "" || value == "input" || gitcmd.Truth(value)) // files without attributes as well
	var ask bytes.Buffer
	for _, f := range files {
		ask.WriteString(f.path + "\x00")
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
		found[f.path] = found[f.path] || all && !spared[f.path]
	}
	return found, nil
}

// writeRaw writes files with bytes of their own, in the place of what lay there when the move began.
func (r *Repo) writeRaw(ctx context.Context, files []rawFile, lay map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(r.Git.Root) // links must not lead elsewhere
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		err := r.untouched(lay, f.path)
		if err == nil {
			err = r.writeRawFile(ctx, root, f)
		}
		if err != nil {
			return fmt.Errorf("writing the bytes of %q: %w", f.path, err)
		}
	}
	return nil
}

// writeRawFile makes a file that git was not to write. What lies there is in the snapshot, or it is not there at all.
func (r *Repo) writeRawFile(ctx context.Context, root *os.Root, f rawFile) error {
	name, mode := filepath.FromSlash(f.path), os.FileMode(0o666)
	if f.mode == modeExec {
		mode = 0o777
	}
	if _, err := r.lstat(f.path); err == nil {
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
	err = r.Git.Stream(ctx, gitcmd.Opts{}, nil, io.Writer(out), "cat-file", "blob", f.bytes)
	return errors.Join(err, out.Close())
}
