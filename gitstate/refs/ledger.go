package refs

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// Ledgers returns the commits of a session's ledger, newest first. It returns none if there is no such session.
func (r *Histories) Ledgers(ctx context.Context, id session.ID) ([]session.LedgerCommit, error) {
	tip, err := r.refs.Ref(ctx, LedgerRef(id))
	if err != nil {
		return nil, err
	}
	return r.LedgersFrom(ctx, tip)
}

// LedgersFrom lists the ledger commit `tip` and its predecessors, newest first. It does not read the ledger's ref.
func (r *Histories) LedgersFrom(ctx context.Context, tip session.Commit) (list []session.LedgerCommit, err error) {
	for next := tip; next != ""; {
		info, err := r.Objects.CommitInfo(ctx, next)
		if err != nil {
			return list, err
		}
		list = append(list, session.LedgerCommit{Commit: next, At: info.At, Subject: info.Subject})
		next = previousLedger(info)
	}
	return list, nil
}

// Documents returns a document of each of these ledger commits, nil for those that have no such document. It takes one
// process of git for all.
func (r *Histories) Documents(ctx context.Context, ledgers []session.Commit, name string) (files [][]byte, err error) {
	names := make([]string, len(ledgers))
	for i, ledger := range ledgers {
		names[i] = string(ledger) + ":" + name
	}
	found, err := r.Objects.Lookup(ctx, names...)
	for i, f := range found {
		if f.Kind != "blob" && err == nil { // File tells an object that is missing from a document that is not there
			f.Data, err = r.Objects.File(ctx, ledgers[i], name)
		}
		files = append(files, f.Data)
	}
	return files, err
}

// previousLedger returns the ledger commit before c, "" if c is the first one. If a trailer of c names the first
// parent, that parent is no ledger commit.
func previousLedger(c object.CommitInfo) session.Commit {
	if len(c.Parents) == 0 {
		return ""
	}
	for line := range strings.Lines(c.Body) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if strings.HasPrefix(key, "Wfs-Ledger-") && value == string(c.Parents[0]) {
			return ""
		}
	}
	return c.Parents[0]
}
