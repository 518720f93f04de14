package holdout

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Store is a directory of the user that contains copies of hold-out tests. Each copy is in a directory that is named
// after the first half of its digest. The store is outside the repository, because the agent can list all objects of
// the repository. Nothing in the repository says where the tests are from.
type Store string

// The files of one copy.
const (
	packFile   = "files.tar.gz"
	sourceFile = "from" // a Source as JSON
	ownersFile = "for"  // one owner on each line: a session that needs the copy, and its repository
	runsDir    = "runs" // output of gates, one directory for each run

	maxRuns     = 20
	maxPackFile = MaxBytes + 1<<20
)

// Source says where the user took hold-out tests from.
type Source struct {
	Directory string `json:"directory,omitempty"`
	Ref       string `json:"ref,omitempty"` // a revision, as the user typed it
	Commit    string `json:"commit,omitempty"`
}

func (s Source) String() string {
	if s.Ref != "" {
		return s.Ref
	}
	return s.Directory
}

func (s Store) dir(digest string) string {
	return filepath.Join(string(s), digest[:min(len(digest), 32)])
}

// Keep stores a copy of a pack, and records that an owner needs it. It may overwrite an existing copy: a copy with the
// same digest has the same content.
func (s Store) Keep(p Pack, from Source, owner string) error {
	dir := s.dir(p.Digest())
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	data, err := p.Encode()
	if err != nil {
		return err
	}
	source, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if err := s.Claim(p.Digest(), owner); err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(dir, packFile), data, 0o600); err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, sourceFile), source, 0o600)
}

// Claim records that another owner needs a copy, if the copy exists. Other processes may do the same at the same time.
// The line before may lack its newline, so Claim writes one first.
func (s Store) Claim(digest, owner string) error {
	const tries = 10
	if _, err := os.Lstat(s.dir(digest)); err != nil {
		return nil //nolint:nilerr // a missing copy is reported when the owner loads it
	}
	for try := 1; ; try++ {
		f, err := durable.OpenAppend(filepath.Join(s.dir(digest), ownersFile))
		if err != nil {
			return err
		}
		err = errors.Join(f.Append([]byte("\n"+owner+"\n")), f.Close())
		if !errors.Is(err, durable.ErrReplaced) || try == tries { // another process appended to the file
			return err
		}
	}
}

// Load returns the pack with the given digest. It returns an error if the copy is missing or damaged.
func (s Store) Load(digest string) (Pack, error) {
	data, err := durable.ReadFile(filepath.Join(s.dir(digest), packFile), maxPackFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("their copy is not on this machine (wfs edit --holdout DIR takes another)")
	}
	if err != nil {
		return nil, err
	}
	p, err := Decode(data)
	if err != nil || p.Digest() != digest {
		return nil, errors.New("their copy is damaged")
	}
	return p, nil
}

// Source returns where the copy with the given digest is from; known is false if that is not recorded.
func (s Store) Source(digest string) (from Source, known bool) {
	data, err := durable.ReadFile(filepath.Join(s.dir(digest), sourceFile), 1<<16)
	return from, err == nil && json.Unmarshal(data, &from) == nil && from.String() != ""
}

// Run returns the path of the directory with the output of a run's gates, or "" if there is none.
func (s Store) Run(digest, run string) string {
	dir := filepath.Join(s.dir(digest), runsDir, filepath.Base(run))
	if info, err := os.Stat(dir); run == "" || err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// NewRun creates an empty directory for the output of a run's gates, and returns its path. If there are more than
// maxRuns such directories, it removes the oldest.
func (s Store) NewRun(digest, run string) (string, error) {
	runs := filepath.Join(s.dir(digest), runsDir)
	dir := filepath.Join(runs, run)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(runs)
	if err != nil || len(entries) <= maxRuns {
		return dir, err
	}
	written := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortStableFunc(entries, func(x, y fs.DirEntry) int { return written(x).Compare(written(y)) })
	for _, e := range entries[:len(entries)-maxRuns] {
		if err := os.RemoveAll(filepath.Join(runs, e.Name())); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// Unused lists the directories of the copies that can be removed. `needs` is false for all owners of such a copy, and
// its last owner was recorded before `since`.
func (s Store) Unused(since time.Time, needs func(owner string) bool) (paths []string) {
	entries, _ := os.ReadDir(string(s))
	for _, e := range entries {
		path := filepath.Join(string(s), e.Name())
		file := filepath.Join(path, ownersFile)
		info, err := os.Stat(file)
		if err != nil || !info.ModTime().Before(since) {
			continue
		}
		text, _ := os.ReadFile(file)
		if !slices.ContainsFunc(strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), needs) {
			paths = append(paths, path)
		}
	}
	return paths
}
