package workflows

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Source is the layer of configuration that a setting comes from.
type Source string

// The layers of configuration, from the lowest to the highest. Each overrides the ones before it.
const (
	FromDefault     Source = "default"
	FromUser        Source = "user"        // the user's own file for all repositories
	FromRepository  Source = "repository"  // .wfs/config.yaml, which is committed and therefore in every clone
	FromLocal       Source = "local"       // .wfs/local.yaml, which is untracked and belongs to one clone
	FromEnvironment Source = "environment" // an environment variable
	FromFlag        Source = "flag"        // a flag on the command line
)

// Layer is one source of settings: a file, or a single setting from a variable or flag.
type Layer struct {
	Source Source
	Name   string // name of the layer in findings: a path, $WFS_AGENT, --agent
	Text   []byte // content, if the layer is a file
	// Key and Value are set instead of Text if the layer is a single setting: "agent.command", "claude -p".
	Key, Value string
}

// Setting is one effective value.
type Setting struct {
	Key    string // "agent.command", "gates.tests.run"
	Value  any    // the value as in the file: a string, float64 or bool, or lists and mappings of them
	Source Source
	Name   string // name of the layer, "" for a default
	Line   int    // line in the layer's file, from 1; 0 if the layer is not a file
	run    bool   // the value is a command
}

// Text returns the value for display. A list is shown with its items separated by spaces.
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

// Settings is the result of merging all layers of configuration.
type Settings struct {
	Config Config
	List   []Setting // all effective settings in the order of the types' fields, including defaults
}

// Get returns the setting with a key. It returns false if the key has no value.
func (s *Settings) Get(key string) (Setting, bool) {
	i := slices.IndexFunc(s.List, func(x Setting) bool { return x.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return s.List[i], true
}

// Commands returns the settings that can make wfs run a command.
func (s *Settings) Commands() []Setting {
	return slices.DeleteFunc(slices.Clone(s.List), func(x Setting) bool { return !x.run })
}

// Read reads and merges the layers of a configuration, the lowest first. `cs` are the agents that the configuration may
// name. Mappings are merged key by key. Any other value (a scalar, a list, a gate) replaces the whole value that a
// lower layer has under the same key. Each layer is also checked by itself. All mistakes are returned as findings; if
// there are any, the settings are nil.
func (cs Cards) Read(layers ...Layer) (*Settings, []Finding) {
	s := &Settings{Config: Config{Version: FormatVersion, Gates: map[string]Gate{}, Cards: cs}}
	into := reflect.ValueOf(&s.Config).Elem()
	into.FieldByName("Agent").Set(made(reflect.TypeFor[Agent](), objects().agent))
	into.FieldByName("Worktree").Set(made(reflect.TypeFor[Worktree](), objects().worktree))
	r := &reader{cards: cs, names: map[string][2]string{}, settings: map[string]Setting{}}
	var findings []Finding
	for i := range layers {
		l := &layers[i]
		r.file, r.layer, r.findings, r.lines = l.Name, l, nil, map[string]int{}
		if root := r.root(l); root != nil {
			r.value(root, "", &shape{kind: anObject, object: objects().config}, into)
		}
		sortFindings(r.findings)
		findings = append(findings, r.findings...)
	}
	if len(findings) > 0 {
		return nil, findings
	}
	visitKeys("", objects().config, into, func(path string, k *key) {
		if found, ok := r.settings[path]; ok {
			s.List = append(s.List, found)
		} else if k.fallback != "" {
			s.List = append(s.List, Setting{Key: path, Value: defaultValue(k), Source: FromDefault})
		}
	})
	return s, nil
}

// root returns the YAML document of a layer. For a layer that is a single setting, it builds such a document.
func (r *reader) root(l *Layer) *yaml.Node {
	if l.Key == "" {
		root := r.load(l.Text)
		if root != nil && !r.version(root) {
			return nil
		}
		return root
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: l.Value}
	for _, part := range slices.Backward(strings.Split(l.Key, ".")) {
		n = mappingOf(part, n)
	}
	return n
}

func (c *Config) check(*reader, string) {
	trimSlashes(c.CleanProvide)
	c.Budget.CallsPerHour = c.Limits.CallsPerHour
}

// replace deletes settings of lower layers that conflict with this layer: if it sets one of several keys that exclude
// each other (such as `use` and `command` of an agent), the other keys and their details are deleted.
func (r *reader) replace(given map[string]*yaml.Node, at string, o *object, v reflect.Value) {
	for _, chosen := range o.either {
		n := given[chosen]
		if n == nil || r.settings[below(at, chosen)].Text() == plainText(plainValue(n)) {
			continue
		}
		for _, name := range slices.Concat(o.either, o.with) {
			delete(r.settings, below(at, name))
			v.Field(o.key(name).field).SetZero()
		}
	}
}

// raises reports whether the repository's layer sets a limit to a higher value than the user's own file. A repository
// may only lower such limits.
func (r *reader) raises(n *yaml.Node, key string) bool {
	own := r.settings[key]
	return own.Source == FromUser && r.layer.Source == FromRepository && amount(n.Value) > amount(own.Text())
}

func amount(text string) float64 {
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f
}

// visitKeys calls `see` for every key of an object, in the order of the type's fields. For a mapping by name it visits
// the names that `v` has.
func visitKeys(prefix string, o *object, v reflect.Value, see func(path string, k *key)) {
	for i := range o.keys {
		k := &o.keys[i]
		path, value := prefix+k.name, v.Field(k.field)
		switch k.value.kind {
		case aVersion:
		case anObject:
			visitKeys(path+".", k.value.object, value, see)
		case aMap:
			names := value.MapKeys()
			slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, name := range names {
				if k.value.of.kind != anObject {
					see(path+"."+name.String(), k)
					continue
				}
				visitKeys(path+"."+name.String()+".", k.value.of.object, value.MapIndex(name), see)
			}
		default:
			see(path, k)
		}
	}
}

// SettingKeys returns all keys of a configuration. Where a key contains a name that users choose, it has NAME:
// "gates.NAME.run".
func SettingKeys() []string {
	var keys []string
	c := Config{Agents: map[string]Agent{"NAME": {}}, Gates: map[string]Gate{"NAME": {}}}
	visitKeys("", objects().config, reflect.ValueOf(c), func(path string, _ *key) { keys = append(keys, path) })
	return keys
}
