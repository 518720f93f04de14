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

func (w Worktree) claimFile() string {
	return filepath.Join(w.dir(), "claim")
}

// Claim says, durably and before the first file is touched, that a session moves a work tree.
func (w Worktree) Claim(id session.ID) error {
	return w.clone.writeDocument(w.claimFile(), claim{FormatVersion, id})
}

// Claimed returns the session that began to move a work tree and may not have ended it, "" for none.
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

// Unclaim says that a move has come to its end.
func (w Worktree) Unclaim() error { return removeFile(w.claimFile()) }

// Claim is Worktree.Claim for the journal's session.
func (j *Journal) Claim(worktree string) error { return j.of.clone.Worktree(worktree).Claim(j.of.id) }

// Unclaim is Worktree.Unclaim.
func (j *Journal) Unclaim(worktree string) error { return j.of.clone.Worktree(worktree).Unclaim() }
