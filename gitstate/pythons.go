package gitstate

import (
	"path/filepath"
	"slices"
	"strings"
)

// pythonDirs are directories in which Pythons that an environment leads to look for installed packages.
func pythonDirs(env []string) []string {
	var found []string
	for _, prefix := range pythonPrefixes(env) {
		for _, pattern := range []string{"lib/python*/site-packages", "lib/python*/dist-packages", "Lib/site-packages"} {
			dirs, _ := filepath.Glob(filepath.Join(escapeGlob(prefix), filepath.FromSlash(pattern)))
			found = append(found, dirs...)
		}
	}
	return found
}

// pythonPrefixes are directories below which Pythons that an environment leads to have their libraries.
func pythonPrefixes(env []string) []string {
	var prefixes []string
	add := func(dir string) {
		if filepath.IsAbs(dir) && !slices.Contains(prefixes, dir) {
			prefixes = append(prefixes, dir)
		}
	}
	for _, entry := range env {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "VIRTUAL_ENV", "CONDA_PREFIX":
			add(value)
		case "HOME":
			add(filepath.Join(value, ".local"))
		case "PYENV_ROOT":
			versions, _ := filepath.Glob(filepath.Join(escapeGlob(value), "versions", "*"))
			for _, v := range versions {
				add(v)
			}
		case "PATH":
			for _, dir := range filepath.SplitList(value) {
				add(filepath.Dir(dir))
				if filepath.Base(dir) == "shims" { // of pyenv
					versions, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(dir)), "versions", "*"))
					for _, v := range versions {
						add(v)
					}
				}
			}
		}
	}
	return prefixes
}
