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
	// needs is what must be as the page showed it
	needs needs
	// previewed actions are tried with --dry-run first; a second form does them
	previewed bool
	// perhapsAgent says that an agent may do it while a run drives the session: wfs says of such a note that it may be
	// the agent's
	perhapsAgent bool
}

type needs int

const (
	nothing     needs = iota // the action makes sense whatever has happened since
	sameSession              // no event
	sameFiles                // no event, and no edit in the work tree: the action is about all that the page showed
)

var actions = map[string]action{
	"approve": {needs: sameFiles, args: func(id session.ID, f url.Values) []string { return answer("approve", id, f) }},
	"reject":  {needs: sameFiles, args: func(id session.ID, f url.Values) []string { return answer("reject", id, f) }},
	"note": {perhapsAgent: true, args: func(id session.ID, f url.Values) []string {
		return []string{"note", "--message=" + remarks(f), "--", string(id)}
	}},
	"stop": {perhapsAgent: true, args: func(id session.ID, f url.Values) []string {
		if f.Get("now") != "" {
			return []string{"stop", "--now", string(id)}
		}
		return []string{"stop", string(id)}
	}},
	"run": {needs: sameSession, args: func(id session.ID, _ url.Values) []string {
		return []string{"run", "--detach", string(id)}
	}},
	"again": {needs: sameSession, args: func(id session.ID, _ url.Values) []string {
		return []string{"run", "--detach", "--reset-breaker", string(id)}
	}},
	"fork": {args: func(id session.ID, f url.Values) []string {
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
	"resume": {needs: sameSession, previewed: true, args: func(id session.ID, f url.Values) []string {
		return []string{"resume", at(id, f)}
	}},
	"switch": {needs: sameSession, previewed: true, args: func(id session.ID, _ url.Values) []string {
		return []string{"switch", string(id)}
	}},
	"finish": {needs: sameSession, previewed: true, args: func(id session.ID, _ url.Values) []string {
		return []string{"finish", string(id)}
	}},
	"undo": {needs: sameSession, previewed: true, args: func(id session.ID, _ url.Values) []string {
		return []string{"undo", string(id)}
	}},
}

func at(id session.ID, f url.Values) string { return string(id) + "@" + cmp.Or(f.Get("at"), "0") }

// answer is about the checkpoint that the page showed.
func answer(verb string, id session.ID, f url.Values) []string {
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

// outcome is what became of a form.
type outcome struct {
	Repo    Repo
	ID      session.ID
	Action  string
	Command string // as a person would type it
	Printed string
	Exit    int
	Confirm url.Values // the form again, if this was a preview
	ran     bool
	ready   chan struct{} // closed when the outcome is there
}

// results has all outcomes. A form that is posted twice, by a double click, acts once.
type results struct {
	sync.Mutex
	list   []*outcome
	number map[string]int // by the form's `once`
}

// add adds a new outcome, unless there is one for the same form. It returns its number, and the older one if there is.
func (d *results) add(once string, o *outcome) (n int, older *outcome) {
	d.Lock()
	defer d.Unlock()
	if n, ok := d.number[once]; ok && once != "" {
		return n, d.list[n]
	}
	if d.number == nil {
		d.number = map[string]int{}
	}
	d.list = append(d.list, o)
	d.number[once] = len(d.list) - 1
	return len(d.list) - 1, nil
}

// forget lets the same form act again.
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
	once := r.PostForm.Get("once")
	o := &outcome{Repo: repo, ID: id, Action: name, ready: make(chan struct{})}
	n, older := s.done.add(once, o)
	if older == nil {
		defer close(o.ready)
		if err := s.do(r, o, do); err != nil {
			o.Exit, o.Printed = 1, err.Error()
		}
		if !o.ran { // the same form may be right later, or from somebody else
			s.done.forget(once)
		}
	}
	http.Redirect(w, r, s.url(repo, id)+"/done/"+strconv.Itoa(n), http.StatusSeeOther)
}

// do runs the command of a form.
func (s *Server) do(r *http.Request, o *outcome, do action) error {
	form := r.PostForm
	now, err := s.Source.State(r.Context(), o.Repo, o.ID)
	if err != nil {
		return err
	}
	sure, err := s.mayDecide(r)
	if err != nil {
		s.Say("refused: a process of a run wanted to " + o.Action + " " + string(o.ID))
		return err
	}
	event, _, _ := strings.Cut(form.Get("seen"), " ")
	if do.needs == sameFiles && form.Get("seen") != now.Seen() ||
		do.needs == sameSession && event != strconv.FormatInt(now.Seq, 10) {
		o.Exit, o.Printed = 1, "The session or its files have changed since that page was loaded. Nothing was done: "+
			"look at it again first."
		return nil
	}
	args := do.args(o.ID, form)
	preview := do.previewed && form.Get("sure") == ""
	if preview {
		args = slices.Insert(args, 1, "--dry-run")
	}
	o.Command = typed(args)
	if !sure && !(do.perhapsAgent && now.Driven) {
		o.Exit, o.Printed = 1, "Nothing was done: a run is in progress, and over this connection wfs cannot tell "+
			"whether you or its agent\nasks for this. Type the command in a terminal, or wait until the run has ended."
		return nil
	}
	o.ran = true
	// with the life of the server: a browser that closes its tab must not cut a command off
	o.Printed, o.Exit, err = s.Source.Run(s.live.base, o.Repo.Dir, args)
	if err == nil && o.Exit == 0 && preview {
		o.Confirm = form
	}
	return err
}

// mayDecide is MayDecide of the connection of a request.
func (s *Server) mayDecide(r *http.Request) (sure bool, err error) {
	here, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	there, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false, err
	}
	return s.Source.MayDecide(here.AddrPort(), there)
}

// typed returns a command line as a person would type it.
func typed(args []string) string {
	words := []string{"wfs"}
	for _, a := range args {
		flag := ""
		if name, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "--") {
			flag, a = name+"=", value
		}
		if !strings.HasPrefix(a, "--") || strings.ContainsAny(a, " \n'\"") {
			a = safetext.ShellWord(a)
		}
		words = append(words, flag+a)
	}
	return strings.Join(words, " ")
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
