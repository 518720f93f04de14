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

// Store is a directory of the user with hold-out tests, each below the first half of its digest. It is outside the
// repository, because the agent can list all objects there. Nothing in the repository says where the tests came from.
type Store string

// Files of one copy.
const (
	packFile   = "files.tar.gz"
	sourceFile = "from" // JSON: Source
	ownersFile = "for"  // one line per owner
	runsDir    = "runs" // the output of gates, by run

	maxRuns     = 20
	maxPackFile = MaxBytes + 1<<20
)

// Source is the origin of hold-out tests.
type Source struct {
	Directory string `json:"directory,omitempty"`
	Ref       string `json:"ref,omitempty"` // as the user typed it
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

// Keep stores a pack for an owner. An existing copy has the same content, because the digest names it.
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

// Claim adds an owner to a copy, if the copy exists. Other processes may do so at the same time, and an earlier line
// may be incomplete.
func (s Store) Claim(digest, owner string) error {
	const tries = 10
	if _, err := os.Lstat(s.dir(digest)); err != nil {
		return nil //nolint:nilerr // the user of the copy reports that it is missing
	}
	for try := 1; ; try++ {
		f, err := durable.OpenAppend(filepath.Join(s.dir(digest), ownersFile))
		if err != nil {
			return err
		}
		err = errors.Join(f.Append([]byte("\n"+owner+"\n")), f.Close())
		if !errors.Is(err, durable.ErrReplaced) || try == tries { // another process replaced the file by appending its own line
			return err
		}
	}
}

// Load reads the copy with the given digest.
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

// Source returns the origin of the copy with the given digest, if known.
func (s Store) Source(digest string) (from Source, known bool) {
	data, err := durable.ReadFile(filepath.Join(s.dir(digest), sourceFile), 1<<16)
	return from, err == nil && json.Unmarshal(data, &from) == nil && from.String() != ""
}

// Run returns the directory with the output of gates in a run, or "" if there is none.
func (s Store) Run(digest, run string) string {
	dir := filepath.Join(s.dir(digest), runsDir, filepath.Base(run))
	if info, err := os.Stat(dir); run == "" || err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// NewRun creates an empty directory for the output of gates, and removes the oldest ones beyond maxRuns.
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

// Unused lists the directories of copies that no owner needs and that got no new owner since a time.
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
