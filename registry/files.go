package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

const (
	excludeName = "exclude"
	runsName    = "runs"
)

// maxExclude is the maximum size of an exclude file, in bytes. An exclude file is the session's own list of paths that
// checkpoints leave out, in the syntax of .gitignore.
const maxExclude = 16 << 20

// RunDir returns the path of one run's directory, and creates it if needed.
func (j *Journal) RunDir(runID string) (string, error) {
	return j.of.MakeRunDir(runID)
}

// RunDir returns the path of one run's directory, which may not exist.
func (s Session) RunDir(runID string) (string, error) {
	dir, err := s.dir()
	if err != nil {
		return "", err
	}
	if err := checkName("run", runID); err != nil {
		return "", err
	}
	return filepath.Join(dir, runsName, runID), nil
}

// Was returns the path where KeepWas stores a watched file (one of git's own files, or in .wfs) as it was before a run
// changed it. The copy may not exist. The path is "" if an id is invalid.
func (s Session) Was(runID, file string) string {
	dir, err := s.RunDir(runID)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "was", url.PathEscape(file))
}

// KeepWas writes the copy to which Was returns the path. Only the user can read it.
func (j *Journal) KeepWas(runID, file string, t session.Text) error {
	to := j.of.Was(runID, file)
	perm := fs.FileMode(0o600)
	if t.Exec {
		perm = 0o700
	}
	if err := j.of.clone.make(filepath.Dir(to)); err != nil {
		return err
	}
	return durable.WriteFile(to, t.Data, perm)
}

// ExcludeFile returns the path of the session's exclude file, or "" if there is none.
func (j *Journal) ExcludeFile() string { return j.of.ExcludeFile() }

// sumMark begins an exclude file; a checksum of the rest follows. Without a checksum, a truncated file would let
// excluded files into checkpoints, and its cut-off last rule might match anything.
const sumMark = "#sum "

func seal(text []byte) []byte { return append([]byte(sumMark+sumOf(text)), text...) }

// unseal returns an exclude file's text without the checksum. Files that older versions wrote have no checksum.
func unseal(data []byte) []byte {
	if text, ok := bytes.CutPrefix(data, []byte(sumMark)); ok && len(text) > len(sumOf(nil)) {
		return text[len(sumOf(nil)):]
	}
	return data
}

// checkSum returns an error unless an exclude file is complete. It is complete if its checksum is right, or if it has
// no checksum (from an older version) but the guard that ends such files.
func checkSum(data []byte) error {
	text, sealed := bytes.CutPrefix(data, []byte(sumMark))
	n := len(sumOf(nil))
	if sealed && len(text) >= n && sumOf(text[n:]) == string(text[:n]) {
		return nil
	}
	if rules, _ := codec.SplitGuard(data); !sealed && len(rules) < len(data) && data[len(data)-1] == '\n' {
		return nil
	}
	return fmt.Errorf("%w: wrong checksum", ErrCorrupt)
}

// Exclude returns the text of the session's exclude file, or nil if there is none.
func (j *Journal) Exclude() ([]byte, error) {
	text, err := durable.ReadFile(filepath.Join(j.dir, excludeName), maxExclude)
	return unseal(text), ifThere(err)
}

// SetExclude replaces the session's exclude file durably.
func (j *Journal) SetExclude(content []byte) error {
	return durable.WriteFile(filepath.Join(j.dir, excludeName), seal(content), 0o600)
}

// soundExclude moves a damaged exclude file aside. Later it is written again from the ledger.
func (j *Journal) soundExclude() error {
	path := filepath.Join(j.dir, excludeName)
	err := checkExclude(path)
	switch {
	case errors.Is(err, ErrCorrupt), errors.Is(err, durable.ErrNotRegular), errors.Is(err, durable.ErrTooLarge):
		_, err = durable.MoveAside(path)
	}
	return ifThere(err)
}

// ExcludeFile returns the path of a session's exclude file, or "" if there is none.
func (s Session) ExcludeFile() string {
	dir, err := s.dir()
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, excludeName)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// MakeRunDir returns the path of one run's directory, and creates it if needed. Unlike Journal.RunDir, it also serves
// runs that no journal mentions.
func (s Session) MakeRunDir(runID string) (string, error) {
	dir, err := s.RunDir(runID)
	if err != nil {
		return "", err
	}
	return dir, s.clone.make(dir)
}
