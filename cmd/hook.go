package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/workspace/system"
)

// hookJSON is the JSON output of wfs hook install and wfs hook remove.
type hookJSON struct {
	Version int    `json:"version"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Backup  string `json:"backup,omitempty"` // copy of the settings before the change
	// git's exclude file, if the line for the settings was added or removed
	Exclude string `json:"exclude,omitempty"`
}

// hookVerb is `wfs hook` and its subcommands.
type hookVerb struct{ *app }

func (a *hookVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "hook", Short: "checkpoints while you work with an agent yourself",
		Long: `Hook lets an agent that you talk to yourself call wfs while it works: Claude Code at present. In a
session's work tree that writes down what the agent does, and makes a checkpoint every 20 tool calls (or as many
as the configuration says), and before a command that could destroy files which no checkpoint has (rm, mv, git
reset --hard, git clean, git checkout, …). Elsewhere, and in an agent that wfs run started, it does nothing. It
never blocks the agent: errors are printed on standard error.`,
		Example: "  wfs hook install\n  wfs new \"csv export\" --agent claude && claude\n  wfs hook log\n  wfs hook remove",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand((&hookSetVerb{app: a.app}).installCommand(), (&hookSetVerb{app: a.app}).removeCommand(),
		(&hookRunVerb{a.app}).command(), (&hookLogVerb{a.app}).command())
	return c
}

// hookSetVerb is `wfs hook install` and `wfs hook remove`. A hook is a command that the agent runs on each of its own
// events.
type hookSetVerb struct {
	*app
	user, remove bool
}

func (a *hookSetVerb) installCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "install [claude]", Short: "have an agent call wfs while you work with it",
		Long: `Install puts hooks into .claude/settings.local.json of this work tree, which is yours alone, or with
--user into your own settings for all projects. Other settings stay as they are; a copy of the file as it was is
kept in wfs' state directory. If git would take .claude/settings.local.json for a new file, a line in
.git/info/exclude keeps it out of commits. What it cannot read it leaves alone, and prints what to put there by
hand. Typed again, it does nothing.`,
		Example: "  wfs hook install\n  wfs hook install --user",
		Args:    hookArgs,
		RunE:    with(a.run),
	}
	c.Flags().BoolVar(&a.user, "user", false, "in your own settings, for all projects")
	return c
}

func (a *hookSetVerb) removeCommand() *cobra.Command {
	a.remove = true
	c := &cobra.Command{
		Use: "remove [claude]", Short: "remove the hooks",
		Long: `Remove takes out what wfs hook install put into the agent's settings, and nothing else. A copy of the
file as it was is kept in wfs' state directory.`,
		Example: "  wfs hook remove\n  wfs hook remove --user",
		Args:    hookArgs,
		RunE:    with(a.run),
	}
	c.Flags().BoolVar(&a.user, "user", false, "from your own settings, for all projects")
	return c
}

// hookArgs accepts the name of one agent for which wfs has hooks.
func hookArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] != "claude" {
		return usage(c.CommandPath()+" claude", "wfs has no hooks for %q, only for claude", args[0])
	}
	return upTo(1)(c, args)
}

// localSettings is the path of the user's personal Claude Code settings for one work tree, relative to its root.
const localSettings = ".claude/settings.local.json"

// hookFiles finds and edits the settings files of agents, which contain the hooks.
type hookFiles struct{ *app }

// path returns the settings file of this work tree or, if `user` is set, the user's settings file for all projects. It
// follows symbolic links, because people keep such files elsewhere and link to them.
func (a hookFiles) path(ctx context.Context, user bool) (string, error) {
	if !user {
		if err := a.Open(ctx); err != nil {
			return "", err
		}
		return followed(filepath.Join(a.Repo.Root(), filepath.FromSlash(localSettings)))
	}
	dir := a.env.Get("CLAUDE_CONFIG_DIR")
	if home := a.env.Get("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".claude")
	}
	if dir == "" {
		return "", errors.New("neither CLAUDE_CONFIG_DIR nor HOME is set: no place for your own settings")
	}
	return followed(filepath.Join(dir, "settings.json"))
}

func followed(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return real, err
}

// in returns the settings file of a work tree, and reports whether it contains hooks of wfs.
func (a hookFiles) in(root string) (path string, ours bool, err error) {
	if path, err = followed(filepath.Join(root, filepath.FromSlash(localSettings))); err != nil {
		return path, false, err
	}
	text, err := durable.ReadFile(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.Contains(string(text), " hook run ") {
		return path, false, nil
	}
	if err != nil {
		return path, false, err
	}
	without, err := withHooks(text, a.program(), true)
	if err != nil {
		return path, false, a.byHand(path, err)
	}
	return path, !bytes.Equal(without, text), nil
}

// run adds the hooks of wfs to an agent's settings, or removes them.
func (a *hookSetVerb) run(ctx context.Context, _ []string) error {
	files := hookFiles{a.app}
	path, err := files.path(ctx, a.user)
	if err != nil {
		return err
	}
	j, err := files.edit(ctx, path, a.user, a.remove)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(j)
	}
	a.say(&j)
	return nil
}

// edit adds the hooks to one settings file, or removes them.
func (a hookFiles) edit(ctx context.Context, path string, user, remove bool) (hookJSON, error) {
	j := hookJSON{Version: jsonVersion, File: path}
	old, err := durable.ReadFile(path, maxSettings)
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent {
		return j, err
	}
	text, err := withHooks(old, a.program(), remove)
	if err != nil {
		return j, a.byHand(path, err)
	}
	before, restored := a.before(path, old, remove)
	if restored {
		text = before
	}
	if j.Changed = string(text) != string(old); j.Changed {
		if !absent {
			if j.Backup, err = keepCopy(a.Env, "hooks", path, old); err != nil {
				return j, err
			}
			durable.Hit(durable.SettingsKept)
		}
		if err := putSettings(path, text, remove && !restored); err != nil {
			return j, err
		}
		durable.Hit(durable.SettingsWritten)
	}
	if !user {
		if j.Exclude, err = a.hide(ctx, path, remove); err != nil {
			return j, err
		}
	}
	return j, nil
}

func (a *hookSetVerb) say(j *hookJSON) {
	flag, remove := "", a.remove
	if a.user {
		flag = " --user"
	}
	switch {
	case !j.Changed && remove:
		a.out("no hooks of wfs in %s", j.File)
	case !j.Changed:
		a.out("the hooks are already in %s", j.File)
	case remove:
		a.out("hooks removed from %s", j.File)
	default:
		a.out("hooks added to %s", j.File)
	}
	if j.Backup != "" {
		a.out("as it was: %s", j.Backup)
	}
	switch {
	case j.Exclude == "":
	case remove:
		a.out("its line is removed from %s", j.Exclude)
	default:
		a.out("%s keeps %s out of commits", j.Exclude, localSettings)
	}
	if !remove {
		a.out("undo: %s", a.typed("wfs hook remove"+flag))
		a.out("start claude in the work tree of a session; restart one that is already running")
	}
}

// byHand prints the lines that the user has to add to settings that wfs cannot edit. It returns an error with the
// reason `why`.
func (a hookFiles) byHand(path string, why error) error {
	if !a.json {
		text, err := withHooks(nil, a.program(), false)
		if err != nil {
			return err
		}
		a.note("add this to %s by hand:", path)
		a.note("%s", strings.TrimSpace(string(text)))
	}
	return fmt.Errorf("%s was left unchanged: %w", path, why)
}

// putSettings writes a settings file. After a removal it deletes the file instead if nothing is left in it.
func putSettings(path string, text []byte, remove bool) error {
	if remove && strings.Join(strings.Fields(string(text)), "") == "{}" {
		return os.Remove(path)
	}
	perm := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return durable.WriteFile(path, text, perm)
}

// keepCopy saves a copy of a user's file before wfs changes it. The copy is in the subdirectory `name` of the user's
// state directory. It returns the path of the copy.
func keepCopy(e *system.Env, name, path string, text []byte) (string, error) {
	dir, err := e.StateDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, name)
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	copied := filepath.Join(dir, e.Now().UTC().Format("20060102T150405Z")+"-"+e.NewID(3)+"-"+filepath.Base(path))
	return copied, durable.WriteFile(copied, text, 0o600)
}

// before returns the settings as they were before the hooks were added, byte for byte. To find them, it looks for a
// saved copy that equals the current settings once the hooks are added. It finds none if the settings have changed
// otherwise since.
func (a hookFiles) before(path string, now []byte, remove bool) (text []byte, found bool) {
	dir, err := a.env.StateDir()
	if err != nil || !remove {
		return nil, false
	}
	copies, _ := filepath.Glob(filepath.Join(dir, "hooks", "*-"+filepath.Base(path))) // a valid pattern
	for _, file := range slices.Backward(copies) {
		text, err := durable.ReadFile(file, maxSettings)
		if err != nil {
			continue
		}
		if with, err := withHooks(text, a.program(), false); err == nil && !bytes.Equal(text, now) &&
			bytes.Equal(with, now) {
			return text, true
		}
	}
	return nil, false
}

// excludeLine is the line in git's exclude file that keeps a user's personal settings out of commits.
const excludeLine = "/" + localSettings

// hide makes git ignore the settings file of this work tree or, if `remove` is set, undoes that. It returns the path of
// the exclude file that it changed, or "".
func (a hookFiles) hide(ctx context.Context, path string, remove bool) (string, error) {
	if remove {
		if _, err := os.Lstat(path); err == nil {
			return "", nil // the settings file has other content, and stays
		}
	} else if tracked, ignored, err := a.Repo.Treats(ctx, localSettings); err != nil || ignored {
		return "", err
	} else if tracked {
		a.note("warning: %s is tracked by git: it is shared with your team", localSettings)
		return "", nil
	}
	file, changed, err := a.Repo.ExcludeLocally(excludeLine, remove)
	if !changed {
		file = ""
	}
	return file, err
}

// program returns the word by which a shell calls wfs: "wfs" if PATH finds this program under that name, otherwise the
// program's path.
func (a hookFiles) program() string {
	me, err := os.Stat(a.env.Exe)
	for _, dir := range filepath.SplitList(a.env.Get("PATH")) {
		if found, e := os.Stat(filepath.Join(dir, "wfs")); e == nil && err == nil {
			if os.SameFile(me, found) {
				return "wfs"
			}
			break
		}
	}
	return "'" + strings.ReplaceAll(a.env.Exe, "'", `'\''`) + "'"
}
