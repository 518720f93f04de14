package installed

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"path"
	"strings"
)

// dist is a distribution that is installed in a site-packages.
type dist struct {
	name, version string
	info          string // its .dist-info
}

// owned is a file that a distribution's RECORD lists.
type owned struct {
	by  dist
	sum string // hex; "" when it is not said
}

// plain is the name of a distribution in the form in which names are compared.
func plain(name string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
}

// siteOf is the site-packages that a path lies in, and the rest.
func siteOf(p string) (site, rest string) {
	for _, name := range []string{"/site-packages/", "/dist-packages/"} {
		if at := strings.Index(p, name); at >= 0 {
			return p[:at+len(name)-1], p[at+len(name):]
		}
	}
	return "", p
}

// distOf is the distribution whose .dist-info a path is in.
func distOf(p string) (dist, bool) {
	site, rest := siteOf(p)
	first, _, _ := strings.Cut(rest, "/")
	name, ok := strings.CutSuffix(first, ".dist-info")
	if site == "" || !ok {
		return dist{}, false
	}
	name, version, _ := strings.Cut(name, "-")
	return dist{name: plain(name), version: version, info: site + "/" + first}, true
}

// dists are the distributions of a state, by site-packages and name.
func dists(s *State) map[string]dist {
	out := map[string]dist{}
	for p := range s.Files {
		if path.Base(p) == "RECORD" {
			if d, ok := distOf(p); ok {
				out[path.Dir(d.info)+" "+d.name] = d
			}
		}
	}
	return out
}

// records are the files that distributions own.
func (c *comparison) records(list map[string]dist) map[string]owned {
	out := map[string]owned{}
	for _, key := range sortedKeys(list) {
		d := list[key]
		r := csv.NewReader(strings.NewReader(string(c.Read(d.info + "/RECORD"))))
		r.FieldsPerRecord, r.LazyQuotes = -1, true
		for {
			line, err := r.Read()
			if err != nil {
				break
			}
			o := owned{by: d}
			if len(line) > 1 {
				if b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(line[1], "sha256=")); err == nil && len(b) == 32 {
					o.sum = hex.EncodeToString(b)
				}
			}
			file := line[0]
			if !path.IsAbs(file) {
				file = path.Join(path.Dir(d.info), file)
			}
			out[file] = o
		}
	}
	return out
}

// wants reports whether the project asks for a distribution, or one that it asks for does.
func (c *comparison) wants(d dist, all map[string]dist) bool {
	if len(c.names) == 0 {
		c.names["\x00"] = false // read once
		text := plain(c.asked)
		for _, key := range sortedKeys(all) {
			if o := all[key]; mentions(text, o.name) {
				c.needs(o.name, strings.Contains(text, o.name+"["), all)
			}
		}
	}
	_, ok := c.names[d.name]
	return ok
}

// bootstrap are distributions that come with a virtual environment.
func bootstrap(name string) bool {
	return name == "pip" || name == "setuptools" || name == "wheel" || name == "virtualenv"
}

// needs notes a distribution and those that it requires, with those of its extras if they were asked for.
func (c *comparison) needs(name string, extras bool, all map[string]dist) {
	if had, known := c.names[name]; known && (had || !extras) {
		return
	}
	c.names[name] = extras
	for _, key := range sortedKeys(all) {
		if all[key].name != name {
			continue
		}
		for line := range strings.Lines(string(c.Read(all[key].info + "/METADATA"))) {
			what, ok := strings.CutPrefix(line, "Requires-Dist:")
			if !ok || !extras && strings.Contains(what, "extra ==") {
				continue
			}
			what = plain(strings.TrimSpace(what))
			if i := strings.IndexAny(what, " ;<>=!~[("); i >= 0 {
				c.needs(what[:i], what[i] == '[', all)
			} else {
				c.needs(what, false, all)
			}
		}
	}
}

func (c *comparison) python(paths []string) {
	if len(paths) == 0 {
		return
	}
	before, after := dists(c.Before), dists(c.After)
	own := c.records(after)
	for _, key := range sortedKeys(before) {
		if _, ok := after[key]; !ok {
			d := before[key]
			c.found(Removed, d.info, title(d.name, d.version), "")
		}
	}
	isFresh := func(d dist) bool {
		old, had := before[path.Dir(d.info)+" "+d.name]
		return !had || old.version != d.version
	}
	for _, key := range sortedKeys(after) {
		if d := after[key]; isFresh(d) {
			c.pythonCame(d, before[key], after, own)
		}
	}
	altered := plain(c.altered)
	told := map[string]bool{} // distributions and directories with a finding
	for _, p := range paths {
		f, there := c.After.Files[p]
		if !there {
			continue
		}
		site, rest := siteOf(p)
		if _, ok := distOf(p); ok {
			continue // what it says is compared with what is there
		}
		o, isOwned := own[p]
		switch {
		case isOwned && (mentions(altered, o.by.name) || c.own(o.by)):
		case isOwned && isFresh(o.by) && (o.sum == "" || o.sum == f.Sum || site == ""):
		case isOwned && o.sum == f.Sum && (site == "" || !c.changed(o.by.info+"/RECORD")):
		case isOwned && (isCode(p, f) || site == ""):
			if !told[o.by.info] {
				c.found(Edited, p, title(o.by.name, o.by.version), "not what was installed")
			}
			told[o.by.info] = true
		case isOwned:
		case site == "":
			c.pythonCommand(p, f)
		default:
			c.loose(p, rest, f, told)
		}
	}
}

func (c *comparison) changed(p string) bool {
	a, inA := c.Before.Files[p]
	b, inB := c.After.Files[p]
	return inA != inB || !a.Same(b)
}

// own reports whether a distribution is the project's own, installed in place.
func (c *comparison) own(d dist) bool {
	for _, p := range sortedKeys(c.Declares) {
		switch path.Base(p) {
		case "pyproject.toml", "setup.py", "setup.cfg":
			for line := range strings.Lines(c.Declares[p].After) {
				line = plain(strings.TrimSpace(line))
				if strings.HasPrefix(line, "name") && mentions(line, d.name) {
					return true
				}
			}
		}
	}
	return false
}

// pythonCame is about a distribution that was not there, or has another version.
func (c *comparison) pythonCame(d, old dist, all map[string]dist, own map[string]owned) {
	was := ""
	if old.name != "" {
		was = title(old.name, old.version)
	}
	switch {
	case c.wants(d, all), bootstrap(d.name):
		c.found(Installed, d.info, was, title(d.name, d.version))
		return
	case c.kindOf(d.info) == Site: // other projects install there as well
		c.found(Installed, d.info, was, title(d.name, d.version)+unaskedFor)
		return
	}
	if text := string(c.Read(d.info + "/entry_points.txt")); strings.Contains(text, "[pytest11]") && (!mentions(c.scripts, "unittest") || mentions(c.scripts, "pytest")) {
		c.found(Planted, d.info, was, title(d.name, d.version)+", a plugin of pytest that no manifest asks for")
		return
	}
	tops := []string{}
	for _, p := range sortedKeys(own) {
		o := own[p]
		if o.by != d {
			continue
		}
		site, rest := siteOf(p)
		if site != "" && MaySay(rest) && !c.onlyPaths(p) {
			c.found(Planted, p, was, "of "+title(d.name, d.version)+", runs in every Python, and no manifest asks for it")
			return
		}
		if first, _, _ := strings.Cut(rest, "/"); site != "" && path.Ext(p) == ".py" {
			tops = append(tops, strings.TrimSuffix(first, ".py"))
		}
		if site == "" && mentions(c.scripts, path.Base(p)) {
			c.found(Planted, p, was, "of "+title(d.name, d.version)+", a command of gates that no manifest asks for")
			return
		}
	}
	if by := c.usedBy(tops...); by != "" && old.name == "" {
		c.found(Planted, d.info, was, title(d.name, d.version)+", which "+by+" uses and no manifest asks for")
		return
	}
	c.found(Installed, d.info, was, title(d.name, d.version)+unaskedFor)
}

// onlyPaths reports whether a .pth file adds directories of the work tree and runs nothing.
func (c *comparison) onlyPaths(p string) bool {
	if path.Ext(p) != ".pth" {
		return false
	}
	for line := range strings.Lines(string(c.Read(p))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "import\t") || path.IsAbs(line) && line != c.Root && !strings.HasPrefix(line, c.Root+"/") {
			return false
		}
	}
	return true
}

// pythonCommand is about a file of a virtual environment that no distribution owns.
func (c *comparison) pythonCommand(p string, f File) {
	name := path.Base(p)
	lower := strings.ToLower(name)
	switch {
	case name == "pyvenv.cfg", strings.HasPrefix(lower, "activate"), strings.HasPrefix(lower, "deactivate"), lower == "pydoc.bat":
		return
	case strings.HasPrefix(lower, "python"), strings.HasPrefix(lower, "pypy"):
		to := f.Link
		if to != "" && strings.HasPrefix(strings.ToLower(path.Base(to)), strings.TrimRight(lower[:4], "0123456789.")) && (path.IsAbs(to) || path.Dir(to) == ".") {
			return
		}
		if head := c.Read(p); to == "" && len(head) > 4 && (string(head[:4]) == "\x7fELF" || head[0] >= 0xca || string(head[:2]) == "MZ") {
			if old, had := c.Before.Files[p]; !had || old.Link != "" {
				return // a copy, as of venv --copies
			}
		}
	case !c.shadows(name):
		return
	}
	c.found(Planted, p, "", "a command that belongs to no installed package")
}

// loose is about a file of a site-packages that no distribution owns.
func (c *comparison) loose(p, rest string, f File, told map[string]bool) {
	first, _, deep := strings.Cut(rest, "/")
	_, was := c.Before.Files[p]
	switch {
	case strings.HasSuffix(first, ".egg-info"), strings.HasSuffix(first, ".egg"), strings.HasSuffix(first, ".egg-link"), !isCode(p, f), told[first]:
		return
	case first == "_virtualenv.py", first == "_virtualenv.pth", first == "distutils-precedence.pth":
		if !was {
			return
		}
	case !deep && c.onlyPaths(p):
		return // what it leads to is the tree's, or a clean tree says that it is not
	}
	told[first] = deep
	if kind := c.kindOf(p); was && kind == Python {
		c.found(Edited, p, "", "not as it was, and of no installed package")
		return
	}
	c.found(Planted, p, "", "belongs to no installed package")
}
