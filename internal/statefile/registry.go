package statefile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// steps are the phases of the workflow nine-step, by the number of their step.
var steps = []string{"INIT", "REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "TESTING", "REVIEW", "OPTIMISATION",
	"RELEASE", "SYNTHESIS"}

// entry is a session in a list of sessions.
type entry struct {
	ID, Topic, Description, Status, Directory string
	Step                                      int    `json:"current_step"`
	Branch                                    string `json:"git_branch"`
	Resumable                                 *bool
}

func (e entry) goal() string { return e.Topic + e.Description }

// why says why the session cannot be continued, "" if it can.
func (e entry) why() string {
	switch e.Status {
	case "active", "interrupted", "paused":
		if e.Resumable != nil && !*e.Resumable {
			return "was abandoned there"
		}
		return ""
	case "completed":
		return "is completed: there is nothing to continue"
	case "failed":
		return "failed there, and cannot be continued"
	}
	return fmt.Sprintf("cannot be continued: its status is %q", e.Status)
}

// choose returns the session to continue: the wanted one, else `active`, else the only one that can be continued.
func (r reader) choose(list []entry, active string) (entry, error) {
	open := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return e.why() != "" })
	var ids []string
	for _, e := range open {
		ids = append(ids, e.ID)
	}
	want := r.want
	if want == "" && slices.Contains(ids, active) {
		want = active
	}
	if want == "" && len(open) == 1 {
		want = ids[0]
	}
	for _, e := range list {
		if e.ID != want || want == "" {
			continue
		}
		if why := e.why(); why != "" {
			return e, &Refused{Why: fmt.Sprintf("session %s %s", e.ID, why), Goal: e.goal(), Choose: ids}
		}
		return e, nil
	}
	switch {
	case want != "":
		return entry{}, &Refused{Why: fmt.Sprintf("%s has no session %s", r.name, want), Choose: ids}
	case len(open) == 0 && len(list) == 1:
		return entry{}, &Refused{Why: fmt.Sprintf("session %s %s", list[0].ID, list[0].why()), Goal: list[0].goal()}
	case len(open) == 0:
		return entry{}, &Refused{Why: r.name + " has no session that can be continued"}
	}
	return entry{}, &Refused{Why: fmt.Sprintf("%s has %d sessions that can be continued: %s", r.name, len(open),
		strings.Join(ids, ", ")), Choose: ids}
}

// steps reads sessions.json of a manager of teams with nine steps, and the live state in the session's directory.
func (r reader) steps(text []byte) (*State, error) {
	var f struct {
		Sessions []entry
		Active   string `json:"last_active_session"`
	}
	if err := r.decode(text, &f, "sessions"); err != nil {
		return nil, err
	}
	e, err := r.choose(f.Sessions, f.Active)
	if err != nil {
		return nil, err
	}
	if e.Step < 1 || e.Step > len(steps) || e.Topic == "" {
		return nil, r.refuse("%s is damaged: session %s has no topic, or no step from 1 to %d", r.name, e.ID, len(steps))
	}
	s := &State{ID: e.ID, Goal: strings.ReplaceAll(e.Topic, "-", " "), Workflow: "nine-step", Phase: steps[e.Step-1],
		Branch: e.Branch}
	for _, other := range f.Sessions {
		if dir := filepath.Base(other.ID); dir != "." && dir != ".." {
			s.Own = append(s.Own, filepath.Join(r.dir, dir))
		}
	}
	live := filepath.Join(r.dir, filepath.Base(e.ID), "state.json")
	var l struct {
		Context struct {
			Pending []string `json:"pending_tasks"`
			File    string   `json:"current_file"`
		}
		Outputs struct{ Spec, Architecture string }
	}
	text, err = read(live)
	if err == nil {
		err = (reader{name: "state.json"}).decode(text, &l)
	}
	if err != nil {
		s.Missing = append(s.Missing, live)
		return s, nil
	}
	s.document(r, "requirements.md", l.Outputs.Spec)
	s.document(r, "architecture.md", l.Outputs.Architecture)
	if l.Context.File != "" {
		s.Note = append(s.Note, "It was working on "+l.Context.File+".")
	}
	for _, task := range l.Context.Pending[:min(len(l.Context.Pending), 20)] {
		s.Note = append(s.Note, "Not done there: "+task)
	}
	return s, nil
}

// lines reads session_status.jsonl, a list that names the directories of sessions.
func (r reader) lines(text []byte) (*State, error) {
	var list []entry
	active := ""
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.ID == "" {
			return nil, r.refuse("%s is damaged: line %d is no session", r.name, i+1)
		}
		if e.Status == "active" {
			active = e.ID
		}
		list = append(list, e)
	}
	e, err := r.choose(list, active)
	if err != nil {
		return nil, err
	}
	file := r.find(filepath.Join(e.Directory, "workflow-session.json"))
	if file == "" {
		return nil, &Refused{Why: fmt.Sprintf("session %s has no %s", e.ID, filepath.Join(e.Directory,
			"workflow-session.json")), Goal: e.goal()}
	}
	return Read(r.root, file, e.ID)
}
