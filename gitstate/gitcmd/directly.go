package gitcmd

import (
	"os"
	"path/filepath"
	"strings"
)

// ReadsDirectly reports whether wfs can read the repository without git: go-git supports the format of its objects, and
// the package refs the format of its refs.
func (r *Git) ReadsDirectly() bool {
	r.once.Do(func() {
		config, err := ReadFile(filepath.Join(r.CommonDir, "config"))
		_, alternates := os.Stat(filepath.Join(r.CommonDir, "objects", "info", "alternates"))
		r.direct = err == nil && r.Format == "sha1" && Absent(alternates) && knownExtensions(string(config))
	})
	return r.direct
}

// knownExtensions reports whether the text of a repository's config file has no extension that changes how refs and
// objects are stored. Git reads extensions only from this file, never from files that it includes.
func knownExtensions(config string) bool {
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			section, line = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(rest)
		}
		if section != "extensions" || line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "noop", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees":
		case "objectformat":
			if value != "sha1" {
				return false
			}
		case "refstorage":
			if value != "files" {
				return false
			}
		default:
			return false
		}
	}
	return true
}
