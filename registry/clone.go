// Package registry keeps this clone's live edge: the journals of its sessions, their locks, caches, and the
// marks of trust.
//
// Nothing here is the truth about a session; that is the ledger in Git. What is lost here is the work since the last
// checkpoint's events, and what is damaged here is said, set aside, and never repaired by guessing.
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

// FormatVersion is written into every file of this package. Files with a larger one are left alone.
const FormatVersion = 1

// Clone is the state of one clone, shared by its work trees:
//
//	sessions/<id>/events-<tip>.jsonl  journal of what happened since the ledger commit tip, or since "none"
//	sessions/<id>/driver.lock         held by whoever drives the session
//	sessions/<id>/inbox/              what other processes ask of whoever drives
//	sessions/<id>/exclude             the session's extra exclude rules
//	sessions/<id>/tip                 cache of documents of the newest ledger commit
//	sessions/<id>/runs/<run id>/      logs and scratch files of one run
//	worktrees/<id>/lock               held by whoever changes the work tree
//	worktrees/<id>/claim              which session moves the work tree at the moment
//
// Directories have mode 0700, files 0600.
type Clone struct {
	dir string
	tip atomic.Pointer[tipRead]
}

// Open returns the clone whose state is below dir. It touches nothing; directories are made when something is written.
func Open(dir string) *Clone { return &Clone{dir: filepath.Clean(dir)} }

// Dir is the directory that everything is in.
func (c *Clone) Dir() string { return c.dir }

// noTip stands in file names for the tip of a ledger that does not exist yet.
const noTip = "none"

// Session is what a clone keeps of one session. What the clone cannot name, because its id is none, every
// method refuses.
type Session struct {
	clone *Clone
	id    session.ID
}

// Session is what the clone keeps of a session. It touches nothing.
func (c *Clone) Session(id session.ID) Session { return Session{c, id} }

func (s Session) dir() (string, error) {
	if slug, err := session.ParseID(string(s.id)); err != nil {
		return "", err
	} else if slug != s.id {
		return "", fmt.Errorf("%q is not the stored form of a session id", s.id)
	}
	return filepath.Join(s.clone.dir, "sessions", string(s.id)), nil
}

// Worktree is what a clone keeps of one work tree, by any name that tells it from the others.
type Worktree struct {
	clone *Clone
	name  string
}

// Worktree is what the clone keeps of a work tree. It touches nothing.
func (c *Clone) Worktree(name string) Worktree { return Worktree{c, name} }

func (w Worktree) dir() string { return filepath.Join(w.clone.dir, "worktrees", fileName(w.name)) }

// make makes a directory below the clone's, level by level, so that a link at any level is refused, and a
// directory that others may write to.
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

// private is durable.CheckPrivateDir. Git has accepted the owner of its own directory, or nobody would be here.
func (c *Clone) private(dir string) (found bool, err error) {
	return durable.CheckPrivateDir(dir, filepath.Dir(c.dir))
}

// check looks at the same levels without making any. found is false when one is absent.
func (c *Clone) check(dir string) (found bool, err error) {
	look := c.private // nobody else comes below it
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

// tipName is a ledger tip as it stands in file names.
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

// checkName refuses what must not become a file name.
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
