// Package page is the page of `wfs ui`: an HTTP server on loopback that shows sessions, and runs wfs for what a person
// does there. It changes nothing itself. Everything that an agent or a repository wrote is shown as text.
package page

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/sidebyside"
	"github.com/wfs-dev/wfs/cmd/internal/style"
	"github.com/wfs-dev/wfs/session"
)

//go:embed files
var files embed.FS

// ErrNotFound says that there is no such repository, session or checkpoint.
var ErrNotFound = errors.New("not found")

// Source reads what the page shows. Every call reads the present state, as a new command would.
type Source interface {
	Repositories() []Repo
	Board(context.Context, Repo) ([]Row, error)
	// Session leaves out most of a long history, unless all of it is wanted.
	Session(ctx context.Context, r Repo, id session.ID, all bool) (*Session, error)
	Checkpoint(context.Context, Repo, session.ID, int) (*Checkpoint, error)
	Diff(ctx context.Context, r Repo, id session.ID, from, to string) (*Diff, error)
	State(context.Context, Repo, session.ID) (State, error)
	// Run runs wfs in a repository with these arguments. It returns all that wfs printed, and its exit code.
	Run(ctx context.Context, dir string, args []string) (printed string, exit int, err error)
	// MayDecide returns an error if the process at the other end of a connection is an agent's. `sure` is false if it
	// may be.
	MayDecide(here, there netip.AddrPort) (sure bool, err error)
	// Changes returns the sessions that have changed since the last call, as "repository/session". It asks only for the
	// sizes and times of files, and starts no process.
	Changes() []string
}

// Server serves the page.
type Server struct {
	Source Source
	Now    func() time.Time
	// Say prints a line for the person who started the server.
	Say func(text string)

	listener net.Listener
	root     string // path above all pages. It is random, so that the cookie goes to no other server on this machine
	key      string // value of the cookie
	form     string // stands in every form, so that no other page can post it
	mu       sync.Mutex
	token    string // opens the page once
	pages    map[string]*template.Template
	live     live
	done     results
}

// New returns a server with new secrets that listens at a port of 127.0.0.1; 0 means any free one.
func New(ctx context.Context, source Source, port int, now func() time.Time) (*Server, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	s := &Server{Source: source, Now: now, listener: l, root: "/" + rand.Text()[:12], key: rand.Text(),
		form: rand.Text(), token: rand.Text(), pages: map[string]*template.Template{}}
	s.live.changes, s.live.now = source.Changes, now
	functions := s.functions()
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "files/layout.html"))
	names, _ := fs.Glob(files, "files/*.html")
	for _, name := range names {
		if name = strings.TrimPrefix(name, "files/"); name != "layout.html" {
			s.pages[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, "files/"+name))
		}
	}
	return s, nil
}

// Address returns the address that opens the page, with its token. It is valid for one browser.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("http://%s%s/?token=%s", s.listener.Addr(), s.root, s.token)
}

// Serve answers requests until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	s.live.base = ctx
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }} // ends the streams of events
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.board)
	mux.HandleFunc("GET /events", s.live.serve)
	mux.HandleFunc("GET /{repo}/{id}", s.session)
	mux.HandleFunc("GET /{repo}/{id}/at/{n}", s.checkpoint)
	mux.HandleFunc("GET /{repo}/{id}/diff", s.diff)
	mux.HandleFunc("POST /{repo}/{id}/{action}", s.act)
	mux.HandleFunc("GET /{repo}/{id}/done/{n}", s.result)
	mux.HandleFunc("GET /file/{name}", s.file)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { s.fail(w, ErrNotFound) })
	return s.guarded(http.StripPrefix(s.root, mux))
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := files.ReadFile("files/" + name)
	switch {
	case name == "page.css" && err == nil:
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		text = slices.Concat([]byte(style.Sheet), []byte(sidebyside.Style), text)
	case name == "page.js" && err == nil:
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	case name == "icon.svg" && err == nil:
		w.Header().Set("Content-Type", "image/svg+xml")
	default:
		s.fail(w, ErrNotFound)
		return
	}
	_, _ = w.Write(text)
}

// view is what each template gets.
type view struct {
	Root  string
	Title string
	Up    string // address of the page above this one; "" for the board
	Form  string
	Once  string // a new value for each page: a form that is posted twice acts once
	Watch string // what the page follows: "all", or repository/session
	Data  any
}

func (s *Server) show(w http.ResponseWriter, name string, v view) {
	v.Root, v.Form, v.Once = s.root, s.form, rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var page strings.Builder
	if err := s.pages[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write([]byte(page.String()))
}

type message struct {
	Text  string
	Code  int
	Hints []string // commands to type
}

func (s *Server) refuse(w http.ResponseWriter, code int, text string, hints ...string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_ = s.pages["message.html"].ExecuteTemplate(w, "layout.html", view{Root: s.root, Title: http.StatusText(code),
		Data: message{text, code, hints}})
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	var refused *session.Refusal
	switch code := http.StatusConflict; {
	case errors.As(err, &refused):
		if errors.Is(err, ErrNotFound) {
			code = http.StatusNotFound
		}
		s.refuse(w, code, refused.Message, refused.Hint)
	case errors.Is(err, ErrNotFound):
		s.refuse(w, http.StatusNotFound, "There is no such session or checkpoint (any more).")
	default:
		s.refuse(w, http.StatusInternalServerError, err.Error())
	}
}

// place finds the repository and the session that a request names.
func (s *Server) place(r *http.Request) (Repo, session.ID, error) {
	id, err := session.ParseID(r.PathValue("id"))
	if err != nil || string(id) != r.PathValue("id") {
		return Repo{}, "", ErrNotFound
	}
	for _, repo := range s.Source.Repositories() {
		if repo.Key == r.PathValue("repo") && !repo.Gone {
			return repo, id, nil
		}
	}
	return Repo{}, "", ErrNotFound
}

func (s *Server) board(w http.ResponseWriter, r *http.Request) {
	s.show(w, "board.html", view{Title: "Sessions", Watch: "all", Data: s.boards(r.Context())})
}

func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	repo, id, err := s.place(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	d, err := s.Source.Session(r.Context(), repo, id, r.FormValue("all") != "")
	if err != nil {
		s.fail(w, err)
		return
	}
	s.show(w, "session.html", view{Title: string(id) + ": " + string(d.Story.Status), Up: s.root + "/",
		Watch: repo.Key + "/" + string(id), Data: d})
}

func (s *Server) checkpoint(w http.ResponseWriter, r *http.Request) {
	repo, id, err := s.place(r)
	n, e := strconv.Atoi(r.PathValue("n"))
	if err != nil || e != nil {
		s.fail(w, ErrNotFound)
		return
	}
	d, err := s.Source.Checkpoint(r.Context(), repo, id, n)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.show(w, "checkpoint.html", view{Title: fmt.Sprintf("%s@%d", id, n), Up: s.url(repo, id), Data: d})
}

func (s *Server) diff(w http.ResponseWriter, r *http.Request) {
	repo, id, err := s.place(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	d, err := s.Source.Diff(r.Context(), repo, id, r.FormValue("from"), r.FormValue("to"))
	if err != nil {
		s.fail(w, err)
		return
	}
	s.show(w, "diff.html", view{Title: "Changes of " + string(id), Up: s.url(repo, id), Data: d})
}
