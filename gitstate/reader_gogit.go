package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// errNoObject says that an object is not in the repository.
var errNoObject = errors.New("no such object")

// maxPackIndex is the size of all pack indexes, in bytes, up to which go-git reads objects: it loads them whole before
// it finds the first packed object. Git maps them, and starts faster than 64 MB are read.
const maxPackIndex = 64 << 20

// reader is what in-process reading needs to know about a repository. The zero value is ready.
type reader struct {
	once   sync.Once
	direct bool // refs are files, objects are where go-git looks for them, ids are SHA-1

	mu    sync.Mutex // go-git's storage is not safe for concurrent use
	store *filesystem.ObjectStorage
}

// readsDirectly reports whether the repository can be read without git: nothing in it is of a kind that go-git, or our
// own reading of refs, does not know.
func (r *Repo) readsDirectly() bool {
	r.reader.once.Do(func() {
		config, err := os.ReadFile(filepath.Join(r.commonDir, "config"))
		_, alternates := os.Stat(filepath.Join(r.commonDir, "objects", "info", "alternates"))
		r.reader.direct = err == nil && r.format == "sha1" && absent(alternates) && knownExtensions(string(config))
	})
	return r.reader.direct
}

// knownExtensions reports whether a repository's config file asks for nothing that changes how refs and objects are
// stored. Git reads extensions from this file alone, never from included ones.
func knownExtensions(config string) bool {
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			section, line = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(rest)
		}
		if section != "extensions" || line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "noop", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees":
		case "objectformat":
			if value != "sha1" {
				return false
			}
		case "refstorage":
			if value != "files" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// object returns an object's kind ("commit", "tree", "blob", "tag") and content, errNoObject when it is not there.
func (r *Repo) object(ctx context.Context, id string) (kind string, data []byte, err error) {
	if len(id) != r.idLength() || !isHex(id) {
		return "", nil, fmt.Errorf("%q is no object id", id)
	}
	if r.readsDirectly() {
		// An open storage does not see what gc and repack did since, so a failure is tried once more on a new one.
		for range 2 {
			if kind, data, err = r.reader.object(r.commonDir, id); err == nil && r.newObject(kind, data).id == id {
				return kind, data, nil
			}
		}
	}
	kind, data, err = r.catFile(ctx, id)
	// Git believes the name of an object's file, as go-git does.
	if err == nil && r.newObject(kind, data).id != id {
		return "", nil, fmt.Errorf("object %s is damaged", id)
	}
	return kind, data, err
}

// object reads through go-git. After an error the next call opens the storage anew.
func (rd *reader) object(commonDir, id string) (kind string, data []byte, err error) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	defer func() {
		if err != nil {
			rd.store = nil
		}
	}()
	if rd.store == nil {
		if err := smallPacks(commonDir); err != nil {
			return "", nil, err
		}
		rd.store = filesystem.NewObjectStorage(dotgit.New(osfs.New(commonDir)), cache.NewObjectLRUDefault())
	}
	o, err := rd.store.EncodedObject(plumbing.AnyObject, plumbing.NewHash(id))
	if err != nil {
		return "", nil, err
	}
	content, err := o.Reader()
	if err != nil {
		return "", nil, err
	}
	data, err = io.ReadAll(content)
	if err = join(err, content.Close()); err != nil {
		return "", nil, err
	}
	return o.Type().String(), data, nil
}

// smallPacks returns an error when the pack indexes are too large to be read whole.
func smallPacks(commonDir string) error {
	names, err := filepath.Glob(filepath.Join(commonDir, "objects", "pack", "*.idx"))
	var size int64
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	if size > maxPackIndex {
		return errors.New("the pack indexes are large")
	}
	return err
}

// catFile reads an object through git.
func (r *Repo) catFile(ctx context.Context, id string) (kind string, data []byte, err error) {
	out, err := r.git(ctx, gitOpts{stdin: []byte(id + "\n")}, "cat-file", "--batch")
	if err != nil {
		return "", nil, err
	}
	head, rest, _ := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(head)) // <id> <kind> <size>, or <id> missing
	if len(fields) == 2 && fields[1] == "missing" {
		return "", nil, fmt.Errorf("%s: %w", id, errNoObject)
	}
	if len(fields) != 3 {
		return "", nil, fmt.Errorf("git gave an unexpected answer about object %s: %q", id, cut(string(head), 100))
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size+1 != len(rest) {
		return "", nil, fmt.Errorf("git gave %d bytes for object %s of size %s", len(rest), id, fields[2])
	}
	return fields[1], rest[:size], nil
}

// join is errors.Join without its newlines in the common case of one error.
func join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}
