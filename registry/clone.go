// Package registry stores the state of sessions that only this clone has: journals, locks, caches, and the marks that
// record which commands are trusted.
//
// Only the ledger in Git is authoritative, and no file of this package. Losing all these files loses only the events
// since the last checkpoint. Damaged files are reported and set aside, and never repaired by guessing.
package registry

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// FormatVersion is written into every file of this package. wfs does not touch a file with a larger version.
const FormatVersion = 1

// Clone is the state of one clone, in its directory .git/wfs. All work trees of the clone share it:
//
//	sessions/<id>/events-<tip>.jsonl  journal: the events since the ledger commit <tip>, or "none" before the first
//	sessions/<id>/driver.lock         held by the process that drives the session
//	sessions/<id>/inbox/              requests of other processes to the driver
//	sessions/<id>/exclude             the session's own list of paths that checkpoints leave out
//	sessions/<id>/tip                 cache of documents of the newest ledger commit
//	sessions/<id>/runs/<run id>/      logs and scratch files of one run
//	worktrees/<id>/lock               held by the process that changes the work tree
//	worktrees/<id>/claim              the session that is moving the work tree
//
// Directories have mode 0700, files 0600.
type Clone struct {
	dir string
	tip atomic.Pointer[tipRead]
}

// Open returns the clone whose state is in `dir`. It reads and writes nothing; the first write creates the directories.
func Open(dir string) *Clone { return &Clone{dir: filepath.Clean(dir)} }

// Dir returns the directory that holds the clone's state.
func (c *Clone) Dir() string { return c.dir }

// noTip stands for the tip in a journal's file name while the session has no ledger.
const noTip = "none"

// Session is a clone's state of one session. If the session's id is invalid, every method fails.
type Session struct {
	clone *Clone
	id    session.ID
}

// Session returns the clone's state of a session. It reads and writes nothing.
func (c *Clone) Session(id session.ID) Session { return Session{c, id} }

func (s Session) dir() (string, error) {
	if slug, err := session.ParseID(string(s.id)); err != nil {
		return "", err
	} else if slug != s.id {
		return "", fmt.Errorf("%q is not the stored form of a session id", s.id)
	}
	return filepath.Join(s.clone.dir, "sessions", string(s.id)), nil
}

// Worktree is a clone's state of one work tree. The work tree's name may be any string that is unique in the clone.
type Worktree struct {
	clone *Clone
	name  string
}

// Worktree returns the clone's state of a work tree. It reads and writes nothing.
func (c *Clone) Worktree(name string) Worktree { return Worktree{c, name} }

func (w Worktree) dir() string { return filepath.Join(w.clone.dir, "worktrees", fileName(w.name)) }

// make creates a directory below the clone's state directory, with missing parents. It refuses a symbolic link at any
// level, and a state directory that other users may write to.
func (c *Clone) make(dir string) error {
	for i, level := range c.levels(dir) {
		if err := durable.MkdirAll(level); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		if _, err := c.private(level); err != nil {
			return err
		}
	}
	return nil
}

// private calls durable.CheckPrivateDir. It accepts a directory of the user, or of the owner of the Git directory,
// because Git has accepted that owner already.
func (c *Clone) private(dir string) (found bool, err error) {
	return durable.CheckPrivateDir(dir, filepath.Dir(c.dir))
}

// check checks the same levels as make does, but creates none. `found` is false if one is missing.
func (c *Clone) check(dir string) (found bool, err error) {
	look := c.private // only the top level: other users cannot get below it
	for _, level := range c.levels(dir) {
		if found, err := look(level); !found || err != nil {
			return false, err
		}
		look = durable.CheckDir
	}
	return true, nil
}

func (c *Clone) levels(dir string) []string {
	levels := []string{c.dir}
	rest, ok := strings.CutPrefix(dir, c.dir+string(os.PathSeparator))
	if !ok {
		return levels
	}
	at := c.dir
	for name := range strings.SplitSeq(rest, string(os.PathSeparator)) {
		at = filepath.Join(at, name)
		levels = append(levels, at)
	}
	return levels
}

// tipName returns the part of a journal's file name that stands for a ledger tip: the commit id, or noTip for "".
func tipName(tip session.Commit) (string, error) {
	if tip == "" {
		return noTip, nil
	}
	for _, r := range tip {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return "", fmt.Errorf("%q is not a commit id", tip)
		}
	}
	if len(tip) > hex.EncodedLen(64) {
		return "", fmt.Errorf("%q is not a commit id", tip[:20])
	}
	return string(tip), nil
}

// checkName returns an error for a name that is not safe as a file name.
func checkName(what, name string) error {
	ok := name != "" && len(name) <= 120 && name[0] != '.'
	for i := 0; ok && i < len(name); i++ {
		ok = plain(name[i])
	}
	if !ok {
		return fmt.Errorf("%q cannot be the name of a %s", name, what)
	}
	return nil
}

func plain(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.' ||
		b == '@'
}
