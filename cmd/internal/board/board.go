// Package board is the list of all sessions that `wfs watch` shows in a terminal. It turns keys into commands to run
// and sessions into lines; it does no input or output itself.
package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wfs-dev/wfs/session"
)

// Group is a part of the board. Groups appear in the order of their values.
type Group int

const (
	NeedsYou Group = iota
	Running
	Blocked
	Stopped
	Done
)

// Groups are the names of the groups, in their order.
var Groups = [...]string{"needs you", "running", "blocked", "not running", "done"}

func (g Group) String() string { return Groups[g] }

// GroupOf returns the part of the board to which a session with this status belongs. `wait` is what it waits for, nil
// if that is not known; `runs` says that a run drives it.
func GroupOf(status session.Status, wait *session.Waiting, runs bool) Group {
	switch status {
	case session.StatusRunning:
		return Running
	case session.StatusWaiting:
		switch {
		case wait == nil || wait.Reason == session.WaitHuman:
			return NeedsYou
		case runs:
			return Running
		}
		return Stopped
	case session.StatusBlocked:
		return Blocked
	case session.StatusCompleted, session.StatusFinished, session.StatusAbandoned:
		return Done
	case session.StatusCreated, session.StatusPaused, session.StatusInterrupted:
		return Stopped
	}
	return NeedsYou // it cannot be read
}

// Decides reports whether a person can approve or reject a session's work: it waits for a yes or no, or is blocked.
func Decides(status session.Status, w *session.Waiting) bool {
	return status == session.StatusBlocked ||
		status == session.StatusWaiting && w != nil && w.Reason != session.WaitLimit && (w.Approve || w.Agree)
}

// Row is one session.
type Row struct {
	ID         session.ID
	Group      Group
	Status     session.Status
	At         string // phase and lap or item, such as "GREEN 2/5"
	Attempt    int    // number of the current attempt, 0 for none
	Now        string // what the agent does now, or what the session waits for
	Cost       string
	Updated    time.Time
	Checkpoint int      // the current one, -1 if it was not read
	Here       bool     // it is checked out in this work tree
	Runs       bool     // a run is in progress
	Decide     bool     // it can be approved and rejected
	About      []string // further lines about it: the goal, questions, evidence
}

// Do is what the caller of Key has to do. The zero value is nothing.
type Do struct {
	Quit  bool
	Watch session.ID // show the run of this session
	Args  []string   // run wfs with these arguments, and pass what it printed to Show
}

// mode says what the keys mean.
type mode int

const (
	listing mode = iota
	writing      // a line of text is typed
	asking       // a yes-or-no question is open
	paging       // a text is shown
)

// Board is the state of the board.
type Board struct {
	Title string // shown at the top, for example the repository's name
	Help  string // shown by the key ?

	rows     []Row
	selected session.ID
	top      int // first line of the list that is shown
	mode     mode
	ask      string   // question of the modes writing and asking
	typed    []rune   // in the mode writing
	args     []string // command to run after the question
	title    string   // of the text in the mode paging
	text     []string
	from     int // first shown line of the text
	running  bool
	page     int // lines of a text or list that the screen has
}

// Set replaces the sessions. The selected session stays selected; if it is gone, its neighbour is.
func (b *Board) Set(rows []Row) {
	at := b.at()
	slices.SortFunc(rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.Group, y.Group), y.Updated.Compare(x.Updated), cmp.Compare(x.ID, y.ID))
	})
	b.rows = rows
	if b.at() < 0 && len(rows) > 0 {
		b.selected = rows[min(max(at, 0), len(rows)-1)].ID
	}
}

// Select selects a session, if it is there.
func (b *Board) Select(id session.ID) {
	if slices.ContainsFunc(b.rows, func(r Row) bool { return r.ID == id }) {
		b.selected = id
	}
}

// at returns the index of the selected row, -1 for none.
func (b *Board) at() int {
	return slices.IndexFunc(b.rows, func(r Row) bool { return r.ID == b.selected })
}

// Show shows what a command printed. If the command is still running, `running` is set, and the text may be empty.
func (b *Board) Show(title, text string, running bool) {
	if b.mode != paging || b.title == "" {
		b.from = 0
	}
	b.mode, b.title, b.running = paging, title, running
	b.text = strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\t", "    "), "\n"), "\n")
}

// Busy reports whether the user is typing an answer, which Show would interrupt.
func (b *Board) Busy() bool { return b.mode == writing || b.mode == asking }

// Visible returns the sessions near the part of the list that Lines has drawn last.
func (b *Board) Visible() (ids []session.ID) {
	at := max(0, b.at())
	for _, r := range b.rows[max(0, at-b.page):min(len(b.rows), at+b.page+1)] {
		ids = append(ids, r.ID)
	}
	return ids
}

// Key handles a key: a character, or one of the names that Keys returns.
func (b *Board) Key(key string) Do {
	switch b.mode {
	case writing:
		return b.write(key)
	case asking:
		b.mode = listing
		if key == "y" || key == "Y" {
			return Do{Args: b.args}
		}
		return Do{}
	case paging:
		b.scroll(key)
		return Do{}
	}
	return b.list(key)
}

// list handles a key in the list.
func (b *Board) list(key string) Do {
	at := b.at()
	move := func(to int) Do {
		if len(b.rows) > 0 {
			b.selected = b.rows[min(max(to, 0), len(b.rows)-1)].ID
		}
		return Do{}
	}
	switch key {
	case "q":
		return Do{Quit: true}
	case "?":
		b.from = 0
		b.Show("keys", b.Help, false)
		return Do{}
	case "j", "down":
		return move(at + 1)
	case "k", "up":
		return move(at - 1)
	case "pgdn", " ":
		return move(at + max(1, b.page-1))
	case "pgup":
		return move(at - max(1, b.page-1))
	case "home", "g":
		return move(0)
	case "end", "G":
		return move(len(b.rows) - 1)
	}
	if at < 0 {
		return Do{}
	}
	id, row := string(b.selected), &b.rows[at]
	seen := id
	if row.Checkpoint >= 0 { // the answer is about what the row shows
		seen = fmt.Sprintf("%s@%d", id, row.Checkpoint)
	}
	switch {
	case (key == "a" || key == "x") && !row.Decide:
		b.Show(id, id+" waits for no yes or no. s shows where it stands, n leaves a note or answers a question.", false)
		return Do{}
	case key == "S" && !row.Runs, key == "r" && row.Runs:
		b.Show(id, map[string]string{"S": "no run of " + id + " is in progress", "r": id + " is running"}[key], false)
		return Do{}
	}
	switch key {
	case "enter":
		return Do{Watch: b.selected}
	case "s":
		return Do{Args: []string{"status", id}}
	case "d":
		return Do{Args: []string{"diff", id}}
	case "r":
		return Do{Args: []string{"run", "--detach", id}}
	case "n":
		b.mode, b.ask, b.args = writing, "note for "+id, []string{"note", id, "-m"}
	case "x":
		b.mode, b.ask, b.args = writing, "reject "+seen+", because", []string{"reject", seen, "-m"}
	case "a":
		b.mode, b.ask, b.args = asking, "approve "+seen+"?", []string{"approve", seen}
	case "S":
		b.mode, b.ask, b.args = asking, "stop "+id+" after this attempt?", []string{"stop", id}
	}
	b.typed = nil
	return Do{}
}

// Asks reports whether the board has asked for a yes.
func (b *Board) Asks() bool { return b.mode == asking }

// write handles a key while a line is typed.
func (b *Board) write(key string) Do {
	switch pasted, isPaste := strings.CutPrefix(key, "paste:"); {
	case key == "esc":
		b.mode = listing
	case key == "enter":
		b.mode = listing
		if text := strings.TrimSpace(string(b.typed)); text != "" {
			return Do{Args: append(slices.Clone(b.args), text)}
		}
	case key == "backspace":
		b.typed = b.typed[:max(0, len(b.typed)-1)]
	case key == "clear":
		b.typed = nil
	case isPaste:
		b.typed = append(b.typed, []rune(strings.Join(strings.Fields(pasted), " "))...)
	default:
		if r := []rune(key); len(r) == 1 && unicode.IsPrint(r[0]) {
			b.typed = append(b.typed, r[0])
		}
	}
	return Do{}
}

// scroll handles a key while a text is shown.
func (b *Board) scroll(key string) {
	switch key {
	case "q", "esc", "enter":
		b.mode, b.title = listing, ""
	case "j", "down":
		b.from++
	case "k", "up":
		b.from--
	case "pgdn", " ":
		b.from += max(1, b.page-1)
	case "pgup", "b":
		b.from -= max(1, b.page-1)
	case "home", "g":
		b.from = 0
	case "end", "G":
		b.from = len(b.text) * 10 // Lines limits it
	}
}
