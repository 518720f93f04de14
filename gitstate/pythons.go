package gitstate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	now := sync.OnceValue(r.fileTime)
	if r.pythons.in == nil {
		r.pythons.in = map[string]libraries{}
	}
	var found []string
	for _, prefix := range pythonPrefixes(env) {
		l, ok := r.pythons.in[prefix]
		if !ok || !l.same() {
			l = librariesIn(prefix)
			if delete(r.pythons.in, prefix); l.settled(now()) {
				r.pythons.in[prefix] = l
			}
		}
		found = append(found, l.found...)
	}
	return found
}

// librariesIn looks into a prefix. A directory is looked at before what is in it.
func librariesIn(prefix string) libraries {
	l := libraries{stamps: map[string]dirStamp{}}
	look := func(dir string, sites ...string) {
		if l.stamps[dir] = dirLook(dir); l.stamps[dir] == (dirStamp{}) {
			return
		}
		for _, s := range sites {
			if site := filepath.Join(dir, s); dirLook(site) != (dirStamp{}) {
				l.found = append(l.found, site)
			}
		}
	}
	lib := filepath.Join(prefix, "lib")
	look(lib)
	for _, name := range namesIn(lib) {
		if strings.HasPrefix(name, "python") {
			look(filepath.Join(lib, name), "site-packages", "dist-packages")
		}
	}
	look(filepath.Join(prefix, "Lib"), "site-packages")
	return l
}

// namesIn lists a directory, sorted.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	slices.Sort(names)
	return names
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
