package workflows

import (
	"embed"
	"path"
	"strings"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// BuiltinNames returns the names of the workflows that come with wfs, sorted.
func BuiltinNames() []string { return namesIn(builtin, "builtin") }

// BuiltinText returns the YAML text of a built-in workflow, and false if there is none of that name.
func BuiltinText(name string) ([]byte, bool) { return textIn(builtin, "builtin", name) }

// namesIn are the names of the YAML files in a directory that is compiled in, sorted.
func namesIn(files embed.FS, dir string) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil // the directory is compiled in
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

func textIn(files embed.FS, dir, name string) ([]byte, bool) {
	text, err := files.ReadFile(path.Join(dir, name+".yaml"))
	return text, err == nil && nameProblem(name) == ""
}

// Builtin returns a built-in workflow, and false if there is none of that name.
func Builtin(name string) (*Workflow, bool) {
	text, ok := BuiltinText(name)
	if !ok {
		return nil, false
	}
	w, _ := ParseWorkflow(name+".yaml", text) // a test reads them all
	return w, w != nil
}
