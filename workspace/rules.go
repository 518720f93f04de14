package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// Paths of files that configure wfs, relative to the work tree.
const (
	ConfigPath   = ".wfs/config.yaml"
	LocalPath    = ".wfs/local.yaml" // configuration for this clone only
	WorkflowsDir = ".wfs/workflows/"
	agentsDir    = ".wfs/agents/"
)

// RulesFile is a file below .wfs/ that can make wfs run commands: a configuration, a workflow or an agent card.
type RulesFile struct {
	Path string `json:"path"` // relative to the work tree, with slashes
	Text []byte `json:"-"`
}

// IsCard reports whether the file is an agent card.
func (f RulesFile) IsCard() bool {
	name, ok := strings.CutPrefix(f.Path, agentsDir)
	return ok && !strings.Contains(name, "/")
}

// IsWorkflow returns the name of the workflow in this file. It returns false if the file is not a workflow.
func (f RulesFile) IsWorkflow() (name string, ok bool) {
	name, ok = strings.CutPrefix(f.Path, WorkflowsDir)
	if !ok || strings.Contains(name, "/") {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml"), true
}

// Source returns the layer of configuration that this file is. It returns false if it is not a configuration.
func (f RulesFile) Source() (workflows.Source, bool) {
	switch f.Path {
	case ConfigPath:
		return workflows.FromRepository, true
	case LocalPath:
		return workflows.FromLocal, true
	}
	return "", false
}

// Rules has all files below .wfs/ that can make wfs run commands. A command reads them only once, so that exactly the
// text that the user trusts is parsed and run.
type Rules []RulesFile

// Find returns the text of the file with a path, nil if there is no such file.
func (r Rules) Find(name string) []byte {
	for _, f := range r {
		if f.Path == name {
			return f.Text
		}
	}
	return nil
}

// Digest returns a digest of the exact content of all files. The user's trust is bound to it.
func (r Rules) Digest() string {
	h := sha256.New()
	for _, f := range r {
		fmt.Fprintf(h, "%s\x00%d\x00", f.Path, len(f.Text))
		h.Write(f.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Workflow returns a workflow by name, and its text. A workflow of the repository replaces a built-in one of the same
// name.
func (r Rules) Workflow(name string) (*workflows.Workflow, []byte, error) {
	text, file := []byte(nil), ""
	for _, ext := range []string{".yaml", ".yml"} {
		if text == nil {
			file = WorkflowsDir + name + ext
			text = r.Find(file)
		}
	}
	if text == nil {
		builtin, ok := workflows.BuiltinText(name)
		if !ok {
			names := r.WorkflowNames()
			hint := "wfs workflow list"
			if near := spelling.Suggest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			return nil, nil, session.Refuse(session.RefuseUsage, hint, "no workflow %q; there are: %s", name,
				strings.Join(names, ", "))
		}
		text, file = builtin, name+".yaml"
	}
	w, findings := workflows.ParseWorkflow(file, text)
	return w, text, Wrong(findings)
}

// WorkflowNames returns the names of the repository's own and the built-in workflows, sorted.
func (r Rules) WorkflowNames() []string {
	names := workflows.BuiltinNames()
	for _, f := range r {
		if name, ok := f.IsWorkflow(); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// FindingsError is the error for mistakes in the user's files. It reports all of them at once.
type FindingsError struct{ Findings []workflows.Finding }

// Wrong returns the findings as an error, nil if there are none.
func Wrong(findings []workflows.Finding) error {
	if len(findings) == 0 {
		return nil
	}
	return &FindingsError{findings}
}

func (e *FindingsError) Error() string {
	var b strings.Builder
	for i, f := range e.Findings {
		if i > 0 {
			b.WriteString("\n       ")
		}
		b.WriteString(safetext.Strip(f.String()))
		if f.Hint != "" && f.Hint != e.Hint("") {
			b.WriteString(" (" + safetext.Strip(f.Hint) + ")")
		}
	}
	return b.String()
}

// Hint returns the command to type next. `again` is the failed command with an agent added, to be typed if only the
// agent is missing: `wfs workflow check` finds mistakes in files, but not a missing agent.
func (e *FindingsError) Hint(again string) string {
	for _, f := range e.Findings {
		if f.File != "" {
			return "wfs workflow check"
		}
	}
	for _, f := range e.Findings {
		if !f.NoAgent && f.Hint != "" {
			return f.Hint
		}
	}
	if e.Findings[0].NoAgent {
		return again
	}
	return "wfs workflow check"
}

// Rules reads every file below .wfs/ that can make wfs run commands.
func (c *Config) Rules(ctx context.Context) (Rules, error) {
	list, err := readRules(c.w.Repo.Root(), ".wfs")
	if err == nil {
		list, err = c.addMain(ctx, list)
	}
	if err == nil {
		list, err = c.addLocal(ctx, list)
	}
	slices.SortFunc(list, func(x, y RulesFile) int { return strings.Compare(x.Path, y.Path) })
	return list, err
}

// readRules reads the YAML files at or below a path in a work tree. It skips everything except regular files.
func readRules(top, below string) (Rules, error) {
	var list Rules
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), below, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular() || !isYAML(name):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > workflows.MaxFileSize {
			return fmt.Errorf("%s is larger than %d bytes", name, workflows.MaxFileSize)
		}
		text, err := fs.ReadFile(root.FS(), name)
		list = append(list, RulesFile{name, text})
		return err
	})
	return list, err
}

func isYAML(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }

// addMain adds rules of the main work tree to those of this linked one, which has only what was committed. If it has no
// configuration, it gets all of them, else those that are not committed in the main work tree either.
func (c *Config) addMain(ctx context.Context, list Rules) (Rules, error) {
	repo := c.w.Repo
	if repo.Worktree() == "main" {
		return list, nil
	}
	main, err := repo.WorktreePath(ctx, "main")
	if err != nil || main == "" { // there is no main work tree: the repository is bare
		return list, err
	}
	more, err := readRules(main, ".wfs")
	all := list.Find(ConfigPath) == nil
	for _, f := range more {
		if f.Path != LocalPath && list.Find(f.Path) == nil && (all || !repo.HasFile(ctx, "main-worktree/HEAD", f.Path)) {
			list = append(list, f)
		}
	}
	return list, err
}

// LocalTop returns the directory and the id of the work tree whose .wfs/local.yaml applies here. That is this work
// tree; for a linked work tree without this file, it is the main one.
func (c *Config) LocalTop(ctx context.Context) (top, worktree string, err error) {
	repo := c.w.Repo
	top, worktree = repo.Root(), repo.Worktree()
	_, err = os.Lstat(filepath.Join(top, filepath.FromSlash(LocalPath)))
	if worktree == "main" || !errors.Is(err, fs.ErrNotExist) {
		return top, worktree, nil
	}
	main, err := repo.WorktreePath(ctx, "main")
	if err != nil || main == "" { // there is no main work tree: the repository is bare
		return top, worktree, err
	}
	return main, "main", nil
}

// addLocal adds this clone's local configuration to the rules. It refuses a local configuration that git tracks: every
// clone would get it, although this layer may set more than a repository may.
func (c *Config) addLocal(ctx context.Context, list Rules) (Rules, error) {
	top, worktree, err := c.LocalTop(ctx)
	if err != nil {
		return nil, err
	}
	if top != c.w.Repo.Root() {
		more, err := readRules(top, LocalPath)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	wrong := workflows.Finding{File: LocalPath, Message: "git tracks this file, and it is meant for one clone only",
		Hint: "git rm --cached " + LocalPath}
	if list.Find(LocalPath) == nil {
		if info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(LocalPath))); err != nil || info.Mode().IsRegular() {
			return list, nil
		}
		wrong.Message, wrong.Hint = "this is not a regular file, and is not read", ""
	} else if tracked, err := c.w.Repo.Tracked(ctx, worktree, LocalPath); err != nil || !tracked {
		return list, err
	}
	return nil, Wrong([]workflows.Finding{wrong})
}
