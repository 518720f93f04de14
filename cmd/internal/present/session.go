package present

import (
	"fmt"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present/ways"
	"github.com/wfs-dev/wfs/engine/finish"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// AutoSave is an automatic backup of the work tree that is newer than the newest checkpoint.
type AutoSave struct {
	At      time.Time      `json:"at"`
	Commit  session.Commit `json:"commit"` // commit with the saved files
	Ref     string         `json:"ref"`
	Trigger string         `json:"trigger,omitempty"` // as in the trailer Wfs-Trigger
	Why     string         `json:"why"`
	Changes int            `json:"changes"`           // files that differ from the current checkpoint
	Missing int            `json:"missing,omitempty"` // how many of these files are missing in the work tree
}

// NewAutoSave describes an automatic backup of session id.
func NewAutoSave(id session.ID, a *session.AutoSave) AutoSave {
	return AutoSave{At: time.Unix(a.At, 0).UTC(), Commit: a.Code, Ref: session.AutoOf(id), Trigger: a.Trigger,
		Why: a.Why, Changes: a.Changes}
}

// Session is an entry of `wfs list --json`, and the first part of a Story.
type Session struct {
	Version  int                `json:"version"`
	ID       session.ID         `json:"id"`
	Name     string             `json:"name"` // WFS-<id>, for scripts that expect this form
	Current  bool               `json:"current"`
	Goal     string             `json:"goal"`
	Title    string             `json:"title,omitempty"` // short name, shown instead of the goal
	Status   session.Status     `json:"status"`
	Why      string             `json:"why,omitempty"`
	Waiting  *session.Waiting   `json:"waiting,omitempty"`
	Blocked  *session.BlockedBy `json:"blocked,omitempty"`
	Workflow string             `json:"workflow"`
	Agent    string             `json:"agent"`
	Phase    session.PhaseName  `json:"phase"`
	Lap      int                `json:"lap,omitempty"`
	LapsDone int                `json:"laps_done"`
	Items    int                `json:"items,omitempty"`
	Item     string             `json:"item,omitempty"`
	// number of items that are done: delivered, shown by an existing test, or agreed to by a person
	ItemsDone  int              `json:"items_done,omitempty"`
	ItemStates []items.Item     `json:"item_states,omitempty"`
	Attempts   int              `json:"attempts"` // judged attempts
	Claims     int              `json:"claims"`
	Refuted    int              `json:"refuted"`
	Flaky      []session.TestID `json:"flaky,omitempty"`
	Beware     []string         `json:"beware,omitempty"` // weak points of completed work
	// test files that were changed or deleted since the base, of completed work; of a session that waits for a person,
	// since the lap's tests were frozen
	ChangedTests  []finish.ChangedTest   `json:"changed_tests,omitempty"`
	Ways          []Way                  `json:"ways,omitempty"` // the user's options, if the session is stopped
	CostUSD       float64                `json:"cost_usd,omitempty"`
	Used          cost.Usage             `json:"used,omitzero"`
	Checkpoint    int                    `json:"checkpoint"`
	Branch        string                 `json:"branch"`
	Base          session.Commit         `json:"base"`
	BaseRef       string                 `json:"base_ref,omitempty"`
	SkippedPhases []session.SkippedPhase `json:"skipped_phases,omitempty"` // phases without a verdict
	HandedOver    string                 `json:"handed_over,omitempty"`    // branch that `wfs finish` made
	// operation in this work tree that a killed process left unfinished
	HalfMoved string `json:"half_moved,omitempty"`
	// root of the work tree that has the session checked out
	Worktree    string                 `json:"worktree,omitempty"`
	Gone        bool                   `json:"worktree_gone,omitempty"`
	Became      *handover.Fate         `json:"became,omitempty"`     // where the work ended up; set on request only
	Incomplete  bool                   `json:"incomplete,omitempty"` // the current checkpoint lacks files
	Skipped     []session.Skip         `json:"skipped,omitempty"`    // files that the current checkpoint cannot contain
	HeldOut     []session.Held         `json:"held_out,omitempty"`   // files left out until a person allows them
	Allowed     []string               `json:"allowed,omitempty"`
	Proof       *session.Proof         `json:"proof,omitempty"`   // of the current checkpoint, in a clean checkout
	Holdout     *session.HoldoutResult `json:"holdout,omitempty"` // of the current checkpoint
	Deleted     *session.Deleted       `json:"deleted,omitempty"` // set if the current checkpoint deletes most files
	UpdatedAt   time.Time              `json:"updated_at"`
	CompletedAt *time.Time             `json:"completed_at,omitempty"`
	Driver      *Driver                `json:"driver,omitempty"`
	AutoSave    *AutoSave              `json:"auto_save,omitempty"`    // set if it has changes that no checkpoint has
	Alive       []session.Process      `json:"alive,omitempty"`        // processes that outlived the newest run
	Recovery    *ways.Recovery         `json:"recovery,omitempty"`     // set after an interruption
	SpecEdited  string                 `json:"spec_edited,omitempty"`  // command that pins the edited spec
	Edits       []string               `json:"edits,omitempty"`        // files that differ from the current checkpoint
	Requests    int                    `json:"requests,omitempty"`     // unread requests in the inbox
	GateRuns    int                    `json:"gate_runs,omitempty"`    // gate results since the session began
	GatesCached int                    `json:"gates_cached,omitempty"` // how many of these came from the cache
	Next        []string               `json:"next"`                   // commands to type next

	Of *session.Session `json:"-"`
	// Evidence is the newest evidence, of completed work that has a checklist.
	Evidence session.Evidence `json:"-"`
	// Cost is the cost so far with the caps on the whole session, such as "$1.20 of $5.00". It is "" if the cost is
	// zero.
	Cost string `json:"-"`
}

type Driver struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// Story is the output of `wfs --json`: a session and its history.
type Story struct {
	Session
	CreatedAt time.Time            `json:"created_at"`
	LastRun   *LastRun             `json:"last_run,omitempty"`
	Spent     spent                `json:"spent"`
	Tests     *tests               `json:"tests,omitempty"`
	Claimed   []session.Refuted    `json:"refuted_claims,omitempty"`
	Newest    []session.Checkpoint `json:"newest"` // the last few checkpoints, in order
	Gates     []session.GateResult `json:"gates,omitempty"`
	Failed    *Failure             `json:"failed,omitempty"` // error of the newest run
}

// uncounted returns the number of ended runs that were not judged: those that failed and changed nothing.
func (j *Story) uncounted() int {
	n := j.Of.Runs - j.Attempts
	if j.Of.Open != nil {
		n--
	}
	return n
}

// Failure is an error as wfs prints it, as text and as JSON.
type Failure struct {
	Version int    `json:"version"`
	Error   string `json:"error"`
	Code    string `json:"code"`
	Hint    string `json:"hint,omitempty"`
	Exit    int    `json:"exit"`
}

// Version is the version of the JSON that commands print. It changes when a field changes its meaning, but not for new
// fields.
const Version = 1

// LastRun sums up a session's newest run.
type LastRun struct {
	At          time.Time  `json:"at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Laps        int        `json:"laps"`
	Attempts    int        `json:"attempts"`
	Refuted     int        `json:"refuted"`
	Checkpoints int        `json:"checkpoints"`

	Used cost.Usage `json:"used,omitzero"`
}

// spent says how a session's time was spent, in seconds: in runs of agents, in gates, and waiting.
type spent struct {
	Runs   float64 `json:"runs"`
	Gates  float64 `json:"gates"`
	Waited int64   `json:"waited"`
}

// tests compares two test results: on the base commit, and in the newest judgement.
type tests struct {
	Before session.Counts  `json:"before"`
	Now    *session.Counts `json:"now,omitempty"`
}

func (t *tests) String() string {
	text := fmt.Sprintf("%d before", t.Before.Passed)
	if t.Now == nil {
		return text
	}
	if n := t.Now.Failed + t.Now.Errors; n > 0 {
		return fmt.Sprintf("%s, %d now; %d %s", text, t.Now.Passed, n, safetext.Word(n, "fails", "fail"))
	}
	return fmt.Sprintf("%s, %d now; all pass", text, t.Now.Passed)
}

// TestsOf counts the results of gates that report single tests. It returns nil if no gate does.
func TestsOf(s *session.Session) *tests {
	if s.Base0 == nil {
		return nil
	}
	var t tests
	before := s.Base0.Gates
	if now := session.CountsOf(s.LastGates); now.Total() > 0 {
		t.Now = &now
		// Leave out gates that the newest judgement did not run: the two counts must be about the same gates.
		before = slices.DeleteFunc(slices.Clone(before), func(g session.GateResult) bool {
			return slices.ContainsFunc(s.NotRun, func(n session.NotRun) bool { return n.Gate == g.Gate })
		})
	}
	t.Before = session.CountsOf(before)
	if t.Before.Total() == 0 && t.Now == nil {
		return nil
	}
	return &t
}

// Describe fills in the fields of a Session that follow from the session's own record. Facts about this clone, such as
// its work tree, are missing.
func Describe(s *session.Session) Session {
	j := Session{
		Of: s, Version: Version, ID: s.ID, Name: s.ID.Trailer(), Goal: s.Goal, Title: s.Title, Status: s.Status, Why: s.Why,
		Workflow: s.Workflow, Agent: s.Agent, Phase: s.Phase, Lap: s.Lap, LapsDone: items.LapsDone(s), Items: len(s.Items),
		Item:       s.Item(),
		ItemStates: items.States(s), ItemsDone: len(s.Items) - len(items.Open(s)),
		Attempts: s.Tries, Claims: s.Claims, Refuted: len(s.StillRefuted()), Flaky: s.FlakyTests(), CostUSD: s.CostUSD,
		Used:       s.Used,
		Checkpoint: s.Current, Branch: ShortRef(s.Branch()), Base: s.Base, BaseRef: s.BaseRef, Allowed: s.Allowed,
		SkippedPhases: s.SkippedPhases, Holdout: s.HoldoutAt(s.Current), Proof: ProofOf(s), GateRuns: s.GateRuns,
		GatesCached: s.GatesCached, UpdatedAt: unix(s.UpdatedAt).UTC(),
	}
	if c := s.At(s.Current); c != nil {
		j.Incomplete, j.Skipped, j.HeldOut, j.Deleted = c.Incomplete, c.Skipped, c.HeldOut, c.Deleted
	}
	if c := s.At(s.Current); c != nil && s.Phase == workflows.Done {
		at := unix(c.At).UTC()
		j.CompletedAt = &at
	}
	switch s.Status {
	case session.StatusCompleted:
		j.Beware = NotAsked(s)
	case session.StatusWaiting:
		j.Waiting = s.Waiting
	case session.StatusBlocked:
		j.Blocked = s.Blocked
	case session.StatusFinished:
		if s.Finished != nil {
			j.HandedOver = ShortRef(s.Finished.Branch)
		}
	}
	return j
}

// StoryOf returns the story of a session that is already described: d plus its history.
func StoryOf(d Session, now time.Time) Story {
	s := d.Of
	j := Story{Session: d, CreatedAt: unix(s.CreatedAt).UTC(), Tests: TestsOf(s), Claimed: s.StillRefuted(),
		Gates:  s.LastGates,
		Newest: s.Checkpoints[:min(s.Current+1, len(s.Checkpoints))],
		Spent:  spent{ms(s.Spent.RunMillis).Seconds(), ms(s.Spent.GateMillis).Seconds(), s.Spent.Waited}}
	if s.Last != nil && s.Last.NothingLeft {
		j.Gates = finish.AsHanded(j.Gates)
	}
	j.Newest = j.Newest[max(0, len(j.Newest)-shownCheckpoints):]
	if w := s.Waiting; w != nil && s.Status == session.StatusWaiting && s.Spent.Since > 0 && j.Driver != nil {
		j.Spent.Waited += max(0, min(now.Unix(), w.Until)-s.Spent.Since)
	}
	if d := s.Drive; d != nil {
		j.LastRun = &LastRun{At: unix(d.At).UTC(), Laps: items.LapsDone(s) - d.Laps, Attempts: s.Tries - d.Tries,
			Refuted: max(0, j.Refuted-d.Refuted), Checkpoints: len(s.Checkpoints) - d.Checkpoints, Used: s.Used.Minus(d.Used)}
		if d.Ended > 0 && j.Driver == nil {
			at := unix(d.Ended).UTC()
			j.LastRun.EndedAt = &at
		}
	}
	return j
}
