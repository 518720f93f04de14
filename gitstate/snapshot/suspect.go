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

// keyLike reports whether a file's name looks like that of a key or of a file with passwords.
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
	// Not the names of programs: id_map.go, credentials.py.
	data := slices.Contains([]string{"", ".json", ".csv", ".ini", ".toml", ".yml", ".yaml", ".properties"}, ext)
	return strings.HasPrefix(name, ".env.") || ext == "" && strings.HasPrefix(name, "id_") || data &&
		strings.HasPrefix(name, "credentials")
}

// maxContent is how large a file may be for its content to be looked at, in bytes.
const maxContent = 1 << 20

var secretKinds = sync.OnceValue(func() *redact.Redactor { return redact.New(nil) })

// withheld are tracked files that were given a key since the last commit.
type withheld struct {
	skips    []session.Skip
	unstaged []byte // entries that were taken out of the index, with those of the commit in their place: for update-index
	copied   []byte // those of them whose content the work tree has as well
}

// given names a file with a key that is not known, if there is one.
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

// Suspect says why a file that is new to git is to be held out for what it seems to be: by its name, or by what
// is in it. "" is no reason.
func (r *Guard) Suspect(p string) (why session.HoldReason, rule string) {
	name := path.Base(p)
	if keyLike(name) {
		return session.HoldKey, ""
	}
	content := r.content(p)
	if keys := secretKinds().Keys(content); len(keys) > 0 {
		return session.HoldSecret, keys[0].Kind
	}
	// else a certificate, or a public key
	if content != nil && path.Ext(name) == ".pem" && !bytes.Contains(content, []byte("-----BEGIN ")) {
		return session.HoldKey, ""
	}
	return "", ""
}

// content is what is in a file of the work tree, nil for one that is not to be looked at.
func (r *Guard) content(p string) []byte {
	if info, err := r.Git.Lstat(p); err != nil || !info.Mode().IsRegular() || info.Size() > maxContent {
		return nil
	}
	content, err := durable.ReadFile(filepath.Join(r.Git.Root, filepath.FromSlash(p)), maxContent)
	if err != nil { // git says what it makes of it
		return nil
	}
	return content
}

// withhold finds them. A tree has them as the commit does, and they stay as they are. A key that the commit
// has, in this file or in another one that changed, is not new; what a filter makes of a file is not looked at.
// x is the private index; what was added to it with its key is taken out again, unless nothing was.
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
			delete(suspects, c.Path) // one with conflicts is listed twice
			out.take(c, skip, nothingStaged)
		}
	}
	return out, r.files.putEntries(ctx, index, out.unstaged)
}

// noKeys reports whether no tracked file that git has to look at holds a key.
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

// keysIn are the keys that files of the work tree hold which a person has not allowed.
func (r *Guard) keysIn(paths []string, g session.Guard) map[string][]redact.Key {
	found := map[string][]redact.Key{}
	for _, p := range paths {
		if keys := secretKinds().Keys(r.content(p)); len(keys) > 0 && !g.Allows(p) {
			found[p] = keys
		}
	}
	return found
}

// suspects lists what differs from a commit, and the files among it that hold keys and that no filter changes.
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

// Keys names the files of a tree with a key that no changed file has in the other one.
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

// large are those new files of a comparison whose content is too large to be looked at, by id.
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

// keysBefore are the keys that changed files had.
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
