package workflows

import (
	"embed"
	"strings"

	"github.com/wfs-dev/wfs/workflows/spelling"
)

//go:embed builtin/*.yaml agents/*.yaml
var library embed.FS

// BuiltinNames returns the names of the workflows that come with wfs, sorted.
func BuiltinNames() []string { return namesIn("builtin") }

// BuiltinText returns the YAML text of a built-in workflow. It returns false if there is no workflow of that name.
func BuiltinText(name string) ([]byte, bool) { return textIn("builtin", name) }

// namesIn returns the names of the YAML files in an embedded directory, sorted.
func namesIn(dir string) []string {
	entries, _ := library.ReadDir(dir) // cannot fail: the directory is embedded
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

func textIn(dir, name string) ([]byte, bool) {
	text, err := library.ReadFile(dir + "/" + name + ".yaml")
	return text, err == nil && spelling.Name(name) == ""
}
