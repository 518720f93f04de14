package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/check"
)

type doctorJSON struct {
	Version  int              `json:"version"`
	OK       bool             `json:"ok"` // no problem blocks a command any more
	Repaired bool             `json:"repaired"`
	Sessions int              `json:"sessions"`
	Turns    int              `json:"turns"` // number of ledger commits that were read
	Refs     int              `json:"refs"`
	Findings []*check.Finding `json:"findings"`
}

type doctorVerb struct {
	*app
	repair  bool
	mending map[session.ID]bool // sessions that it has locked for repairs
}

func (a *doctorVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor [SESSION]", Short: "check for problems and suggest fixes",
		Long: `Doctor checks everything that wfs stores: refs and session histories (every event is read), journals,
locks, notes and caches, the operation log, leftovers of killed processes, git settings that would delete
sessions, and the disk. For each problem it prints its effect and the command that fixes it. Without
--repair it writes nothing and takes no lock.

With --repair, what is damaged is moved aside (to NAME.corrupt-1; the latest three of a name are kept) and
recreated from refs. Nothing is reset: files, branches and HEAD stay as they are. A deleted branch of a session
is not restored; doctor prints the command.

With a SESSION it checks what that session needs to continue: its history and branch, its files against the
last checkpoint, documents and tasks, the spec, the programs of its gates, the configuration, and its agent.

The exit code is 4 when a problem blocks a command, else 0.`,
		Example: "  wfs doctor\n  wfs doctor --json\n  wfs doctor --repair\n  wfs doctor csv-export",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().BoolVar(&a.repair, "repair", false, "move damaged files aside, and recreate them")
	return c
}

func (a *doctorVerb) run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && a.repair:
		return usage("wfs doctor --repair", "--repair is about the whole repository, not about one session")
	case len(args) > 0:
		return a.session(ctx, args[0])
	}
	open := a.Open
	if a.repair {
		open = a.OpenWriter
	}
	if err := open(ctx); err != nil {
		return err
	}
	d := a.checks()
	var mended []*check.Finding
	var r *check.Report
	var err error
	if a.repair {
		mended, r, err = d.Repair(ctx)
	} else {
		r, err = d.Examine(ctx)
	}
	if err != nil {
		return err
	}
	j := doctorJSON{Version: jsonVersion, Repaired: a.repair, Sessions: r.Sessions, Turns: r.Turns, Refs: r.Count,
		OK: !slices.ContainsFunc(r.Findings, func(f *check.Finding) bool { return f.Level == check.Blocks })}
	j.Findings = list(append(mended, r.Gravest()...))
	if a.json {
		if err := a.answer(j); err != nil {
			return err
		}
	} else {
		a.say(j)
	}
	if !j.OK {
		return exitWith(exitBlocked)
	}
	return nil
}

// say prints a line for each finding. If there are no findings, it says so.
func (a *doctorVerb) say(j doctorJSON) {
	for _, f := range j.Findings {
		if f.Done != "" {
			a.out("repaired: %s: %s: %s", f.Where, f.What, f.Done)
			if f.Undo != "" {
				a.out("  to undo it: %s", f.Undo)
			}
			continue
		}
		a.out("%s: %s", f.Level, findingText(f))
	}
	looked := fmt.Sprintf("%d %s with %d %s, %d %s", j.Sessions, plural(j.Sessions, "session", "sessions"),
		j.Turns, plural(j.Turns, "turn", "turns"), j.Refs, plural(j.Refs, "ref", "refs"))
	open := slices.ContainsFunc(j.Findings, func(f *check.Finding) bool { return f.Done == "" })
	switch {
	case !open:
		a.out("no problems found: %s", looked)
	case j.OK:
		a.out("no blocking problems: %s", looked)
	}
}

// findingText returns a finding in one line, with its effect and its remedy.
func findingText(f *check.Finding) string {
	text := fmt.Sprintf("%s: %s", f.Where, f.What)
	if f.Follows != "" {
		text += "; " + f.Follows
	}
	switch {
	case f.Kept != "":
		text += fmt.Sprintf(" (left alone: %s)", f.Kept)
	case f.Next != "":
		text += ". Type: " + f.Next
	}
	return strings.ReplaceAll(text, "\n", " ")
}

type sessionChecksJSON struct {
	Version int              `json:"version"`
	Session session.ID       `json:"session"`
	OK      bool             `json:"ok"` // nothing blocks the session
	Checks  []sessionRowJSON `json:"checks"`
}

// sessionRowJSON is the result of one check of a session.
type sessionRowJSON struct {
	Check    string          `json:"check"`
	OK       bool            `json:"ok"` // no finding is a problem
	Findings []check.Finding `json:"findings"`
}

// session checks what a session needs to continue.
func (a *doctorVerb) session(ctx context.Context, name string) error {
	v, err := a.OpenView(ctx, name)
	if err != nil {
		return err
	}
	ready := readiness{app: a.app, s: &v.Session}
	if ready.in, err = a.PlaceOf(ctx, v.Session.ID); err != nil {
		return err
	}
	if ready.plan, err = a.PinnedPlan(ctx, v); err != nil {
		return err
	}
	j := sessionChecksJSON{Version: jsonVersion, Session: v.Session.ID, OK: true}
	for _, row := range ready.all(a.checks()) {
		found, err := row.Look(ctx)
		if err != nil {
			return fmt.Errorf("%s cannot be checked: %w", row.Name, err)
		}
		c := sessionRowJSON{Check: row.Name, OK: true, Findings: list(found)}
		for _, f := range found {
			c.OK = c.OK && f.Level == check.Tells
			j.OK = j.OK && f.Level != check.Blocks
		}
		j.Checks = append(j.Checks, c)
	}
	if a.json {
		err = a.answer(j)
	} else {
		a.saySession(j)
	}
	if err == nil && !j.OK {
		return exitWith(exitBlocked)
	}
	return err
}

// saySession prints a row for each check of a session.
func (a *doctorVerb) saySession(j sessionChecksJSON) {
	for _, c := range j.Checks {
		if len(c.Findings) == 0 {
			a.out("ok      %s", c.Check)
		}
		for _, f := range c.Findings {
			a.env.OutAt(8, "%s %s: %s", present.Pad(f.Level, 7), c.Check, findingText(&f))
		}
	}
}

// checks returns the checks of workspace/check, set up for this clone.
func (a *doctorVerb) checks() *check.Doctor {
	d := &check.Doctor{Repo: a.Repo, Files: a.Clone, Engine: a.Engine, PID: a.env.PID, Now: a.env.Now, Note: a.note,
		Lock: a.lockFor,
		Deleted: func(ctx context.Context, id session.ID) bool {
			kept, err := a.KeptOf(ctx, id)
			return err == nil && kept != ""
		},
		Before: []check.Row{{Name: "git", Look: a.checkGit}},
		After:  []check.Row{{Name: "hooks of agents", Look: a.checkHooks}, {Name: "proofs", Look: a.checkProofs}}}
	store, err := a.TrustStore()
	if d.NoTrust = err; err == nil {
		d.TrustDir = store.Dir
	}
	return d
}

// checkGit checks git itself, whether wfs can write to this repository, and the configuration.
func (a *doctorVerb) checkGit(ctx context.Context) (found []check.Finding, err error) {
	blocks := func(about, where, what, follows, next string) {
		found = append(found, check.Finding{Level: check.Blocks, About: about, Where: where, What: what, Follows: follows,
			Next: next})
	}
	_, err = a.Repo.Answers.Version(ctx)
	if errors.Is(err, gitcmd.ErrGitTooOld) {
		blocks("git", "git", err.Error(), "nothing can be written", "install git 2.34 or newer")
		return found, nil
	}
	if err == nil {
		err = a.Repo.Fit(ctx, true)
	}
	if err == nil {
		err = a.Repo.Able(ctx)
	}
	var ready *gitcmd.ReadyError
	if errors.As(err, &ready) {
		blocks("git", a.Repo.Root(), ready.Error(), "nothing can be written here", readyHints[ready.Code])
	} else if err != nil && !errors.Is(err, refs.ErrBrokenRef) {
		return nil, err
	}
	if head, err := a.Repo.Head(ctx); err == nil && head.Ref == "" {
		blocks("git", "HEAD", "is on no branch", "wfs new works here, but no session can be checked out",
			readyHints[gitcmd.NotOnBranch])
		found[len(found)-1].Level = check.Warns
	}
	var wrong *workspace.FindingsError
	if _, err := a.OwnSettings(ctx); errors.As(err, &wrong) {
		blocks("config", filepath.Join(a.Repo.Root(), ".wfs"), wrong.Error(), "no session can begin", "wfs workflow check")
	}
	return found, nil
}

// lockFor takes the locks that a repair needs: the lock of the work tree and, unless id is "", the lock of the session.
// If another process holds a lock, it returns the reason in `why`, and no error.
func (a *doctorVerb) lockFor(ctx context.Context, id session.ID) (why string, err error) {
	if err := a.HoldTree(ctx, check.RepairCommand); err != nil {
		return cannotLock(err)
	}
	if id == "" || a.mending[id] {
		return "", nil
	}
	if err := a.HoldSession(check.RepairCommand, id); err != nil {
		return cannotLock(err)
	}
	if a.mending == nil {
		a.mending = map[session.ID]bool{}
	}
	a.mending[id] = true
	return "", nil
}

func cannotLock(err error) (why string, _ error) {
	var held *registry.HeldError
	if errors.As(err, &held) || errors.Is(err, durable.ErrNotRegular) || errors.Is(err, durable.ErrNotPrivate) {
		return err.Error(), nil // a later round may repair the lock file
	}
	return "", err
}
