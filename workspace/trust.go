package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// Trust records and checks which commands the user has allowed to run in this repository.
type Trust struct{ w *Workspace }

// TrustStore returns the store of trusted digests, in the user's own state directory.
func (t *Trust) TrustStore() (*registry.TrustStore, error) {
	dir, err := t.w.Env.StateDir()
	if err != nil {
		return nil, err
	}
	return &registry.TrustStore{Dir: filepath.Join(dir, "trust")}, nil
}

// Trusted reports whether the user has trusted the content with this digest in this repository.
func (t *Trust) Trusted(digest string) (bool, error) {
	store, err := t.TrustStore()
	if err != nil {
		return false, err
	}
	return store.Trusted(t.w.Repo.CommonDir(), digest)
}

// TrustNow records that the content with this digest is trusted. `what` describes the content for people.
func (t *Trust) TrustNow(digest, what string) error {
	store, err := t.TrustStore()
	if err != nil {
		return err
	}
	return store.Trust(t.w.Repo.CommonDir(), digest, what)
}

// TrustRules records that the user trusts the commands in `list`, unless that is recorded already. It refuses to do so
// while a run drives a session of this clone, because the run's agent could type the command.
func (t *Trust) TrustRules(command string, list Rules, what string) error {
	if ok, err := t.Trusted(list.Digest()); err != nil || ok {
		return err
	}
	if err := t.w.NoneDriven(command); err != nil {
		return err
	}
	return t.TrustNow(list.Digest(), what)
}

// MustTrust returns a refusal if the user has not trusted the current content of the rules.
func (t *Trust) MustTrust(list Rules) error {
	if len(list) == 0 {
		return nil
	}
	ok, err := t.Trusted(list.Digest())
	if err == nil && !ok {
		err = session.Refuse(session.RefuseUntrusted, "wfs trust",
			"files below .wfs/ name commands to run, and you have not trusted their current content")
	}
	return err
}

// trustSession returns a refusal if a session's pinned plan is not trusted, because the session came from another
// clone.
func (t *Trust) trustSession(ctx context.Context, id session.ID) error {
	v, err := t.w.View(ctx, id)
	if err != nil {
		return err
	}
	ok, err := t.Trusted(v.Session.PlanDigest)
	if err == nil && !ok {
		err = session.Refuse(session.RefuseUntrusted, "wfs trust "+string(id),
			"%s was not started here, and you have not trusted its commands", id)
	}
	return err
}

// Workable returns the session with a name. It refuses one whose commands are not trusted, or whose work tree no longer
// exists.
func (t *Trust) Workable(ctx context.Context, name string) (session.ID, error) {
	id, err := t.w.Resolve(ctx, name)
	if err != nil {
		return "", err
	}
	if err := t.trustSession(ctx, id); err != nil {
		return "", err
	}
	return id, t.w.NotGone(ctx, id)
}

// Digest returns the SHA-256 of a text, in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
