package installed

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// packageJSON is what is read of a manifest.
type packageJSON struct {
	Name     string            `json:"name"`
	Version  string            `json:"version"`
	Scripts  map[string]string `json:"scripts"`
	Needs    map[string]any    `json:"dependencies"`
	Dev      map[string]any    `json:"devDependencies"`
	Optional map[string]any    `json:"optionalDependencies"`
	Peers    map[string]any    `json:"peerDependencies"`
}

// VersionOf is the version that a package.json names.
func VersionOf(data []byte) string {
	var p packageJSON
	if json.Unmarshal(data, &p) != nil {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, p.Version)
}

func scriptsOf(text string) string {
	var p packageJSON
	_ = json.Unmarshal([]byte(text), &p)
	var b strings.Builder
	for _, name := range sortedKeys(p.Scripts) {
		b.WriteString(p.Scripts[name] + "\n")
	}
	return b.String()
}

// declare finds the packages that the project asks for, and those that they ask for.
func (c *comparison) declare() {
	c.declared = map[string]bool{}
	var next []string
	add := func(name string) {
		if !c.declared[name] {
			c.declared[name] = true
			next = append(next, name)
		}
	}
	all := func(p packageJSON, dev bool) {
		for _, m := range []map[string]any{p.Needs, p.Optional, p.Peers} {
			for _, name := range sortedKeys(m) {
				add(name)
			}
		}
		if dev {
			for _, name := range sortedKeys(p.Dev) {
				add(name)
			}
		}
	}
	for _, f := range sortedKeys(c.Declares) {
		if path.Base(f) == "package.json" {
			var p packageJSON
			if json.Unmarshal([]byte(c.Declares[f].After), &p) == nil {
				if p.Name != "" {
					add(p.Name)
				}
				all(p, true)
			}
		}
	}
	where := map[string][]string{} // package.json files by the name of their directory
	for p := range c.After.Files {
		if path.Base(p) == "package.json" {
			if dir, name, inside := nodePackage(p); inside == "package.json" {
				where[name] = append(where[name], dir)
			}
		}
	}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, dir := range where[name] {
			var p packageJSON
			if json.Unmarshal(c.Read(dir+"/package.json"), &p) == nil {
				all(p, false)
			}
		}
	}
}

// nodePackage takes a path apart: the package's directory, its name, and what is inside. Without a package the name is "".
// A node_modules in the midst of a package is a part of it, such as those that packages test themselves with.
func nodePackage(p string) (dir, name, inside string) {
	at := strings.Index("/"+p, "/node_modules/")
	if at < 0 {
		return "", "", p
	}
	dir, inside = p[:at]+"node_modules", p[at+len("node_modules/"):]
	for {
		first, rest, _ := strings.Cut(inside, "/")
		if first == ".pnpm" || first == ".store" { // each package in a directory of its own, or all of them by their names
			id, below, _ := strings.Cut(rest, "/")
			dir += "/" + first
			if id != "node_modules" {
				dir += "/" + id
				id, below, _ = strings.Cut(below, "/")
			}
			if id != "node_modules" {
				return dir, "", below
			}
			dir, inside = dir+"/node_modules", below
			continue
		}
		if strings.HasPrefix(first, ".") {
			return dir + "/" + first, "", rest
		}
		name, inside = first, rest
		if strings.HasPrefix(first, "@") {
			first, inside, _ = strings.Cut(rest, "/")
			name += "/" + first
		}
		dir += "/" + name
		if below, ok := strings.CutPrefix(inside, "node_modules/"); ok {
			dir, inside = dir+"/node_modules", below
			continue
		}
		return dir, name, inside
	}
}

// nodeChange is what has changed in one package.
type nodeChange struct {
	dir, name string
	code      string // the first file that is run, and new or other than before
	link      *File
	binding   bool
}

func (c *comparison) node(paths []string) {
	byDir := map[string]*nodeChange{}
	var order []*nodeChange
	var commands []string
	for _, p := range paths {
		dir, name, inside := nodePackage(p)
		f, there := c.After.Files[p]
		if name == "" {
			if path.Base(dir) == ".bin" && there {
				commands = append(commands, p)
			}
			continue
		}
		n := byDir[dir]
		if n == nil {
			n = &nodeChange{dir: dir, name: name}
			_, n.binding = c.After.Files[dir+"/binding.gyp"]
			byDir[dir] = n
			order = append(order, n)
		}
		switch {
		case !there:
		case inside == "":
			n.link = &f
		case n.code == "" && isCode(p, f) && !(n.binding && strings.HasPrefix(inside, "build/")) && !strings.Contains("/"+inside, "/."):
			n.code = p
		}
	}
	for _, n := range order {
		c.nodeChanged(n)
	}
	for _, p := range commands {
		c.nodeCommand(p)
	}
}

// title is a package with its version.
func title(name, version string) string {
	if version == "" {
		return name
	}
	return name + " " + version
}

func (c *comparison) nodeChanged(n *nodeChange) {
	old, had := c.Before.Files[n.dir+"/package.json"]
	now, has := c.After.Files[n.dir+"/package.json"]
	if _, linked := c.Before.Files[n.dir]; linked {
		had = true
	}
	isAltered := mentions(c.altered, n.name)
	switch {
	case n.link != nil:
		c.nodeLinked(n, had, isAltered)
	case !has && n.code != "":
		c.found(Planted, n.code, "", "belongs to no installed package")
	case !has:
		if had {
			c.found(Removed, n.dir, title(n.name, old.Version), "")
		}
	case !had:
		c.nodeCame(n, title(n.name, now.Version))
	case isAltered:
		c.found(Installed, n.dir, title(n.name, old.Version), title(n.name, now.Version))
	case old.Version != now.Version && mentions(c.locks, n.name) && !c.pinned(n.name, now.Version):
		c.found(Edited, n.dir, title(n.name, old.Version), title(n.name, now.Version)+", which no lock file names")
	case old.Version != now.Version:
		c.found(Installed, n.dir, title(n.name, old.Version), title(n.name, now.Version))
	case n.code != "":
		c.found(Edited, n.code, title(n.name, old.Version), "not what was installed")
	}
}

// nodeCame is about a package that was not there.
func (c *comparison) nodeCame(n *nodeChange, what string) {
	if c.declared[n.name] || mentions(c.asked, n.name) {
		parent := path.Dir(n.dir)
		if at := strings.Index(n.dir, "node_modules/"); strings.Contains(parent[at+1:], "/node_modules") && !strings.Contains(n.dir, "/.pnpm/") && strings.Contains(c.locks, `"node_modules/`) &&
			!strings.Contains(c.locks, `"`+n.dir[at:]+`"`) {
			c.found(Planted, n.dir, "", what+", which no lock file has there")
			return
		}
		c.found(Installed, n.dir, "", what)
		return
	}
	if by := c.usedBy(n.name); by != "" {
		c.found(Planted, n.dir, "", what+", which "+by+" uses and no manifest asks for")
		return
	}
	c.found(Installed, n.dir, "", what+unaskedFor)
}

// nodeLinked is about a package that is a link: to another directory of packages, to the project's own, or elsewhere.
func (c *comparison) nodeLinked(n *nodeChange, had, isAltered bool) {
	to := n.link.Link
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(n.dir), to)
	}
	own := false
	for f, t := range c.Declares {
		if path.Base(f) == "package.json" && path.Dir(f) == to {
			var p packageJSON
			own = own || json.Unmarshal([]byte(t.After), &p) == nil && p.Name == n.name
		}
	}
	_, inside := c.rootOf(to)
	_, was := c.Before.Files[to+"/package.json"]
	switch {
	case own, isAltered, inside != "" && (was || c.declared[n.name]), !had && c.declared[n.name]:
		if !had && inside == "" {
			c.found(Installed, n.dir, "", "a link to "+to)
		}
	default:
		c.found(Planted, n.dir, "", "a link to "+to)
	}
}

// A command that pnpm, yarn or npm on Windows wrote is a script that begins the package's own file, with all arguments.
// Their forms change with their versions; none says anything by itself, or ends well without it.
var (
	shimBegins = regexp.MustCompile(`(?m)^\s*exec\s.*?(\.\./[^'"\s$]+)['"]\s+"\$@"`)
	shimSays   = regexp.MustCompile(`(?m)(?:^|[;&|]|\bthen\b|\bdo\b)\s*(?:echo|printf|cat|tee|exit\s+0|return\s+0)\b`)
)

// nodeCommand is about an entry of .bin, which stands before everything else on the path of scripts.
func (c *comparison) nodeCommand(p string) {
	f, name, bin := c.After.Files[p], path.Base(p), path.Dir(p)
	to, odd := f.Link, ""
	if to == "" {
		text := string(c.Read(p))
		if m := shimBegins.FindStringSubmatch(text); m != nil && strings.HasPrefix(text, "#!/bin/sh\n") && strings.Contains(text, "basedir") && !shimSays.MatchString(text) {
			to = m[1]
		} else {
			odd = "it was not written by an installer"
		}
	}
	if path.Ext(name) == ".cmd" || path.Ext(name) == ".ps1" {
		return // for other systems
	}
	if !path.IsAbs(to) {
		to = path.Join(bin, to)
	}
	dir, owner, _ := nodePackage(to)
	_, was := c.Before.Files[dir+"/package.json"]
	real := c.After.Files[dir] // pnpm's packages are links
	switch {
	case odd == "" && owner != "" && (was || c.declared[owner] || mentions(c.asked, owner) || real.Link != "" && c.declared[owner]):
		return
	case odd == "" && owner == "" && f.Link != "" && !path.IsAbs(to) && !strings.HasPrefix(to, "..") && !(c.OnPath != nil && c.OnPath(name)):
		return // of a package of the project's own
	case odd == "" && owner != "" && !c.shadows(name):
		return // its package is told
	case odd == "":
		odd = "it runs " + to
	}
	c.found(Planted, p, "", "a command in place of another one: "+odd)
}
