package cmd

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

var (
	//go:embed demo/tour.sh
	demoTour string
	//go:embed demo/agent.yaml
	demoAgent []byte
)

type demoVerb struct {
	*app
	dir string
}

func (a *demoVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "demo", Short: "a tour in a temporary directory, in a minute",
		Long: `Demo makes a small Go module in a temporary directory and takes it through two laps of the workflow tdd
with real git and real go test. Its agent is played from a script: it claims success when it has none, deletes a
test, and is killed in the middle of its work. Every command that is run is shown, and the repository stays for
you to explore.`,
		Example: "  wfs demo\n  wfs demo --dir ./playground",
		Args:    noArgs,
		RunE:    with(a.run),
	}
	c.Flags().StringVar(&a.dir, "dir", "", "make the repository in this new `directory`")
	return c
}

func (a *demoVerb) run(ctx context.Context, _ []string) error {
	if _, err := proc.LookPath("git", a.env.Get("PATH")); err != nil {
		return gitcmd.ErrNoGit
	}
	if _, err := proc.LookPath("go", a.env.Get("PATH")); err != nil {
		return session.Refuse(session.RefuseAgent, "wfs init, in a project of yours",
			"the demo's project is written in Go, which is not installed here")
	}
	top, err := newDemoDir(a.dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(top, "agent.yaml"), demoAgent, 0o666); err != nil {
		return err
	}
	exit, err := proc.Stream(ctx, proc.Cmd{Argv: []string{"sh", "-c", demoTour, "sh", a.env.Exe, top}, Dir: top,
		Env: a.demoEnv(top)}, a.env.Stdout, a.env.Stdout)
	if err == nil && exit != 0 {
		err = fmt.Errorf("exit %d", exit)
	}
	if err != nil {
		return fmt.Errorf("the demo stopped: %w (its repository is in %s)", err, top)
	}
	return nil
}

// newDemoDir creates the directory for the demo: the given one, or a temporary one if `dir` is "".
func newDemoDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "wfs-demo-")
	}
	top, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return top, os.Mkdir(top, 0o777)
}

// demoEnv returns the environment for the demo. It leaves out the user's configuration, so that the demo is the same
// for everyone.
func (a *demoVerb) demoEnv(top string) (env []string) {
	for _, kv := range a.env.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && !workspace.IsSetting(name) && name != "WFS_NOW" &&
			name != "XDG_STATE_HOME" && name != "XDG_CONFIG_HOME" {
			env = append(env, kv)
		}
	}
	return append(env, "GIT_CONFIG_GLOBAL="+filepath.Join(top, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"XDG_STATE_HOME="+filepath.Join(top, "state"), "XDG_CONFIG_HOME="+filepath.Join(top, "config"))
}
