package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/cmd/internal/page"
	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// uiSource reads for the page of wfs ui what the commands that print it would read. Each request opens the repository
// anew, so that it sees what other processes have done.
type uiSource struct {
	*app
	here  string   // the repository of the working directory, "" for none
	known sync.Map // see history.Reader

	mu     sync.Mutex
	repos  map[string]*uiRepo // all that the page has shown, by key
	shown  []*uiRepo          // those that it showed last
	stamps map[string]string  // of the last look, by repository/session
}

// uiRepo is a repository on the page.
type uiRepo struct {
	page.Repo
	clone *registry.Clone

	mu   sync.Mutex
	look *registry.Stamps
	rows map[session.ID]boardRow
}

// boardRow is a row of the board, right as long as the session's files have this stamp.
type boardRow struct {
	stamp string
	row   page.Row
}

func (r *uiRepo) stamp(id session.ID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look.Of(id)
}

// remember returns a session's row, read again only if its files have changed.
func (r *uiRepo) remember(id session.ID, tip session.Commit, read func() present.Session) present.Session {
	stamp := string(tip) + r.stamp(id)
	r.mu.Lock()
	kept, found := r.rows[id]
	r.mu.Unlock()
	if !found || kept.stamp != stamp {
		kept = boardRow{stamp, read()}
		r.mu.Lock()
		r.rows[id] = kept
		r.mu.Unlock()
	}
	return kept.row
}

// at returns a command line of its own in a directory. What it prints goes to `out`.
func (u *uiSource) at(ctx context.Context, dir string, out io.Writer) (*app, error) {
	env := u.env
	env.Dir, env.Stdin, env.Stdout, env.Stderr = dir, strings.NewReader(""), out, io.Discard
	env.StdinTTY, env.StdoutTTY, env.StderrTTY = false, false, false
	a := newApp(env, u.signals)
	a.env.Color, a.env.Width = "never", 100
	if err := a.Open(ctx); err != nil {
		return a, err
	}
	a.Engine.Known = &u.known
	return a, nil
}

// Repositories returns the repository of the working directory, and all others in which the user has trusted commands.
func (u *uiSource) Repositories() []page.Repo {
	var dirs []string
	var gone []page.Repo
	if u.here != "" {
		dirs = append(dirs, u.here)
	}
	if store, err := u.TrustStore(); err == nil {
		all, _ := store.Repositories() // the page shows the others
		for _, dir := range all {
			switch {
			case dir == u.here:
			case isDir(dir):
				dirs = append(dirs, dir)
			default:
				gone = append(gone, page.Repo{Dir: dir, Gone: true})
			}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = nil
	named := map[string]int{}
	for _, dir := range dirs {
		r := u.repo(dir)
		u.shown = append(u.shown, r)
		named[filepath.Base(r.Dir)]++
	}
	var list []page.Repo
	for _, r := range u.shown {
		if r.Name = filepath.Base(r.Dir); named[r.Name] > 1 {
			r.Name = r.Dir
		}
		list = append(list, r.Repo)
	}
	return append(list, gone...)
}

// repo returns the repository with this common directory. The caller holds the lock.
func (u *uiSource) repo(common string) *uiRepo {
	sum := sha256.Sum256([]byte(common))
	key := hex.EncodeToString(sum[:6])
	if u.repos[key] == nil {
		r := &uiRepo{clone: registry.Open(filepath.Join(common, "wfs")), rows: map[session.ID]boardRow{}}
		r.look = &registry.Stamps{Clone: r.clone}
		if r.Key, r.Dir = key, common; filepath.Base(common) == ".git" {
			r.Dir = filepath.Dir(common)
		}
		u.repos[key] = r
	}
	return u.repos[key]
}

// Board returns the sessions of a repository. It reads only those again whose files have changed.
func (u *uiSource) Board(ctx context.Context, r page.Repo) ([]page.Row, error) {
	a, err := u.at(ctx, r.Dir, io.Discard)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	u.mu.Lock()
	repo := u.repos[r.Key]
	u.mu.Unlock()
	return (&listVerb{app: a, remember: repo.remember}).sessions(ctx, false)
}

// Run runs wfs itself, as if it was typed in a directory.
func (u *uiSource) Run(ctx context.Context, dir string, args []string) (string, int, error) {
	argv := append([]string{u.env.Exe, "-C", dir, "--color=never"}, args...)
	out, errs, exit, err := proc.Output(ctx, proc.Cmd{Argv: argv, Dir: dir, Env: u.env.Environ})
	return strings.TrimSpace(string(errs) + string(out)), exit, err
}

// Changes returns the sessions of all repositories on the page whose files have changed since the last call.
func (u *uiSource) Changes() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := map[string]string{}
	for _, r := range u.shown {
		ids, _ := r.clone.Sessions() // the repository may have been removed
		for _, id := range ids {
			now[r.Key+"/"+string(id)] = r.stamp(id)
		}
	}
	var changed []string
	for name, stamp := range now {
		if u.stamps[name] != stamp {
			changed = append(changed, name)
		}
	}
	for name := range u.stamps {
		if _, there := now[name]; !there {
			changed = append(changed, name)
		}
	}
	u.stamps = now
	return changed
}

// MayDecide refuses a process that belongs to a run of any repository on the page: its agent must not approve its own
// work. While a run is in progress, `sure` is false if wfs cannot tell which process asks.
func (u *uiSource) MayDecide(here, there netip.AddrPort) (sure bool, err error) {
	peers := proc.Peer(here, there)
	var above []int
	for _, pid := range peers {
		above = append(above, proc.AboveOf(pid)...)
	}
	u.Repositories() // some may be new
	u.mu.Lock()
	defer u.mu.Unlock()
	running := false
	for _, r := range u.shown {
		agents, err := workspace.AnyRun(r.clone, func(pid int) bool {
			running = true
			return slices.Contains(above, pid)
		})
		if err != nil {
			return false, err
		}
		if agents {
			return false, workspace.ByAgent("wfs ui")
		}
	}
	return len(peers) > 0 || !running, nil
}
