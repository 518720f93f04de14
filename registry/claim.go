package registry

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/session"
)

// claim is a file that names the session whose move has begun to change a work tree. HEAD cannot show that: until the
// move is committed, HEAD is on the old branch, while the files may already be those of the new branch.
type claim struct {
	Version int        `json:"v"`
	Session session.ID `json:"session"`
}

func (w Worktree) claimFile() string {
	return filepath.Join(w.dir(), "claim")
}

// Claim records durably that a session's move changes this work tree. Call it before the move changes the first file.
func (w Worktree) Claim(id session.ID) error {
	return w.clone.writeDocument(w.claimFile(), claim{FormatVersion, id})
}

// Claimed returns the session whose move of this work tree has begun but not ended, or "" if there is none.
func (w Worktree) Claimed() (session.ID, error) {
	id, err := readClaim(w.claimFile())
	return id, ifThere(err)
}

func readClaim(path string) (session.ID, error) {
	cl, err := readDocument[claim](path, 4096)
	if err != nil {
		return "", err
	}
	id, err := session.ParseID(string(cl.Session))
	if err != nil {
		return "", corrupt(path, err)
	}
	return id, nil
}

// Unclaim records that the claimed move of this work tree has ended.
func (w Worktree) Unclaim() error { return removeFile(w.claimFile()) }

// Claim calls Worktree.Claim for the journal's session and a work tree.
func (j *Journal) Claim(worktree string) error { return j.of.clone.Worktree(worktree).Claim(j.of.id) }

// Unclaim calls Worktree.Unclaim for a work tree.
func (j *Journal) Unclaim(worktree string) error { return j.of.clone.Worktree(worktree).Unclaim() }
