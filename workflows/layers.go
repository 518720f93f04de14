package workflows

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Source says which layer of configuration a setting comes from.
type Source string

// The layers. Each one overrides those before it.
const (
	FromDefault     Source = "default"
	FromUser        Source = "user"        // the person's own file, for all repositories
	FromRepository  Source = "repository"  // .wfs/config.yaml, which everybody has who clones
	FromLocal       Source = "local"       // .wfs/local.yaml, untracked: this clone's own
	FromEnvironment Source = "environment" // a variable
	FromFlag        Source = "flag"        // of the command line
)

// Layer is one source of settings: a file, or a single setting that was typed.
type Layer struct {
	Source Source
	Name   string // as findings name it: a path, $WFS_AGENT, --agent
	Text   []byte // of a file
	// Key and Value are there instead of a Text: "agent.command", "claude -p".
	Key, Value string
}

// Setting is one value that holds.
type Setting struct {
	Key    string // "agent.command", "gates.tests.run"
	Value  any    // as the file has it: string, float64, bool, or lists and mappings of those
	Source Source
	Name   string // of the layer; "" for a default
	Line   int    // from 1; 0 when the layer is no file
	run    bool   // a command
}

// Text returns the value as a person would say it: a text as it is, a list with its items in a row.
func (s Setting) Text() string { return plainText(s.Value) }

func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, plainText(item))
		}
		return strings.Join(items, " ")
	}
	return fmt.Sprint(v)
}

// Settings are all layers of configuration in one.
type Settings struct {
	Config Config
	List   []Setting // in the order of the table; defaults too
}

// Get returns the setting with this key, and false when nothing sets it.
func (s *Settings) Get(key string) (Setting, bool) {
	i := slices.IndexFunc(s.List, func(x Setting) bool { return x.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return s.List[i], true
}

// Commands returns the settings that can make wfs run something.
func (s *Settings) Commands() []Setting {
	return slices.DeleteFunc(slices.Clone(s.List), func(x Setting) bool { return !x.run })
}

// Files returns the names of the files that set something in a group such as "gates", the lowest layer first.
func (s *Settings) Files(group string) []string {
	var names []string
	for _, x := range s.List {
		if strings.HasPrefix(x.Key, group+".") && x.Name != "" && !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	return names
}

// ReadLayers reads configuration out of its layers, the lowest first. Mappings are merged key by key; whatever else a
// higher layer has (a scalar, a list, a gate) replaces what a lower one has under the same key, as a whole. Each layer is
// checked by itself. Findings are everything that is wrong; the settings are nil if there is one.
func ReadLayers(layers ...Layer) (*Settings, []Finding) {
	s, findings := BuiltinCards().Read(layers...)
	if s != nil {
		s.Config.Cards = nil // Resolve knows them
	}
	return s, findings
}

// ParseConfig reads and checks a repository's configuration by itself. file names the text in findings. Findings are
// everything that is wrong, in the order of lines; the configuration is nil if there is one.
func ParseConfig(file string, text []byte) (*Config, []Finding) {
	s, findings := ReadLayers(Layer{Source: FromRepository, Name: file, Text: text})
	if s == nil {
		return nil, findings
	}
	return &s.Config, nil
}

// merger adds up layers.
type merger struct {
	sum      *node
	cards    Cards
	findings []Finding
}

func (m *merger) add(l *Layer) {
	r := &reader{file: l.Name, layer: l, cards: m.cards}
	var root *node
	if l.Key != "" {
		root = r.typed(l.Key, l.Value)
	} else if root = r.load(l.Text); root != nil && !r.version(root) {
		root = nil
	}
	if root != nil {
		m.nameCards(root)
		r.config(root)
	}
	sortFindings(r.findings)
	if m.findings = append(m.findings, r.findings...); len(m.findings) == 0 {
		m.sum = m.merge(m.sum, fillShort(root, isA(configObject)), isA(configObject))
	}
}

// typed makes a document out of one setting.
func (r *reader) typed(key, value string) *node {
	n := &node{tag: "!!str", text: value, from: r.layer}
	for _, part := range slices.Backward(strings.Split(key, ".")) {
		n = &node{kind: mapping, from: r.layer, entries: []entry{{&node{tag: "!!str", text: part, from: r.layer}, n}}}
	}
	return n
}

// nameCards writes out `agent: claude`, where that is the name of a card: {use: claude}.
func (m *merger) nameCards(root *node) {
	name := func(n *node) *node {
		if n.kind != scalar || n.tag != "!!str" || m.cards[strings.TrimSpace(n.text)] == nil {
			return n
		}
		key := &node{line: n.line, from: n.from, tag: "!!str", text: "use"}
		return &node{kind: mapping, line: n.line, from: n.from, entries: []entry{{key, n}}}
	}
	for i, e := range root.entries {
		switch e.key.text {
		case "agent":
			root.entries[i].value = name(e.value)
		case "agents":
			for k, x := range e.value.entries {
				e.value.entries[k].value = name(x.value)
			}
		}
	}
}

// fillShort writes out what stands for a mapping: `agent: claude -p` is {command: claude -p}.
func fillShort(n *node, s shape) *node {
	if s.kind != anObject && s.kind != aMap {
		return n
	}
	out := *n
	if s.kind == aMap {
		out.entries = slices.Clone(out.entries)
		for i, e := range out.entries {
			out.entries[i].value = fillShort(e.value, *s.of)
		}
		return &out
	}
	if n.kind != mapping {
		if s.object.short == "" {
			return n
		}
		key := &node{line: n.line, from: n.from, tag: "!!str", text: s.object.short}
		out = node{kind: mapping, line: n.line, from: n.from, entries: []entry{{key, n}}}
	}
	out.entries = slices.Clone(out.entries)
	for i, e := range out.entries {
		if k := s.object.key(e.key.text); k != nil {
			out.entries[i].value = fillShort(e.value, k.value)
		}
	}
	return &out
}

// merge lays high over low. Both have been checked.
func (m *merger) merge(low, high *node, s shape) *node {
	if s.kind != anObject && s.kind != aMap || low.kind != mapping || high.kind != mapping {
		return high
	}
	out := *low
	out.line, out.from = high.line, high.from
	out.entries = slices.Clone(low.entries)
	if s.kind == anObject && displaced(low, high, s.object) {
		out.entries = slices.DeleteFunc(out.entries, func(x entry) bool { return slices.Contains(s.object.with, x.key.text) })
	}
	for _, e := range high.entries {
		name := e.key.text
		if s.kind == aMap {
			m.checkCase(low, e)
		} else if slices.Contains(s.object.either, name) {
			out.entries = slices.DeleteFunc(out.entries, func(x entry) bool {
				return x.key.text != name && slices.Contains(s.object.either, x.key.text)
			})
		}
		i := slices.IndexFunc(out.entries, func(x entry) bool { return x.key.text == name })
		switch {
		case i < 0:
			out.entries = append(out.entries, e)
		case s.kind == aMap: // a gate is one thing: half of one layer and half of another would be nobody's gate
			out.entries[i] = e
		case raises(out.entries[i].value, e.value, s.object.key(name)):
		default:
			out.entries[i] = entry{e.key, m.merge(out.entries[i].value, e.value, s.object.key(name).value)}
		}
	}
	return &out
}

// displaced reports whether the higher layer chooses another one of what excludes each other, or says it otherwise.
func displaced(low, high *node, o *object) bool {
	chosen := func(n *node) (string, string) {
		for _, e := range n.entries {
			if slices.Contains(o.either, e.key.text) {
				return e.key.text, plainText(plainValue(e.value))
			}
		}
		return "", ""
	}
	key, value := chosen(high)
	was, other := chosen(low)
	return key != "" && was != "" && (key != was || value != other)
}

// checkCase reports a name that was probably meant to override another one, and does not.
func (m *merger) checkCase(low *node, e entry) {
	for _, other := range low.entries {
		if a, b := e.key.text, other.key.text; a != b && strings.EqualFold(a, b) {
			m.findings = append(m.findings, Finding{
				File: e.key.from.Name, Line: e.key.line,
				Message: fmt.Sprintf("%s differs in nothing but capital letters from %s in %s, and does not override it", a, b, other.key.from.Name),
				Hint:    "write " + b,
			})
		}
	}
}

// flatten lists the settings of a mapping, in the order of the table.
func (s *Settings) flatten(prefix string, n *node, o *object) {
	for _, k := range o.keys {
		if k.value.kind == aVersion {
			continue
		}
		var value *node
		if n != nil {
			for _, e := range n.entries {
				if e.key.text == k.name {
					value = e.value
				}
			}
		}
		s.flattenValue(prefix+k.name, value, k)
	}
}

func (s *Settings) flattenValue(key string, n *node, k key) {
	switch {
	case k.value.kind == anObject && (n == nil || n.kind == mapping):
		s.flatten(key+".", n, k.value.object)
	case k.value.kind == aMap && n != nil && k.value.of.kind == anObject:
		entries := slices.SortedFunc(slices.Values(n.entries), func(a, b entry) int { return strings.Compare(a.key.text, b.key.text) })
		for _, e := range entries {
			s.flatten(key+"."+e.key.text+".", e.value, k.value.of.object)
		}
	case n != nil:
		s.List = append(s.List, Setting{Key: key, Value: plainValue(n), Source: n.from.Source, Name: n.from.Name, Line: n.line, run: k.value.kind == aCommand})
	case k.fallback != "":
		s.List = append(s.List, Setting{Key: key, Value: jsonValue(k.value, k.fallback), Source: FromDefault})
	}
}

// plainValue returns the value of a node as JSON has it.
func plainValue(n *node) any {
	switch n.kind {
	case mapping:
		m := map[string]any{}
		for _, e := range n.entries {
			m[e.key.text] = plainValue(e.value)
		}
		return m
	case list:
		l := []any{}
		for _, item := range n.items {
			l = append(l, plainValue(item))
		}
		return l
	}
	switch n.tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.text, "true")
	case "!!int", "!!float":
		if f, err := strconv.ParseFloat(n.text, 64); err == nil {
			return f
		}
	}
	return n.text
}

// SettingKeys returns every key that a configuration may have, with NAME where a name stands: "gates.NAME.run".
func SettingKeys() []string {
	var keys []string
	var down func(prefix string, s shape)
	down = func(prefix string, s shape) {
		switch {
		case s.kind == anObject:
			for _, k := range s.object.keys {
				if k.value.kind != aVersion {
					down(strings.TrimPrefix(prefix+"."+k.name, "."), k.value)
				}
			}
		case s.kind == aMap:
			down(prefix+".NAME", *s.of)
		default:
			keys = append(keys, prefix)
		}
	}
	down("", isA(configObject))
	return keys
}

// checkPath reports a path that the layer which sets it must not set: a repository may not lead out of itself, and a
// file that is for all repositories cannot mean a place in one of them.
func (r *reader) checkPath(n *node, path, what string) {
	local := filepath.FromSlash(path)
	switch {
	case path == "" || r.layer == nil:
	case r.layer.Source == FromRepository && !filepath.IsLocal(local):
		r.fail(n.line, "%s %s leads out of the work tree, where a repository may not point", what, quote(path))
		r.hint("set it in .wfs/local.yaml, which is this clone's own")
	case r.layer.Source == FromUser && !filepath.IsAbs(local):
		r.fail(n.line, "%s %s must be absolute in a configuration for all repositories", what, quote(path))
	}
}

// checkPersonal reports a key that a repository may not set.
func (r *reader) checkPersonal(e entry, prefix string, k *key) {
	if k.personal != "" && r.layer != nil && r.layer.Source == FromRepository {
		r.fail(e.key.line, "%s%s is not for a repository to set: %s", prefix, k.name, k.personal)
		r.hint("set it in .wfs/local.yaml, or in your own configuration: wfs config path")
	}
}
