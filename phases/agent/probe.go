package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/workflows"
)

// probeTimeout limits how long an agent's program may take to print its version or its login state. A Node program on
// a busy machine took 16 s for its first start.
const probeTimeout = 20 * time.Second

// maxCached limits the cache file, in bytes. It has a few hundred bytes for each agent.
const maxCached = 1 << 20

// Prober runs the programs of agents to find out their versions, and whether a user is logged in.
type Prober struct {
	Environ []string // environment of wfs; programs see the part that their cards allow
	Cache   string   // path of the cache file for versions; "": no cache
}

// Installed describes an agent's program.
type Installed struct {
	Path    string // "" if it is not installed
	Version string // "" if unknown
	Problem string // the reason on one line if the version is unknown
}

// probed is a cached version. It is valid while the program is the same file. Size and time do not suffice to
// recognise the file, because all files of npm packages have the same time.
type probed struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"` // in nanoseconds
	Inode   uint64 `json:"inode,omitempty"`
	Version string `json:"version"`
}

// Find looks up an agent's program and returns its path and version. It runs the program only if the version is not in
// the cache.
func (p *Prober) Find(ctx context.Context, c *workflows.Card) Installed {
	env := p.env(c)
	path, err := proc.LookPath(c.Command[0], process.Value(env, "PATH"))
	if err != nil {
		return Installed{}
	}
	in := Installed{Path: path}
	if len(c.Probe) == 0 {
		return in
	}
	now, known := sameProgram(path)
	key := path + "\x00" + strings.Join(c.Probe, " ")
	cached := p.cached()
	if known {
		if was, ok := cached[key]; ok && was.Size == now.Size && was.ModTime == now.ModTime && was.Inode == now.Inode {
			in.Version = was.Version
			return in
		}
	}
	out, errs, exit, err := p.ask(ctx, c.Probe, env)
	switch in.Version = process.Shown(workflows.VersionIn(out + "\n" + errs)); {
	case err != nil:
		in.Problem = process.Reason(err)
	case exit != 0:
		in.Version, in.Problem = "", "it exited with code "+strconv.Itoa(exit)+" when run for its version"
	case in.Version == "":
		in.Problem = "it does not print its version"
	case known && p.Cache != "":
		now.Version = in.Version
		cached[key] = now
		p.remember(cached)
	}
	return in
}

// LoggedIn finds out whether a user is logged in to an agent. `known` is false if the card has no command for that, or
// if the command could not run.
func (p *Prober) LoggedIn(ctx context.Context, c *workflows.Card) (yes, known bool) {
	if len(c.LoggedIn) == 0 {
		return false, false
	}
	_, _, exit, err := p.ask(ctx, c.LoggedIn, p.env(c))
	return exit == 0, err == nil
}

func (p *Prober) ask(ctx context.Context, argv, env []string) (stdout, stderr string, exit int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, errors.New("it did not answer in "+probeTimeout.String()))
	defer cancel()
	dir, err := os.MkdirTemp("", "wfs-probe-") // a repository may have settings for the agent
	if err != nil {
		return "", "", -1, err
	}
	defer os.RemoveAll(dir)
	out, errs, exit, err := proc.Output(ctx, proc.Cmd{Argv: argv, Dir: dir, Env: env})
	return string(out), string(errs), exit, err
}

func (p *Prober) env(c *workflows.Card) []string {
	return append(process.DefaultEnv(p.Environ, c.Env), c.Environ(nil)...)
}

func (p *Prober) cached() map[string]probed {
	all := map[string]probed{}
	if text, err := durable.ReadFile(p.Cache, maxCached); err != nil || json.Unmarshal(text, &all) != nil || all == nil {
		return map[string]probed{}
	}
	return all
}

// remember writes the cache. Errors are ignored: the next call of Find then runs the program again.
func (p *Prober) remember(all map[string]probed) {
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil && os.MkdirAll(filepath.Dir(p.Cache), 0o700) == nil {
		_ = durable.WriteCache(p.Cache, append(text, '\n'), 0o600)
	}
}

// sameProgram returns size, time and inode of a program, to recognise it again. It returns false if it is no regular
// file.
func sameProgram(path string) (probed, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return probed{}, false
	}
	_, inode, _ := durable.FileID(info)
	return probed{Size: info.Size(), ModTime: info.ModTime().UnixNano(), Inode: inode}, true
}
