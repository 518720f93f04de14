package gitstate

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
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/session"
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

// suspect says why a file that is new to git is to be held out for what it seems to be: by its name, or by what
// is in it. "" is no reason.
func (r *Repo) suspect(p string) (why session.HoldReason, rule string) {
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
func (r *Repo) content(p string) []byte {
	if info, err := r.lstat(p); err != nil || !info.Mode().IsRegular() || info.Size() > maxContent {
		return nil
	}
	content, err := durable.ReadFile(filepath.Join(r.Git.Root, filepath.FromSlash(p)), maxContent)
	if err != nil { // git says what it makes of it
		return nil
	}
	return content
}

// withheld are tracked files that were given a key since the last commit.
type withheld struct {
	skips    []session.Skip
	unstaged []byte // entries that were taken out of the index, with those of the commit in their place: for update-index
	copied   []byte // those of them whose content the work tree has as well
}

// withhold finds them. A tree has them as the commit does, and they stay as they are. A key that the commit
// has, in this file or in another one that changed, is not new; what a filter makes of a file is not looked at.
// x is the private index; what was added to it with its key is taken out again, unless nothing was.
func (r *Repo) withhold(ctx context.Context, index string, x *index, nothingStaged bool, h *holding,
	head session.Commit) (out withheld, err error) {
	if head == "" {
		return out, nil
	}
	_, g := session.SplitGuard(h.rules)
	suspects := map[string][]redact.Key{}
	look := func(p string) {
		if keys := secretKinds().Keys(r.content(p)); len(keys) > 0 && !g.Allows(p) {
			suspects[p] = keys
		}
	}
	if nothingStaged && !h.unsure {
		for _, p := range h.paths {
			if file, _ := find(x.entries, 0, p); file != nil {
				look(p)
			}
		}
		if len(suspects) == 0 {
			return out, nil
		}
	}
	if err := x.store(); err != nil {
		return out, err
	}
	diff, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "diff-index", "--ignore-submodules", "-z", "--raw",
		"--no-renames", "--no-abbrev", string(head))
	if err != nil {
		return out, err
	}
	changes, err := parseRaw(diff)
	if err != nil {
		return out, err
	}
	for _, c := range changes {
		if c.newMode != modeNone && c.Path != userDir && !strings.HasPrefix(c.Path, userDir+"/") {
			look(c.Path)
		}
	}
	if len(suspects) == 0 {
		return out, nil
	}
	known, err := r.keysBefore(ctx, changes)
	if err != nil {
		return out, err
	}
	filtered, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(slices.Collect(maps.Keys(suspects)), "\x00") +
		"\x00")}, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return out, err
	}
	for answer := range slices.Chunk(gitcmd.SplitZ(filtered), 3) { // path, attribute, value
		if len(answer) == 3 && answer[2] != "unspecified" && answer[2] != "unset" {
			delete(suspects, answer[0])
		}
	}
	for _, c := range changes {
		skip, ok := given(c.Path, suspects[c.Path], known)
		if !ok {
			continue
		}
		out.skips = append(out.skips, skip)
		delete(suspects, c.Path) // one with conflicts is listed twice
		if !nothingStaged {
			entry := fmt.Appendf(nil, "%s %s\t%s\x00", c.oldMode, c.oldID, c.Path)
			out.unstaged = append(out.unstaged, entry...)
			if strings.Trim(c.newID, "0") != "" {
				out.copied = append(out.copied, entry...)
			}
		}
	}
	return out, r.putEntries(ctx, index, out.unstaged)
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

// Keys names the files of a tree with a key that no changed file has in the other one.
func (r *Repo) Keys(ctx context.Context, from, to session.Tree) ([]session.Skip, error) {
	changes, err := r.diffTrees(ctx, from, to)
	if err != nil {
		return nil, err
	}
	large, err := r.large(ctx, changes)
	if err != nil {
		return nil, err
	}
	suspects := map[string][]redact.Key{}
	for _, c := range changes {
		if !strings.HasPrefix(c.newMode, "100") || large[c.newID] {
			continue
		}
		_, content, err := r.object(ctx, c.newID)
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
func (r *Repo) large(ctx context.Context, changes []treeChange) (map[string]bool, error) {
	var ids strings.Builder
	for _, c := range changes {
		if strings.HasPrefix(c.newMode, "100") {
			ids.WriteString(c.newID + "\n")
		}
	}
	if ids.Len() == 0 {
		return nil, nil
	}
	sizes, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(ids.String())}, "cat-file", "--batch-check=%(objectname) %(objectsize)")
	large := map[string]bool{}
	for line := range strings.Lines(string(sizes)) {
		id, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(size)
		large[id] = err == nil && n > maxContent
	}
	return large, err
}

// keysBefore are the keys that changed files had.
func (r *Repo) keysBefore(ctx context.Context, changes []treeChange) (map[string]bool, error) {
	known := map[string]bool{}
	for _, c := range changes {
		if !strings.HasPrefix(c.oldMode, "100") {
			continue
		}
		_, content, err := r.object(ctx, c.oldID)
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

// putEntries puts entries into a private index, as update-index reads them.
func (r *Repo) putEntries(ctx context.Context, index string, entries []byte) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Env: gitcmd.WithIndex(index), Stdin: entries}, "-c", "core.splitIndex=false",
		"update-index", "-z", "--index-info")
	return err
}
