// Package statefile reads the state that other session managers keep in files, so that wfs can continue their work. It
// changes nothing, and believes nothing: what a file calls done is only reported.
package statefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// State is the work of another session manager, in the words of wfs.
type State struct {
	ID         string     // the session's name there
	File       string     // name of the file that has its state
	Goal       string     // never ""
	Spec       string     // path of the specification, absolute; "" for none
	Workflow   string     // built-in workflow with the same phases
	Complexity string     // "" for workflows without
	Phase      string     // phase of that workflow in which it stands
	Branch     string     // git branch with the work, "" if the file names none
	Documents  []Document // documents that the next phases need
	Note       []string   // lines for the next attempt
	Missing    []string   // files that it names and that cannot be read
	Own        []string   // files and directories that hold the state itself
}

// Document is a document of a session, with the name that the workflow has for it.
type Document struct {
	Name string
	Text []byte
}

// Refused is an error that says why a state cannot be continued.
type Refused struct {
	Why        string
	Goal, Spec string   // of the state, as far as they are known
	Choose     []string // the sessions from which one has to be chosen
}

func (r *Refused) Error() string { return r.Why }

// maxFile is the maximum size in bytes of a file that is read.
const maxFile = 1 << 20

// Names are the file names of states, in the order in which a directory is searched for them.
var Names = []string{"loop-state.json", "workflow-session.json", "sessions.json", "session_status.jsonl"}

// Read reads a state file, or the one in a directory. `root` is the top of the work tree. `id` chooses a session of a
// file with several; "" takes the active one, or the only one that can be continued. Errors about the content are
// Refused.
func Read(root, file, id string) (*State, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		for _, name := range Names {
			if _, err := os.Stat(filepath.Join(file, name)); err == nil {
				return Read(root, filepath.Join(file, name), id)
			}
		}
		return nil, &Refused{Why: fmt.Sprintf("%s has none of %s", file, strings.Join(Names, ", "))}
	}
	r := reader{root: root, dir: filepath.Dir(file), name: filepath.Base(file), want: id}
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	var s *State
	switch r.name {
	case "session_status.jsonl":
		if s, err = r.lines(text); err == nil {
			s.Own = append(s.Own, file)
		}
		return s, err
	case "loop-state.json":
		s, err = r.loop(text)
	case "workflow-session.json":
		s, err = r.phases(text)
	case "sessions.json":
		s, err = r.steps(text)
	default:
		return nil, &Refused{Why: fmt.Sprintf("%s is not the name of a state that wfs knows: %s", r.name,
			strings.Join(Names, ", "))}
	}
	if err == nil && id != "" && s.ID != id {
		return nil, &Refused{Why: fmt.Sprintf("%s has the session %s, not %s", r.name, s.ID, id), Choose: []string{s.ID}}
	}
	if err == nil {
		s.File, s.Own = r.name, append(s.Own, file)
	}
	return s, err
}

// reader has what the readers of all kinds need.
type reader struct{ root, dir, name, want string }

func (r reader) refuse(format string, args ...any) *Refused {
	return &Refused{Why: fmt.Sprintf(format, args...)}
}

// decode reads JSON. A file that is damaged, or lacks one of the named fields, is refused.
func (r reader) decode(text []byte, to any, required ...string) error {
	var fields map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &fields), json.Unmarshal(text, to)); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return r.refuse("%s is damaged: %s", r.name, first)
	}
	for _, name := range required {
		if v, has := fields[name]; !has || string(v) == "null" || string(v) == `""` {
			return r.refuse("%s is damaged: it has no %s", r.name, name)
		}
	}
	return nil
}

// oneOf refuses a value that a field cannot have.
func (r reader) oneOf(field, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return r.refuse("%s is damaged: its %s is %q, not one of %s", r.name, field, value, strings.Join(known, ", "))
}

// find returns the absolute path of an existing regular file that a state names, relative to the top of the work tree
// or to the directory above the state's. It returns "" for none, and for files outside of the work tree.
func (r reader) find(name string) string {
	if name == "" || strings.ContainsAny(name, "\n\x00") {
		return ""
	}
	for _, base := range []string{r.root, r.dir, filepath.Dir(r.dir)} {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, name)
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		top, err := filepath.EvalSymlinks(r.root)
		if err != nil {
			continue
		}
		if in, err := filepath.Rel(top, real); err != nil || !filepath.IsLocal(in) {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// document adds a document: the file that `from` names, or `from` itself if it is a text of several lines.
func (s *State) document(r reader, name, from string) {
	switch path := r.find(from); {
	case path != "":
		text, err := read(path)
		if err != nil {
			s.Missing = append(s.Missing, from)
			return
		}
		s.add(name, text)
	case strings.Contains(from, "\n"):
		s.add(name, []byte(from))
	case from != "":
		s.Missing = append(s.Missing, from)
	}
}

// add appends a document, or its text to the document of that name.
func (s *State) add(name string, text []byte) {
	text = append(bytes.TrimRight(text, "\n"), '\n')
	for i := range s.Documents {
		if d := &s.Documents[i]; d.Name == name {
			d.Text = append(append(d.Text, '\n'), text...)
			return
		}
	}
	s.Documents = append(s.Documents, Document{name, text})
}

// read reads a regular file that is not too large.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &Refused{Why: path + " is no regular file"}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(text) > maxFile {
		return nil, &Refused{Why: fmt.Sprintf("%s is larger than %d bytes", path, maxFile)}
	}
	return text, err
}

// loop reads loop-state.json of a loop of RED, GREEN, REFACTOR and DOCUMENT.
func (r reader) loop(text []byte) (*State, error) {
	var f struct {
		ID        string            `json:"session_id"`
		Spec      string            `json:"prp_file"`
		Phase     string            `json:"current_phase"`
		Iteration int               `json:"current_iteration"`
		Status    string            `json:"status"`
		Halt      string            `json:"halt_reason"`
		Errors    []json.RawMessage `json:"error_history"`
	}
	err := r.decode(text, &f, "session_id", "prp_file", "started_at", "current_phase", "status")
	if err != nil {
		return nil, err
	}
	s := &State{ID: f.ID, Workflow: "tdd-docs", Phase: f.Phase, Spec: r.find(f.Spec)}
	base := filepath.Base(f.Spec)
	s.Goal = strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), "-", " ")
	if s.Spec == "" {
		s.Missing = append(s.Missing, f.Spec)
	} else if doc, err := read(s.Spec); err == nil {
		s.Goal = cmp.Or(heading(doc), s.Goal)
	}
	stop := func(format string, args ...any) error {
		return &Refused{Why: fmt.Sprintf(format, args...), Goal: s.Goal, Spec: s.Spec}
	}
	switch f.Status {
	case "running", "paused", "suspended":
	case "completed":
		return nil, stop("session %s is completed: there is nothing to continue", f.ID)
	case "halted":
		return nil, stop("session %s was halted there: %s", f.ID, cmp.Or(f.Halt, "its circuit breaker is open"))
	default:
		return nil, stop("session %s cannot be continued: its status is %q", f.ID, f.Status)
	}
	if err := r.oneOf("current_phase", f.Phase, "RED", "GREEN", "REFACTOR", "DOCUMENT"); err != nil {
		return nil, err
	}
	for _, name := range []string{"circuit-breaker.json", "metrics.json", "rate-limit.json", "dual-gate.json",
		"phase-status.log"} {
		s.Own = append(s.Own, filepath.Join(r.dir, name))
	}
	breaker, err := read(filepath.Join(r.dir, "circuit-breaker.json"))
	if err == nil {
		var b struct{ State, Open_reason string }
		if err := (reader{name: "circuit-breaker.json"}).decode(breaker, &b, "state"); err != nil {
			return nil, err
		}
		if strings.EqualFold(b.State, "OPEN") {
			return nil, stop("session %s was halted there: its circuit breaker is open (%s)", f.ID,
				cmp.Or(b.Open_reason, "no reason given"))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.Note = append(s.Note, fmt.Sprintf("It was in iteration %d, and had recorded %d errors.", f.Iteration, len(f.Errors)))
	return s, nil
}

// heading returns the first heading of a Markdown document, "" for none.
func heading(doc []byte) string {
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// phases reads workflow-session.json of a session with the phases PLAN, IMPLEMENT and REVIEW.
func (r reader) phases(text []byte) (*State, error) {
	var f struct {
		ID          string `json:"session_id"`
		Version     string `json:"session_version"`
		Project     string `json:"project"`
		Type        string `json:"type"`
		Phase       string `json:"current_phase"`
		Status      string `json:"status"`
		Checkpoints struct {
			Plan      struct{ Documents []string }
			Implement struct {
				Todos struct{ Total, Completed int }
			}
		}
	}
	if err := r.decode(text, &f, "session_id", "project", "type", "current_phase", "status"); err != nil {
		return nil, err
	}
	if v := f.Version; v != "" && v != "2" && !strings.HasPrefix(v, "2.") {
		return nil, r.refuse("%s has the version %s, and wfs knows version 2", r.name, v)
	}
	if f.Status == "completed" {
		return nil, &Refused{Why: fmt.Sprintf("session %s is completed: there is nothing to continue", f.ID), Goal: f.Project}
	}
	err := errors.Join(r.oneOf("status", f.Status, "active", "paused"),
		r.oneOf("type", f.Type, "simple", "medium", "complex"),
		r.oneOf("current_phase", f.Phase, "PLAN", "IMPLEMENT", "REVIEW"))
	if err != nil {
		return nil, err
	}
	s := &State{ID: f.ID, Goal: f.Project, Workflow: "plan", Complexity: f.Type, Phase: f.Phase}
	if f.Type == "simple" && f.Phase == "PLAN" {
		s.Phase = "IMPLEMENT"
	}
	for _, name := range f.Checkpoints.Plan.Documents {
		if strings.Contains(name, "\n") {
			continue
		}
		as := filepath.Base(name)
		switch {
		case as == "IMPL_PLAN.md", as == "TASK_BREAKDOWN.md" && f.Type != "complex":
			as = "plan.md"
		case as == "TASK_BREAKDOWN.md":
			as = "tasks.md"
		}
		from := filepath.Join(r.dir, as)
		if r.find(filepath.Join(r.dir, name)) != "" || !filepath.IsAbs(name) {
			from = filepath.Join(r.dir, name)
		}
		s.document(r, as, from)
	}
	if filepath.Base(r.dir) == f.ID {
		s.Own = append(s.Own, r.dir)
	}
	if n := f.Checkpoints.Implement.Todos; n.Total > 0 {
		s.Note = append(s.Note, fmt.Sprintf("It counted %d of %d tasks as done.", n.Completed, n.Total))
	}
	return s, nil
}
