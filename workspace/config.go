package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/detect"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Config reads configuration, workflows and agent cards.
type Config struct{ w *Workspace }

// ownFile returns the content of a file of the user's own configuration, nil if there is no such file.
func ownFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > workflows.MaxFileSize {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", file, workflows.MaxFileSize)
	}
	text, err := os.ReadFile(file)
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// OwnCards reads the agent cards in the user's own configuration directory. A card describes how to run the program of
// an agent.
func (c *Config) OwnCards() (Rules, error) {
	config := c.w.Env.ConfigFile()
	if config == "" {
		return nil, nil
	}
	dir := filepath.Join(filepath.Dir(config), "agents")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list Rules
	for _, e := range entries {
		if !isYAML(e.Name()) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		text, err := ownFile(file)
		if err != nil {
			return nil, err
		}
		list = append(list, RulesFile{file, text})
	}
	return list, err
}

// Cards returns the cards of all known agents: the built-in ones, then the repository's, then the user's own. A later
// card replaces an earlier one of the same name, because the user decides which programs run.
func (c *Config) Cards(list Rules) (workflows.Cards, error) {
	own, err := c.OwnCards()
	if err != nil {
		return nil, err
	}
	var files Rules
	for _, f := range list {
		if f.IsCard() {
			files = append(files, f)
		}
	}
	cards, findings := ReadCards(append(files, own...))
	return cards, Wrong(findings)
}

// ReadCards returns the built-in cards and the cards in `files`, of which later ones replace earlier ones.
func ReadCards(files Rules) (workflows.Cards, []workflows.Finding) {
	cards := workflows.BuiltinCards()
	var findings []workflows.Finding
	for _, f := range files {
		c, bad := workflows.ParseCard(f.Path, f.Text)
		findings = append(findings, bad...)
		if c != nil {
			cards[c.Name] = c
		}
	}
	return cards, findings
}

// InstalledAgents returns the names of the agents whose programs are installed, sorted, but with claude first, because
// it is the most common.
func (c *Config) InstalledAgents(cards workflows.Cards) []string {
	var names []string
	for _, name := range cards.Names() {
		if _, err := proc.LookPath(cards[name].Command[0], c.w.Env.Get("PATH")); err == nil {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int {
		return strings.Compare(strings.TrimPrefix(x, "claude"), strings.TrimPrefix(y, "claude"))
	})
	return names
}

// variables lists the environment variables that are settings, with their keys.
var variables = []struct{ name, key string }{
	{"WFS_WORKFLOW", "workflow"},
	{"WFS_AGENT", "agent"},
	{"WFS_AGREE", "agree"},
}

// IsSetting reports whether the environment variable of this name is a setting.
func IsSetting(name string) bool {
	for _, v := range variables {
		if v.name == name {
			return true
		}
	}
	return false
}

// Layers returns all layers of configuration, the lowest first: the user's own file, the repository's file, this
// clone's file, the environment, and the command line (`typed`). `list` has the files below .wfs/, nil outside of a
// repository.
func (c *Config) Layers(list Rules, typed ...workflows.Layer) ([]workflows.Layer, error) {
	var layers []workflows.Layer
	env := c.w.Env
	text, err := ownFile(env.ConfigFile())
	if err != nil {
		return nil, err
	}
	if text != nil {
		layers = append(layers, workflows.Layer{Source: workflows.FromUser, Name: env.ConfigFile(), Text: text})
	}
	for _, f := range list {
		if source, ok := f.Source(); ok {
			layers = append(layers, workflows.Layer{Source: source, Name: f.Path, Text: f.Text})
		}
	}
	// wfs was started in a run: its variables are meant for that run, and not for other sessions
	if env.Get("WFS_RUN_ID") != "" {
		return append(layers, c.typed(typed)...), nil
	}
	var set []workflows.Layer
	for _, v := range variables {
		set = append(set, workflows.Layer{Source: workflows.FromEnvironment, Name: "$" + v.name, Key: v.key,
			Value: env.Get(v.name)})
	}
	return append(layers, c.typed(append(set, typed...))...), nil
}

// typed returns the layers that have a value. It resolves the value script:FILE of an agent relative to the current
// directory.
func (c *Config) typed(list []workflows.Layer) (layers []workflows.Layer) {
	for _, l := range list {
		if file, ok := strings.CutPrefix(l.Value, "script:"); ok && l.Key == "agent" {
			l.Key, l.Value = "agent.script", c.w.Env.Abs(filepath.Clean(file))
		}
		if l.Value != "" {
			layers = append(layers, l)
		}
	}
	return layers
}

// Settings reads and merges all layers of configuration.
func (c *Config) Settings(list Rules, typed ...workflows.Layer) (*workflows.Settings, error) {
	layers, err := c.Layers(list, typed...)
	if err != nil {
		return nil, err
	}
	cards, err := c.Cards(list)
	if err != nil {
		return nil, err
	}
	s, findings := cards.Read(layers...)
	if len(findings) > 0 {
		return nil, Wrong(findings)
	}
	return s, nil
}

// ProjectSettings is like Settings, for commands that run gates: it refuses a project without a configured test
// command.
func (c *Config) ProjectSettings(list Rules, typed ...workflows.Layer) (*workflows.Settings, error) {
	s, err := c.Settings(list, typed...)
	if err == nil && list.Find(ConfigPath) == nil && len(s.Config.Gates) == 0 {
		hint := "wfs init --yes"
		if len(c.Projects()) == 0 {
			hint = "wfs init --test 'COMMAND'"
		}
		return nil, session.Refuse(session.RefuseUsage, hint, "no test command configured: there is no %s", ConfigPath)
	}
	return s, err
}

// OwnSettings reads all layers of configuration. Outside of a repository it reads only the layers that do not depend on
// one.
func (c *Config) OwnSettings(ctx context.Context) (*workflows.Settings, error) {
	err := c.w.Open(ctx)
	if errors.Is(err, gitcmd.ErrNotRepository) {
		return c.Settings(nil)
	}
	if err != nil {
		return nil, err
	}
	list, err := c.Rules(ctx)
	if err != nil {
		return nil, err
	}
	return c.Settings(list)
}

// ProposeWorktree returns proposed settings for new work trees: how they get the ignored files that the gates need.
func (c *Config) ProposeWorktree(ctx context.Context, ignored []string, gates []workflows.Gate) workflows.Worktree {
	tracked := func(file string) bool {
		x, err := c.w.Repo.ReadIndex(ctx, c.w.Repo.IndexPath())
		return err != nil || x.Tracks(file)
	}
	return detect.Worktree(c.w.Repo.Root(), ignored, gates, c.program, tracked)
}

// Projects returns the gates that may run the tests of the projects in the repository, see detect.Projects.
func (c *Config) Projects() [][]detect.Proposal {
	return detect.Projects(c.w.Repo.Root(), os.ReadFile, c.program)
}

// program reports whether a program is installed.
func (c *Config) program(name string) bool {
	_, err := proc.LookPath(name, c.w.Env.Get("PATH"))
	return err == nil
}
