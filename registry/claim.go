package registry

import (
	"path/filepath"

	"github.com/wfs-dev/wfs/session"
)

// claim is the file that says which session has begun to move a work tree. HEAD cannot say it: until the move is true
// HEAD is on the branch that is being left, while the files may be the other's already.
type claim struct {
	Version int        `json:"v"`
	Session session.ID `json:"session"`
}

// ClaimFile is the path of a work tree's claim, whether it is there or not.
func (c *Clone) ClaimFile(worktree string) string { return c.claimFile(worktree) }

func (c *Clone) claimFile(worktree string) string {
	return filepath.Join(filepath.Dir(c.worktreeLock(worktree)), "claim")
}

// Claim says, durably and before the first file is touched, that a session moves a work tree.
func (c *Clone) Claim(worktree string, id session.ID) error {
	return c.writeDocument(c.claimFile(worktree), claim{FormatVersion, id})
}

// Claimed returns the session that began to move a work tree and may not have ended it, "" for none.
func (c *Clone) Claimed(worktree string) (session.ID, error) {
	id, err := readClaim(c.claimFile(worktree))
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

// Unclaim says that a move has come to its end.
func (c *Clone) Unclaim(worktree string) error { return removeFile(c.claimFile(worktree)) }

// Claim is Clone.Claim for the journal's session.
func (j *Journal) Claim(worktree string) error { return j.clone.Claim(worktree, j.id) }

// Unclaim is Clone.Unclaim.
func (j *Journal) Unclaim(worktree string) error { return j.clone.Unclaim(worktree) }
