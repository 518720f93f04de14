package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// Trust records which commands the user has allowed in this repository.
type Trust struct{ w *Workspace }

// TrustStore opens the trust store in the user's own state directory.
func (t *Trust) TrustStore() (*registry.TrustStore, error) {
	dir, err := t.w.Env.StateDir()
	if err != nil {
		return nil, err
	}
	return &registry.TrustStore{Dir: filepath.Join(dir, "trust")}, nil
}

// Trusted reports whether a digest is trusted for this repository.
func (t *Trust) Trusted(digest string) (bool, error) {
	store, err := t.TrustStore()
	if err != nil {
		return false, err
	}
	return store.Trusted(t.w.Repo.CommonDir(), digest)
}

// TrustNow records that a digest is trusted. what describes it for people.
func (t *Trust) TrustNow(digest, what string) error {
	store, err := t.TrustStore()
	if err != nil {
		return err
	}
	return store.Trust(t.w.Repo.CommonDir(), digest, what)
}

// TrustRules records that rules may run, unless they are trusted already.
func (t *Trust) TrustRules(command string, list Rules, what string) error {
	if ok, err := t.Trusted(list.Digest()); err != nil || ok {
		return err
	}
	if err := t.w.NoneDriven(command); err != nil {
		return err
	}
	return t.TrustNow(list.Digest(), what)
}

// MustTrust refuses rules that the user has not trusted.
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

// trustSession refuses to run a session whose pinned plan came from another clone and is not trusted.
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

// Workable resolves a name to a session whose commands may run and whose work tree exists.
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
