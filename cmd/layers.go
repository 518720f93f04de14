package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/phases/detect"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// localPath is the configuration of this clone alone, relative to the work tree.
const localPath = ".wfs/local.yaml"

// configFile is the person's own configuration, for all repositories; "" when there is no place for it.
func (e Env) configFile() string {
	dir := e.get("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := e.get("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "wfs", "config.yaml")
}

// userConfig reads the person's own configuration, nil when there is none.
func (a *app) userConfig() ([]byte, error) {
	file := a.env.configFile()
	if file == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
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

// variables are what the environment may set. Nothing else of it is a setting.
var variables = []struct{ name, key string }{
	{"WFS_WORKFLOW", "workflow"},
	{"WFS_AGENT", "agent"},
	{"WFS_AGREE", "agree"},
}

// isSetting reports whether a variable of this name is a setting.
func isSetting(name string) bool {
	for _, v := range variables {
		if v.name == name {
			return true
		}
	}
	return false
}

// layers are all layers of configuration, the lowest first: the person's own file, the repository's, this clone's, the
// environment, and what was typed. list is what was read below .wfs/, nil outside a repository.
func (a *app) layers(list []rulesFile, typed ...workflows.Layer) ([]workflows.Layer, error) {
	var layers []workflows.Layer
	text, err := a.userConfig()
	if err != nil {
		return nil, err
	}
	if text != nil {
		layers = append(layers, workflows.Layer{Source: workflows.FromUser, Name: a.env.configFile(), Text: text})
	}
	for _, f := range list {
		if source, ok := configSource(f.Path); ok {
			layers = append(layers, workflows.Layer{Source: source, Name: f.Path, Text: f.text})
		}
	}
	if a.env.get("WFS_RUN_ID") == "" { // inside a run they say where that run stands, and are meant for nobody else
		for _, v := range variables {
			if value := a.env.get(v.name); value != "" {
				l := workflows.Layer{Source: workflows.FromEnvironment, Name: "$" + v.name, Key: v.key, Value: value}
				if l, err = a.typedAgent(l); err != nil {
					return nil, err
				}
				layers = append(layers, l)
			}
		}
	}
	for _, l := range typed {
		if l.Value == "" {
			continue
		}
		if l, err = a.typedAgent(l); err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// configSource says which layer a file below .wfs/ is, and false when it is none.
func configSource(path string) (workflows.Source, bool) {
	switch path {
	case configPath:
		return workflows.FromRepository, true
	case localPath:
		return workflows.FromLocal, true
	}
	return "", false
}

// typedAgent understands script:FILE, relative to where it is typed.
func (a *app) typedAgent(l workflows.Layer) (workflows.Layer, error) {
	file, ok := strings.CutPrefix(l.Value, "script:")
	if !ok || l.Key != "agent" {
		return l, nil
	}
	file, err := filepath.Abs(a.env.abs(file))
	l.Key, l.Value = "agent.script", file
	return l, err
}

// settings reads all layers of configuration.
func (a *app) settings(list []rulesFile, typed ...workflows.Layer) (*workflows.Settings, error) {
	layers, err := a.layers(list, typed...)
	if err != nil {
		return nil, err
	}
	cards, err := a.cards(list)
	if err != nil {
		return nil, err
	}
	s, findings := cards.Read(layers...)
	if len(findings) > 0 {
		return nil, &findingsError{findings}
	}
	return s, nil
}

// projectSettings is settings for a command that judges: somebody must have said how this project is tested.
func (a *app) projectSettings(list []rulesFile, typed ...workflows.Layer) (*workflows.Settings, error) {
	s, err := a.settings(list, typed...)
	if err == nil && findRules(list, configPath) == nil && len(s.Config.Gates) == 0 {
		hint := "wfs init --yes"
		if len(detect.Projects(a.repo.Root(), os.ReadFile)) == 0 {
			hint = "wfs init --test 'COMMAND'"
		}
		return nil, session.Refuse(session.RefuseUsage, hint, "no test command configured: there is no %s", configPath)
	}
	return s, err
}

// localTop is the top of the work tree whose local configuration counts here, and that work tree's id: this one, or the
// main one if this is a linked work tree that has none of its own.
func (a *app) localTop(ctx context.Context) (top, worktree string, err error) {
	top, worktree = a.repo.Root(), a.repo.Worktree()
	_, err = os.Lstat(filepath.Join(top, filepath.FromSlash(localPath)))
	if worktree == "main" || !errors.Is(err, fs.ErrNotExist) {
		return top, worktree, nil
	}
	main, err := a.repo.WorktreePath(ctx, "main")
	if err != nil || main == "" { // the repository is bare
		return top, worktree, err
	}
	return main, "main", nil
}

// addLocal adds this clone's own configuration to the rules that were read in this work tree. A file that git tracks is
// the repository's and would come with every clone: it is refused, because this layer may say more than a repository may.
func (a *app) addLocal(ctx context.Context, list []rulesFile) ([]rulesFile, error) {
	top, worktree, err := a.localTop(ctx)
	if err != nil {
		return nil, err
	}
	if top != a.repo.Root() {
		more, err := readRules(top, localPath)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if findRules(list, localPath) == nil {
		if info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(localPath))); err == nil && !info.Mode().IsRegular() {
			return nil, &findingsError{[]workflows.Finding{{File: localPath, Message: "this is not a regular file, and is not read"}}}
		}
		return list, nil
	}
	tracked, err := a.repo.Tracked(ctx, worktree, localPath)
	if err == nil && tracked {
		err = &findingsError{[]workflows.Finding{{File: localPath, Message: "git tracks this file, and it is meant for one clone only",
			Hint: "git rm --cached " + localPath}}}
	}
	return list, err
}
