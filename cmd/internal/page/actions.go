package page

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// action is what a form does: a command of wfs.
type action struct {
	args func(id session.ID, form url.Values) []string
	// previewed actions are tried with --dry-run first; a second form does them
	previewed bool
	// anytime says that the action also makes sense if the session has moved on since the page was loaded
	anytime bool
	// harmless during a run: wfs itself says of such a note that it may be an agent's
	harmless bool
	// answers says that the action is about all that the page has shown, also about edits in the work tree
	answers bool
}

var actions = map[string]action{
	"approve": {answers: true, args: func(id session.ID, f url.Values) []string {
		return withMessage("approve", id, f)
	}},
	"reject": {answers: true, args: func(id session.ID, f url.Values) []string {
		return withMessage("reject", id, f)
	}},
	"note": {anytime: true, harmless: true, args: func(id session.ID, f url.Values) []string {
		return append([]string{"note", "--message=" + remarks(f), "--"}, string(id))
	}},
	"stop": {anytime: true, harmless: true, args: func(id session.ID, f url.Values) []string {
		args := []string{"stop"}
		if f.Get("now") != "" {
			args = append(args, "--now")
		}
		return append(args, string(id))
	}},
	"run": {args: func(id session.ID, _ url.Values) []string { return []string{"run", "--detach", string(id)} }},
	"fork": {anytime: true, args: func(id session.ID, f url.Values) []string {
		args := []string{"fork"}
		if f.Get("worktree") != "" {
			args = append(args, "--worktree")
		}
		args = append(args, "--", at(id, f))
		if name := f.Get("name"); name != "" {
			args = append(args, name)
		}
		return args
	}},
	"resume": {previewed: true, args: func(id session.ID, f url.Values) []string {
		return []string{"resume", at(id, f)}
	}},
	"finish": {previewed: true, args: func(id session.ID, f url.Values) []string {
		args := []string{"finish"}
		if branch := f.Get("branch"); branch != "" {
			args = append(args, "--branch="+branch)
		}
		return append(args, string(id))
	}},
	"undo": {previewed: true, args: func(id session.ID, _ url.Values) []string { return []string{"undo", string(id)} }},
}

func at(id session.ID, f url.Values) string { return string(id) + "@" + cmp.Or(f.Get("at"), "0") }

// withMessage answers what the page has shown, and nothing that the session asks by now.
func withMessage(verb string, id session.ID, f url.Values) []string {
	args := []string{verb}
	if text := remarks(f); text != "" {
		args = append(args, "--message="+text)
	}
	return append(args, at(id, f))
}

// remarks returns the text of a form, followed by its comments on lines.
func remarks(f url.Values) string {
	text := []string{strings.TrimSpace(f.Get("text"))}
	for i, comment := range f["comment"] {
		if comment = strings.TrimSpace(comment); comment == "" || i >= len(f["line"]) {
			continue
		}
		text = append(text, f["line"][i]+"\n  "+strings.ReplaceAll(comment, "\n", "\n  "))
	}
	return strings.TrimSpace(strings.Join(text, "\n\n"))
}

// outcome is what a command that a form ran has printed.
type outcome struct {
	Repo    Repo
	ID      session.ID
	Command string
	Printed string
	Exit    int
	Confirm url.Values // the form again, if this was a preview
	Action  string
	ran     bool
	ready   chan struct{}
}

// results has the newest outcomes. A form that is posted twice, by a double click, acts once.
type results struct {
	sync.Mutex
	list   []*outcome
	number map[string]int // by the form's `once`
}

// add returns the number of the outcome for a form, and whether it is new.
func (d *results) add(once string) (n int, o *outcome, fresh bool) {
	d.Lock()
	defer d.Unlock()
	if n, ok := d.number[once]; ok && once != "" {
		return n, d.list[n], false
	}
	if d.number == nil {
		d.number = map[string]int{}
	}
	d.list = append(d.list, &outcome{ready: make(chan struct{})})
	d.number[once] = len(d.list) - 1
	return len(d.list) - 1, d.list[len(d.list)-1], true
}

func (d *results) forget(once string) {
	d.Lock()
	defer d.Unlock()
	delete(d.number, once)
}

func (d *results) get(n int) *outcome {
	d.Lock()
	defer d.Unlock()
	if n < 0 || n >= len(d.list) {
		return nil
	}
	return d.list[n]
}

func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	repo, id, err := s.place(r)
	name := r.PathValue("action")
	do, known := actions[name]
	if err != nil || !known {
		s.fail(w, ErrNotFound)
		return
	}
	ctx, form := r.Context(), r.PostForm
	n, o, fresh := s.done.add(form.Get("once"))
	if fresh {
		*o = outcome{Repo: repo, ID: id, Action: name, ready: o.ready}
		defer close(o.ready)
		if err := s.do(r, o, do, form); err != nil {
			o.Exit, o.Printed = 1, err.Error()
		}
		if !o.ran { // the same form may be right later, or from somebody else
			s.done.forget(form.Get("once"))
		}
	} else {
		select {
		case <-o.ready:
		case <-ctx.Done():
			return
		}
	}
	http.Redirect(w, r, s.url(repo, id)+"/done/"+strconv.Itoa(n), http.StatusSeeOther)
}

// do runs the command of a form.
func (s *Server) do(r *http.Request, o *outcome, do action, form url.Values) error {
	now, err := s.Source.State(r.Context(), o.Repo, o.ID)
	if err != nil {
		return err
	}
	here, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	there, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return err
	}
	sure, err := s.Source.MayDecide(here.AddrPort(), there)
	if err != nil {
		s.Say("refused: a process of a run wanted to " + o.Action + " " + string(o.ID))
		return err
	}
	seen, _, _ := strings.Cut(form.Get("seen"), " ")
	switch {
	case do.answers && form.Get("seen") != now.Seen(), !do.anytime && seen != strconv.FormatInt(now.Seq, 10):
		o.Exit = 1
		o.Printed = "The session or its files have changed since that page was loaded. Nothing was done: look at it again first."
		return nil
	}
	args := do.args(o.ID, form)
	if do.previewed && form.Get("sure") == "" {
		args = slices.Insert(args, 1, "--dry-run")
		o.Confirm = form
	}
	words := []string{"wfs"}
	for _, a := range args {
		words = append(words, safetext.ShellWord(a))
	}
	o.Command = strings.Join(words, " ")
	if !sure && !(do.harmless && now.Driven) {
		o.Exit, o.Confirm = 1, nil
		o.Printed = "Nothing was done: a run is in progress, and over this connection wfs cannot tell whether you or its agent\n" +
			"asks for this. Type the command in a terminal, or wait until the run has ended."
		return nil
	}
	o.ran = true
	// not r.Context(): a browser that closes its tab must not cut a command off
	o.Printed, o.Exit, err = s.Source.Run(s.live.background(), o.Repo.Dir, args)
	if err == nil && o.Exit != 0 {
		o.Confirm = nil
	}
	return err
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	o := s.done.get(n)
	if err != nil || o == nil {
		s.fail(w, ErrNotFound)
		return
	}
	<-o.ready
	s.show(w, "done.html", view{Title: fmt.Sprintf("%s of %s", o.Action, o.ID), Up: s.url(o.Repo, o.ID), Data: o})
}
