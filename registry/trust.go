package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
)

// TrustStore records which commands the user allows in which repository, with a file (a mark) for each permission. The
// marks are in the user's state directory, where no repository can write. `Dir` is an absolute path; it must be a real
// directory that no other user can write to.
type TrustStore struct{ Dir string }

// trustMark is the content of a mark. The name of the mark's file says which permission it is. If the content names
// another one, the mark allows nothing.
type trustMark struct {
	V      int    `json:"v"`
	Repo   string `json:"repo"`    // path of the repository, only for messages: JSON cannot hold every path
	RepoID string `json:"repo_id"` // SHA-256 of that path
	Digest string `json:"digest"`
	What   string `json:"what"`
}

const maxMark = 1 << 20

// Trusted reports whether the user allows the commands with this digest in the repository at this path.
func (t TrustStore) Trusted(repo, digest string) (bool, error) {
	repo, err := realPath(repo)
	if err != nil {
		return false, err
	}
	if found, err := durable.CheckPrivateDir(t.Dir); !found || err != nil {
		return false, err
	}
	mark, err := t.read(markName(repo, digest))
	return err == nil && mark.V == FormatVersion && mark.RepoID == digestOf(repo) && mark.Digest == digest, err
}

// Trust records that the user allows the commands with this digest in the repository at this path. `what` describes the
// commands, for messages.
func (t TrustStore) Trust(repo, digest, what string) error {
	repo, err := realPath(repo)
	if err != nil {
		return err
	}
	if err := durable.MkdirAll(t.Dir); err != nil {
		return err
	}
	if _, err := durable.CheckPrivateDir(t.Dir); err != nil {
		return err
	}
	data, err := json.MarshalIndent(trustMark{V: FormatVersion, Repo: repo, RepoID: digestOf(repo), Digest: digest,
		What: what}, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(t.Dir, markName(repo, digest)), append(data, '\n'), 0o600)
}

// Follow copies the marks of a repository that was moved, for its new path. The marks for the old path stay. They are
// harmless: if another repository appears there, they allow it only the same commands.
func (t TrustStore) Follow(from, to string) error {
	marks, err := t.marks(func(name string, m trustMark) bool {
		return m.V == FormatVersion && m.RepoID == digestOf(from) && name == markName(from, m.Digest) // others allow nothing
	})
	for _, m := range marks {
		if err := t.Trust(to, m.Digest, m.What); err != nil {
			return err
		}
	}
	return err
}

// Revoke removes all permissions of the repository at this path. The repository need not exist any more.
func (t TrustStore) Revoke(repo string) error {
	marks, err := t.marksOf(repo)
	if err != nil || len(marks) == 0 {
		return err
	}
	for name := range marks {
		if err := removeFile(filepath.Join(t.Dir, name)); err != nil {
			return err
		}
	}
	return durable.SyncDir(t.Dir)
}

// Any reports whether the user allows any commands in the repository at this path.
func (t TrustStore) Any(repo string) (bool, error) {
	marks, err := t.marksOf(repo)
	return len(marks) > 0, err
}

func (t TrustStore) marksOf(repo string) (map[string]trustMark, error) {
	if real, err := realPath(repo); err == nil {
		repo = real
	} else if ifThere(err) != nil {
		return nil, err
	}
	id := digestOf(filepath.Clean(repo))
	return t.marks(func(_ string, m trustMark) bool { return m.RepoID == id })
}

// marks returns the marks for which `which` is true, by file name.
func (t TrustStore) marks(which func(name string, m trustMark) bool) (map[string]trustMark, error) {
	if found, err := durable.CheckPrivateDir(t.Dir); !found || err != nil {
		return nil, err
	}
	files, err := os.ReadDir(t.Dir)
	marks := map[string]trustMark{}
	for _, f := range files {
		m, bad := t.read(f.Name())
		if bad != nil {
			return nil, bad
		}
		if which(f.Name(), m) {
			marks[f.Name()] = m
		}
	}
	return marks, err
}

// read returns the mark in a file. If the file is missing or invalid, it returns the zero value, which allows nothing.
func (t TrustStore) read(name string) (trustMark, error) {
	data, err := durable.ReadFile(filepath.Join(t.Dir, name), maxMark)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, durable.ErrNotRegular), errors.Is(err, durable.ErrTooLarge):
		return trustMark{}, nil
	case err != nil:
		return trustMark{}, err
	}
	var mark trustMark
	if json.Unmarshal(data, &mark) != nil {
		return trustMark{}, nil
	}
	return mark, nil
}

// markName returns the file name of the mark for a repository's path and a digest of commands.
func markName(repo, digest string) string { return digestOf(repo + "\x00" + digest) }

// digestOf returns the SHA-256 of a string in hexadecimal digits.
func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func realPath(repo string) (string, error) {
	if !filepath.IsAbs(repo) {
		return "", fmt.Errorf("%q is not an absolute path", repo)
	}
	return filepath.EvalSymlinks(repo)
}

// Repositories returns the paths of all repositories in which the user has allowed commands, sorted.
func (t TrustStore) Repositories() ([]string, error) {
	marks, err := t.marks(func(string, trustMark) bool { return true })
	var paths []string
	for _, m := range marks {
		paths = append(paths, m.Repo)
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}
