package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
	"github.com/wfs-dev/wfs/workspace"
)

// configVerb is `wfs config` and its subcommands.
type configVerb struct {
	*app
	withOrigin bool
}

func (a *configVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "show what is configured, and where it comes from",
		Long: `Configuration comes in layers. Each one overrides those before it, key by key:

  1. defaults
  2. your own file for all repositories, ~/.config/wfs/config.yaml
  3. the repository's file, .wfs/config.yaml, which is committed
  4. this clone's own file, .wfs/local.yaml, which is not
  5. the environment: WFS_WORKFLOW, WFS_AGENT, WFS_AGREE
  6. flags, such as --agent

A session keeps what was configured when it began. None of these commands runs anything or writes a file.`,
		Example: "  wfs config list --show-origin\n  wfs config get agent.command\n  wfs config path",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	list := &cobra.Command{Use: "list", Short: "every setting, with defaults", Args: noArgs,
		Long: `List prints every setting that holds now, defaults too, as KEY=VALUE. With --show-origin it says where
each comes from: a file and line, a variable, or the defaults.`,
		Example: "  wfs config list\n  wfs config list --show-origin\n  wfs config list --json",
		RunE:    with(a.list)}
	list.Flags().BoolVar(&a.withOrigin, "show-origin", false, "say where each setting comes from")
	c.AddCommand(list,
		&cobra.Command{Use: "get KEY", Short: "the value of one setting", Args: exactly(1, "a key, such as agent.command"),
			Long: `Get prints the value of one setting, a list with one item on each line. A key that nothing sets is
an error (exit 1).`,
			Example: "  wfs config get agent.command\n  wfs config get gates.tests.run --json",
			RunE:    with(a.get)},
		&cobra.Command{Use: "path", Short: "the files that configuration is read from", Args: noArgs,
			Long:    "Path prints where each file of configuration is, or would be, the one that overrides the others last.",
			Example: "  wfs config path\n  wfs config path --json",
			RunE:    with(a.path)},
		&cobra.Command{Use: "schema", Short: "the JSON Schema of configuration files, for editors", Args: noArgs,
			Long:    "Schema prints the JSON Schema (draft-07) of configuration files. Editors check files against it while you type.",
			Example: "  wfs config schema > config.schema.json",
			RunE:    func(*cobra.Command, []string) error { return a.printSchema(workflows.ConfigSchema()) }},
	)
	return c
}

// printSchema prints a JSON Schema. It prints the same with --json.
func (a *app) printSchema(schema []byte) error {
	_, err := a.env.Stdout.Write(schema)
	return err
}

type settingJSON struct {
	Key    string           `json:"key"`
	Value  any              `json:"value"`
	Source workflows.Source `json:"source"`
	Name   string           `json:"name,omitempty"` // name of the file, variable or flag
	Line   int              `json:"line,omitempty"`
}

type settingsJSON struct {
	Version  int           `json:"version"`
	Settings []settingJSON `json:"settings"`
}

func settingOf(x workflows.Setting) settingJSON {
	return settingJSON{x.Key, x.Value, x.Source, x.Name, x.Line}
}

// origin returns the source of a setting as users know it, such as a file and line.
func (a *configVerb) origin(x workflows.Setting) string {
	switch {
	case x.Source == workflows.FromDefault:
		return "default"
	case x.Line > 0:
		name := x.Name
		home := a.env.Get("HOME")
		if below, ok := strings.CutPrefix(name, home+string(filepath.Separator)); ok && home != "" {
			name = filepath.Join("~", below)
		}
		return fmt.Sprintf("%s:%d", name, x.Line)
	}
	return x.Name
}

func (a *configVerb) list(ctx context.Context, _ []string) error {
	s, err := a.OwnSettings(ctx)
	if err != nil {
		return err
	}
	if a.json {
		j := settingsJSON{jsonVersion, []settingJSON{}}
		for _, x := range s.List {
			j.Settings = append(j.Settings, settingOf(x))
		}
		return a.answer(j)
	}
	var rows [][]any
	for _, x := range s.List {
		row := []any{x.Key + "=" + strings.ReplaceAll(x.Text(), "\n", `\n`)}
		if a.withOrigin {
			row = append([]any{a.origin(x)}, row...)
		}
		rows = append(rows, row)
	}
	a.env.WholeTable(rows)
	return nil
}

func (a *configVerb) get(ctx context.Context, args []string) error {
	key := args[0]
	if err := knownSetting(key); err != nil {
		return err
	}
	s, err := a.OwnSettings(ctx)
	if err != nil {
		return err
	}
	x, ok := s.Get(key)
	switch {
	case !ok:
		return session.Refuse(session.RefuseNotSet, "wfs config path (says where it could be)", "%s is not set", key)
	case a.json:
		return a.answer(struct {
			Version int `json:"version"`
			settingJSON
		}{jsonVersion, settingOf(x)})
	}
	if items, ok := x.Value.([]any); ok {
		for _, item := range items {
			a.out("%v", item)
		}
		return nil
	}
	a.out("%s", x.Text())
	return nil
}

// knownSetting returns an error for a key that cannot occur in a configuration.
func knownSetting(key string) error {
	keys := workflows.SettingKeys()
	if slices.ContainsFunc(keys, func(known string) bool { return sameKey(known, key) }) {
		return nil
	}
	var below []string
	for _, known := range keys {
		if group, _, _ := strings.Cut(known, "."); group == strings.Split(key, ".")[0] {
			below = append(below, known)
		}
	}
	if len(below) == 0 {
		below = keys
	}
	e := usage("wfs config list", "there is no key %q; there are: %s", key, strings.Join(below, ", "))
	if near := spelling.Suggest(key, keys); near != "" && !strings.Contains(near, "NAME") {
		e.Hint = "wfs config get " + near
	}
	return e
}

// sameKey reports whether `key` matches the pattern `known`, in which NAME stands for any name.
func sameKey(known, key string) bool {
	a, b := strings.Split(known, "."), strings.Split(key, ".")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i] != "NAME" {
			return false
		}
	}
	return true
}

type configFileJSON struct {
	Source workflows.Source `json:"source"`
	Path   string           `json:"path"`
	Exists bool             `json:"exists"`
}

func (a *configVerb) path(ctx context.Context, _ []string) error {
	var paths []configFileJSON
	add := func(source workflows.Source, path string) {
		_, err := os.Stat(path)
		paths = append(paths, configFileJSON{source, path, err == nil})
	}
	if file := a.env.ConfigFile(); file != "" {
		add(workflows.FromUser, file)
	}
	err := a.Open(ctx)
	switch {
	case err == nil:
		add(workflows.FromRepository, filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath)))
		top, _, err := a.LocalTop(ctx)
		if err != nil {
			return err
		}
		add(workflows.FromLocal, filepath.Join(top, filepath.FromSlash(workspace.LocalPath)))
	case !errors.Is(err, gitcmd.ErrNotRepository):
		return err
	}
	if a.json {
		return a.answer(struct {
			Version int              `json:"version"`
			Files   []configFileJSON `json:"files"`
		}{jsonVersion, append([]configFileJSON{}, paths...)})
	}
	var rows [][]any
	for _, p := range paths {
		state := ""
		if !p.Exists {
			state = "(not there)"
		}
		rows = append(rows, []any{p.Source, p.Path, state})
	}
	a.env.WholeTable(rows)
	return nil
}
