package gitstate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// libraries is where one Python looks for installed packages, as it was found while some directories looked as they did.
type libraries struct {
	stamps map[string]dirStamp // zero for what is not there
	found  []string
}

// pythonDirs are directories in which Pythons that an environment leads to look for installed packages. They are searched
// for once, and again where one came or went.
func (r *Repo) pythonDirs(env []string) []string {
	r.pythons.Lock()
	defer r.pythons.Unlock()
	if r.pythons.in == nil {
		r.pythons.in = map[string]libraries{}
	}
	var found []string
	for _, prefix := range pythonPrefixes(env) {
		l, ok := r.pythons.in[prefix]
		if !ok || !l.same() {
			l = librariesIn(prefix)
			if delete(r.pythons.in, prefix); l.settled(r.fileTime()) {
				r.pythons.in[prefix] = l
			}
		}
		found = append(found, l.found...)
	}
	return found
}

func librariesIn(prefix string) libraries {
	l := libraries{stamps: map[string]dirStamp{}}
	for _, pattern := range []string{"lib", "lib/python*", "Lib"} { // before they are looked into
		dir := filepath.Join(prefix, filepath.FromSlash(pattern))
		l.stamps[dir] = dirLook(dir)
		if strings.HasSuffix(pattern, "*") {
			delete(l.stamps, dir)
			dirs, _ := filepath.Glob(filepath.Join(escapeGlob(prefix), filepath.FromSlash(pattern)))
			for _, d := range dirs {
				l.stamps[d] = dirLook(d)
			}
		}
	}
	for _, pattern := range []string{"lib/python*/site-packages", "lib/python*/dist-packages", "Lib/site-packages"} {
		dirs, _ := filepath.Glob(filepath.Join(escapeGlob(prefix), filepath.FromSlash(pattern)))
		l.found = append(l.found, dirs...)
	}
	return l
}

func (l libraries) same() bool {
	for dir, stamp := range l.stamps {
		if dirLook(dir) != stamp {
			return false
		}
	}
	return true
}

// settled reports whether whatever came since would show.
func (l libraries) settled(now uint64) bool {
	for _, stamp := range l.stamps {
		if !stamp.settled(now) {
			return false
		}
	}
	return true
}

// dirLook is what of a directory changes with what is in it, zero when it is not there.
func dirLook(dir string) dirStamp {
	info, err := os.Stat(dir)
	if err != nil {
		return dirStamp{}
	}
	changed, _ := changeOf(info)
	return dirStamp{inodeOf(info), uint64(changed), uint64(info.ModTime().UnixNano())}
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
