package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Where the user's own files are, relative to the work tree.
const (
	configPath   = ".wfs/config.yaml"
	workflowsDir = ".wfs/workflows/"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// findingsError shows everything that is wrong with the user's files at once.
type findingsError struct{ findings []workflows.Finding }

func (e *findingsError) Error() string {
	var b strings.Builder
	for i, f := range e.findings {
		if i > 0 {
			b.WriteString("\n       ")
		}
		b.WriteString(safetext.Strip(f.String()))
		if f.Hint != "" && f.Hint != e.hint("") {
			b.WriteString(" (" + safetext.Strip(f.Hint) + ")")
		}
	}
	return b.String()
}

// hint is what to type about it. again is the command that found it, with an agent. wfs workflow check finds what is wrong
// in files, and nothing of what a session would lack.
func (e *findingsError) hint(again string) string {
	for _, f := range e.findings {
		if f.File != "" {
			return "wfs workflow check"
		}
	}
	for _, f := range e.findings {
		if !f.NoAgent && f.Hint != "" {
			return f.Hint
		}
	}
	if e.findings[0].NoAgent {
		return again
	}
	return "wfs workflow check"
}

// loadWorkflow finds a workflow by name: the repository's own first, then the built-in ones.
func loadWorkflow(list []rulesFile, name string) (*workflows.Workflow, []byte, error) {
	for _, ext := range []string{".yaml", ".yml"} {
		file := workflowsDir + name + ext
		if text := findRules(list, file); text != nil {
			w, findings := workflows.ParseWorkflow(file, text)
			if len(findings) > 0 {
				return nil, nil, &findingsError{findings}
			}
			return w, text, nil
		}
	}
	if text, ok := workflows.BuiltinText(name); ok {
		w, findings := workflows.ParseWorkflow(name+".yaml", text)
		if len(findings) > 0 {
			return nil, nil, &findingsError{findings}
		}
		return w, text, nil
	}
	names := workflowNames(list)
	r := session.Refuse(session.RefuseUsage, "wfs workflow list",
		"no workflow %q; there are: %s", name, strings.Join(names, ", "))
	if near := workflows.Suggest(name, names); near != "" {
		r.Hint = fmt.Sprintf("did you mean %s?", near)
	}
	return nil, nil, r
}

// workflowNames lists the repository's own and the built-in workflows.
func workflowNames(list []rulesFile) []string {
	names := workflows.BuiltinNames()
	for _, f := range list {
		if name, ok := ownWorkflow(f); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func ownWorkflow(f rulesFile) (name string, ok bool) {
	name, ok = strings.CutPrefix(f.Path, workflowsDir)
	if !ok || strings.Contains(name, "/") {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml"), true
}
