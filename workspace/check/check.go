// Package check examines whether a repository is in order for wfs, for `wfs doctor`, and repairs it. A check has a
// condition, a message, and at most one repair. There are four repairs: move a damaged file aside, restore a ref's
// commit, complete a journal from the newest backup, and remove remains of wfs. A problem that the next ordinary
// command repairs, or about which a person must decide, is only reported.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// Levels of findings, the gravest first.
const (
	Blocks = "blocks" // something does not work, or the next command could do harm; wfs doctor exits with 4
	Warns  = "warns"  // something could go wrong later
	Tells  = "tells"  // for information; no action is needed
)

// RepairCommand is the command that repairs findings.
const RepairCommand = "wfs doctor --repair"

// Finding is one problem or note of wfs doctor.
type Finding struct {
	Level string `json:"level"`
	// ledger, journal, file, ref, branch, objects, lock, left-over, work tree, clone, git, config, disk, hook, proof, session
	About   string     `json:"about"`
	Session session.ID `json:"session,omitempty"`
	Where   string     `json:"where"`             // the path, ref or setting that the finding is about
	What    string     `json:"what"`              // the problem
	Follows string     `json:"follows,omitempty"` // the consequence of the problem
	Next    string     `json:"next,omitempty"`    // the command to type
	Done    string     `json:"done,omitempty"`    // description of the repair, if one was made
	Undo    string     `json:"undo,omitempty"`    // how to undo the repair
	Kept    string     `json:"kept,omitempty"`    // why no repair was made

	mend act
	free bool // the repair needs no lock, because no process can have the file open
}

// act is a repair of a finding. It returns descriptions of the change and of how to undo it; `done` is "" if nothing
// changed.
type act func(context.Context) (done, undo string, err error)

// by sets the repair of a finding, and the command that runs it.
func (f *Finding) by(mend act) *Finding {
	f.Next, f.mend = RepairCommand, mend
	return f
}

// Doctor examines one clone of a repository.
type Doctor struct {
	Repo     *gitstate.Repo
	Files    *registry.Clone
	Engine   *engine.Engine
	TrustDir string // directory with the user's trust
	NoTrust  error  // the error if there is no such directory
	PID      int
	Now      func() time.Time
	Note     func(format string, args ...any) // reports progress
	// Deleted reports whether a session was deleted.
	Deleted func(context.Context, session.ID) bool
	// Lock takes the locks of the work tree and of a session, unless the id is "". If another process holds them, it
	// returns a text that says so.
	Lock          func(context.Context, session.ID) (why string, err error)
	Before, After []Row // further checks, before and after those of this package
}

// Row is one check with its name for progress messages.
type Row struct {
	Name string
	Look func(context.Context) ([]Finding, error)
}

// Report has the findings of one examination, in the order of the checks, and what the checks have read so far.
type Report struct {
	Findings               []*Finding
	Sessions, Turns, Count int // numbers of what was examined; Count is the number of refs

	*Doctor
	ctx   context.Context
	since time.Time
	said  string
	refs  map[string]session.Commit // the refs of wfs
	tips  map[session.ID]session.Commit
}

// Examine runs all checks. Checks on which other checks depend run first.
func (d *Doctor) Examine(ctx context.Context) (*Report, error) {
	r := &Report{Doctor: d, ctx: ctx, since: d.Now(), tips: map[session.ID]session.Commit{}}
	type row struct {
		name string
		look func() error
	}
	files := fileChecks{r}
	var rows []row
	given := func(list []Row) {
		for _, own := range list {
			rows = append(rows, row{own.Name, func() error {
				found, err := own.Look(ctx)
				for _, f := range found {
					r.Findings = append(r.Findings, &f)
				}
				return err
			}})
		}
	}
	given(d.Before)
	rows = append(rows, row{"git's settings", r.settings}, row{"the disk", r.disk}, row{"refs", r.ourRefs},
		row{"reflogs", r.loggedRefs},
		row{"files of this clone", files.files}, row{"permissions", files.trust}, row{"the clone", r.clone},
		row{"sessions", sessionChecks{files}.sessions},
		row{"objects", r.objects}, row{"the operation log", r.operations}, row{"work trees", r.workTrees},
		row{"locks", r.locks})
	given(d.After)
	for _, row := range rows {
		r.progress("checking " + row.name)
		err := row.look()
		if errors.Is(err, refs.ErrBrokenRef) && len(r.Findings) > 0 {
			continue // the broken ref was reported already, or is reported at another check
		}
		if err != nil {
			return r, fmt.Errorf("%s cannot be checked: %w", row.name, err)
		}
	}
	return r, nil
}

// maxRounds is the maximum number of examinations by one Repair. Several can be needed, because a repair can make
// further checks possible.
const maxRounds = 5

// Repair repairs all findings that have a repair. It returns the repaired findings, and the report of a last
// examination, in which Kept says why the others were not repaired.
func (d *Doctor) Repair(ctx context.Context) (mended []*Finding, r *Report, err error) {
	ctx = context.WithoutCancel(ctx) // a repair must not be cut off by Ctrl-C
	for range maxRounds {
		if r, err = d.Examine(ctx); err != nil && len(r.Findings) == 0 {
			return mended, r, err
		}
		before := len(mended)
		for _, f := range r.Findings {
			if f.mend == nil {
				continue
			}
			var err error
			if !f.free {
				f.Kept, err = d.Lock(ctx, f.Session)
			}
			if err == nil && f.Kept == "" {
				f.Done, f.Undo, err = f.mend(ctx)
			}
			if err != nil {
				return mended, r, err
			}
			if f.Done != "" {
				mended = append(mended, f)
			}
		}
		if len(mended) == before {
			return mended, r, err
		}
	}
	r, err = d.Examine(ctx)
	return mended, r, err
}

// Gravest returns the findings of a report, the gravest first.
func (r *Report) Gravest() []*Finding {
	slices.SortStableFunc(r.Findings, func(x, y *Finding) int { return cmp.Compare(rank(x), rank(y)) })
	return r.Findings
}

func rank(f *Finding) int { return slices.Index([]string{Blocks, Warns, Tells}, f.Level) }

// add adds a finding to the report. `id` is the session that it is about, "" for none.
func (r *Report) add(level, about string, id session.ID, where, what, follows, next string) *Finding {
	f := &Finding{Level: level, About: about, Session: id, Where: where, What: what, Follows: follows, Next: next}
	r.Findings = append(r.Findings, f)
	return f
}

// progress reports which check is running, if the examination takes longer than a second.
func (r *Report) progress(what string) {
	if r.Now().Sub(r.since) > time.Second && what != r.said {
		r.said = what
		r.Note("%s …", what)
	}
}

// moveAside returns a repair that renames a file or directory, so that it is no longer in the way.
func moveAside(path string) act {
	return func(context.Context) (string, string, error) {
		kept, err := durable.MoveAside(path)
		return "moved to " + base(kept), moveBack(kept, path), err
	}
}

func moveBack(kept, path string) string { return "mv " + word(kept) + " " + word(path) }

func word(s string) string { return safetext.ShellWord(s) }

// number returns a count with its noun: "1 file" or "2 files".
func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
