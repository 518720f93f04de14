package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// keyLike reports whether a file's name looks like the name of a key or of a file with passwords.
func keyLike(name string) bool {
	name = strings.ToLower(name)
	ext := path.Ext(name)
	switch name {
	case ".env.example", ".env.sample", ".env.template", ".env.dist":
		return false
	case ".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".dockercfg", ".git-credentials":
		return true
	}
	switch ext {
	case ".kdbx", ".p12", ".pfx", ".ppk", ".jks", ".keystore":
		return true
	}
	// A name with the extension of a program, such as id_map.go or credentials.py, is no name of a key.
	data := slices.Contains([]string{"", ".json", ".csv", ".ini", ".toml", ".yml", ".yaml", ".properties"}, ext)
	return strings.HasPrefix(name, ".env.") || ext == "" && strings.HasPrefix(name, "id_") || data &&
		strings.HasPrefix(name, "credentials")
}

// maxContent is the size up to which the content of a file is searched for keys, in bytes.
const maxContent = 1 << 20

var secretKinds = sync.OnceValue(func() *redact.Redactor { return redact.New(nil) })

// withheld lists tracked files that contain a new key: one that the last commit does not have.
type withheld struct {
	skips    []session.Skip
	unstaged []byte // update-index entries that restore the commit's versions in the index
	copied   []byte // those of them whose files were staged as they are in the work tree
}

// given returns a skip for a file if one of its keys is not in `known`; otherwise false.
func given(p string, keys []redact.Key, known map[string]bool) (session.Skip, bool) {
	i := slices.IndexFunc(keys, func(k redact.Key) bool {
		return slices.ContainsFunc(k.Text,
			func(t string) bool { return !known[t] })
	})
	if i < 0 {
		return session.Skip{}, false
	}
	return session.Skip{Path: p, Why: fmt.Sprintf("contains: %s, line %d", keys[i].Kind, keys[i].Line),
		Rule: keys[i].Kind}, true
}

// Suspect examines the name and the content of a file that is new to git. It returns the reason to hold the file out,
// and the kind of secret if there is one; "" if there is no reason.
func (r *Guard) Suspect(p string) (why session.HoldReason, rule string) {
	name := path.Base(p)
	if keyLike(name) {
		return session.HoldKey, ""
	}
	content := r.content(p)
	if keys := secretKinds().Keys(content); len(keys) > 0 {
		return session.HoldSecret, keys[0].Kind
	}
	// Other .pem files are certificates or public keys.
	if content != nil && path.Ext(name) == ".pem" && !bytes.Contains(content, []byte("-----BEGIN ")) {
		return session.HoldKey, ""
	}
	return "", ""
}

// content returns the content of a file of the work tree, or nil if it is too large, not a regular file, or unreadable.
func (r *Guard) content(p string) []byte {
	if info, err := r.Git.Lstat(p); err != nil || !info.Mode().IsRegular() || info.Size() > maxContent {
		return nil
	}
	content, err := durable.ReadFile(filepath.Join(r.Git.Root, filepath.FromSlash(p)), maxContent)
	if err != nil { // `git add` reports the problem
		return nil
	}
	return content
}

// withhold finds tracked files that contain a new key, so that the snapshot keeps the commit's version of these files.
// It does not change the work tree. A key is not new if the commit has it, in this file or in another changed one.
// Files with a filter are not searched. x is the private index. If such a file may be staged there with its key,
// withhold restores the commit's version; nothingStaged says that this is not needed.
func (r *Guard) withhold(ctx context.Context, index string, x *object.Index, nothingStaged bool, h *holding,
	head session.Commit) (out withheld, err error) {
	if head == "" {
		return out, nil
	}
	_, g := codec.SplitGuard(h.rules)
	if nothingStaged && r.noKeys(h, x, g) {
		return out, nil
	}
	if err := x.Store(); err != nil {
		return out, err
	}
	changes, suspects, err := r.suspects(ctx, index, head, g)
	if err != nil || len(suspects) == 0 {
		return out, err
	}
	known, err := r.keysBefore(ctx, changes)
	if err != nil {
		return out, err
	}
	for _, c := range changes {
		if skip, ok := given(c.Path, suspects[c.Path], known); ok {
			delete(suspects, c.Path) // a file with conflicts is listed twice
			out.take(c, skip, nothingStaged)
		}
	}
	return out, r.files.putEntries(ctx, index, out.unstaged)
}

// noKeys reports whether none of the tracked files that git would add contains a key.
func (r *Guard) noKeys(h *holding, x *object.Index, g session.Guard) bool {
	return !h.unsure && len(r.keysIn(slices.DeleteFunc(slices.Clone(h.paths), func(p string) bool {
		file, _ := object.Find(x.Entries, 0, p)
		return file == nil
	}), g)) == 0
}

// take withholds one changed file.
func (out *withheld) take(c object.TreeChange, skip session.Skip, nothingStaged bool) {
	out.skips = append(out.skips, skip)
	if nothingStaged {
		return
	}
	entry := fmt.Appendf(nil, "%s %s\t%s\x00", c.OldMode, c.OldID, c.Path)
	out.unstaged = append(out.unstaged, entry...)
	if strings.Trim(c.NewID, "0") != "" {
		out.copied = append(out.copied, entry...)
	}
}

// keysIn returns the keys in files of the work tree, by path. It omits files that the user has allowed.
func (r *Guard) keysIn(paths []string, g session.Guard) map[string][]redact.Key {
	found := map[string][]redact.Key{}
	for _, p := range paths {
		if keys := secretKinds().Keys(r.content(p)); len(keys) > 0 && !g.Allows(p) {
			found[p] = keys
		}
	}
	return found
}

// suspects lists the changes since a commit. It also returns the keys in changed files, by path, except in files that a
// filter converts.
func (r *Guard) suspects(ctx context.Context, index string, head session.Commit,
	g session.Guard) ([]object.TreeChange, map[string][]redact.Key, error) {
	diff, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "diff-index", "--ignore-submodules", "-z",
		"--raw", "--no-renames", "--no-abbrev", string(head))
	if err != nil {
		return nil, nil, err
	}
	changes, err := object.ParseRaw(diff)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for _, c := range changes {
		if top, _, _ := strings.Cut(c.Path, "/"); c.NewMode != object.ModeNone && top != object.UserDir {
			paths = append(paths, c.Path)
		}
	}
	found := r.keysIn(paths, g)
	if len(found) == 0 {
		return changes, nil, nil
	}
	filtered, err := r.Git.Run(ctx,
		gitcmd.Opts{Stdin: []byte(strings.Join(slices.Collect(maps.Keys(found)), "\x00") +
			"\x00")}, "check-attr", "-z", "--stdin", "filter")
	for answer := range slices.Chunk(gitcmd.SplitZ(filtered), 3) { // path, attribute, value
		if len(answer) == 3 && !slices.Contains([]string{"unspecified", "unset"}, answer[2]) {
			delete(found, answer[0])
		}
	}
	return changes, found, err
}

// Keys returns the changed files of tree `to` that contain a new key: one that none of the changed files contains in
// tree `from`.
func (r *Guard) Keys(ctx context.Context, from, to session.Tree) ([]session.Skip, error) {
	changes, err := r.Objects.DiffTrees(ctx, from, to)
	if err != nil {
		return nil, err
	}
	large, err := r.large(ctx, changes)
	if err != nil {
		return nil, err
	}
	suspects := map[string][]redact.Key{}
	for _, c := range changes {
		if !strings.HasPrefix(c.NewMode, "100") || large[c.NewID] {
			continue
		}
		_, content, err := r.Objects.Read(ctx, c.NewID)
		if err != nil {
			return nil, err
		}
		if keys := secretKinds().Keys(content); len(keys) > 0 {
			suspects[c.Path] = keys
		}
	}
	if len(suspects) == 0 {
		return nil, nil
	}
	known, err := r.keysBefore(ctx, changes)
	var found []session.Skip
	for _, p := range slices.Sorted(maps.Keys(suspects)) {
		if skip, ok := given(p, suspects[p], known); ok {
			found = append(found, skip)
		}
	}
	return found, err
}

// large returns, by id, which of the new or changed files are too large to be searched for keys.
func (r *Guard) large(ctx context.Context, changes []object.TreeChange) (map[string]bool, error) {
	var ids strings.Builder
	for _, c := range changes {
		if strings.HasPrefix(c.NewMode, "100") {
			ids.WriteString(c.NewID + "\n")
		}
	}
	if ids.Len() == 0 {
		return nil, nil
	}
	sizes, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(ids.String())}, "cat-file",
		"--batch-check=%(objectname) %(objectsize)")
	large := map[string]bool{}
	for line := range strings.Lines(string(sizes)) {
		id, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(size)
		large[id] = err == nil && n > maxContent
	}
	return large, err
}

// keysBefore returns the keys that the changed files contained before the changes.
func (r *Guard) keysBefore(ctx context.Context, changes []object.TreeChange) (map[string]bool, error) {
	known := map[string]bool{}
	for _, c := range changes {
		if !strings.HasPrefix(c.OldMode, "100") {
			continue
		}
		_, content, err := r.Objects.Read(ctx, c.OldID)
		if err != nil {
			return nil, err
		}
		for _, k := range secretKinds().Keys(content) {
			for _, t := range k.Text {
				known[t] = true
			}
		}
	}
	return known, nil
}
