package workflows

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// reader reads a YAML file into the fields of Go types, and collects one finding for each mistake. The path of a value
// ("gates.tests.run") names it in findings, and is the key of its setting.
type reader struct {
	file     string
	layer    *Layer // the layer of configuration that is read, nil for other files
	cards    Cards  // known agents, which the file may name
	findings []Finding
	lines    map[string]int       // line of each value in the file, by path
	names    map[string][2]string // names of gates, phases and agents with the files that have them, by lower-case path
	settings map[string]Setting   // settings of all layers so far, by path; nil for other files
}

// checker is implemented by types with rules that field tags cannot express.
type checker interface {
	check(r *reader, at string)
}

var inMany = lazyregexp.New(`(phase|gate|agent)s\.([^.]+)`)

// fail reports a mistake in the value at a path. The message is appended to the name of the value ("gate tests: run").
func (r *reader) fail(at, message string, args ...any) { r.failIn(r.lines[at], at, message, args...) }

func (r *reader) failIn(line int, at, message string, args ...any) {
	f := Findingf(message, args...)
	what := strings.ReplaceAll(inMany.ReplaceAllString(at, "$1 $2"), ".", ": ")
	if what == "" && strings.HasPrefix(message, " ") {
		what = "the file"
	}
	f.File, f.Line, f.Message = r.file, line, strings.TrimPrefix(what+f.Message, ": ")
	r.findings = append(r.findings, f)
}

// has reports whether the object at a path has this key in the file.
func (r *reader) has(at, key string) bool {
	_, ok := r.lines[below(at, key)]
	return ok
}

func below(at, key string) string { return strings.TrimPrefix(at+"."+key, ".") }

// wrong reports a value of the wrong type.
func (r *reader) wrong(n *yaml.Node, at, want string) {
	hint := ""
	if want == "text" && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
		hint = fmt.Sprintf("\nput it in quotes: %q", clip(n.Value))
	}
	r.fail(at, " must be %s, not %s%s", want, describe(n), hint)
}

func describe(n *yaml.Node) string {
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case tag == "!!null":
		return "empty"
	case tag == "!!str":
		return quote(n.Value)
	}
	return clip(n.Value)
}

// value reads a node into v, as a value of shape s. It reports mistakes.
func (r *reader) value(n *yaml.Node, at string, s *shape, v reflect.Value) {
	if r.lines[at] = n.Line; n.Kind == yaml.AliasNode {
		return // already reported
	}
	if v.Kind() == reflect.Pointer {
		v.Set(made(v.Type().Elem(), s.object).Addr())
		v = v.Elem()
	}
	if s.kind < aList {
		v.SetZero()
	}
	switch {
	case n.ShortTag() == "!!str" && slices.Contains(s.words, n.Value):
		setWord(n.Value, s, v)
	case s.kind == anObject:
		r.object(n, at, s.object, v)
	case s.kind == aMap:
		r.mapping(n, at, s, v)
	case s.kind == aList:
		r.list(n, at, s, v)
	case s.kind == aCommand && n.Kind == yaml.SequenceNode:
		r.list(n, at, &shape{of: &isText}, v.FieldByName("Argv"))
	case s.kind == aCommand:
		if n.ShortTag() != "!!str" {
			r.wrong(n, at, "a command: text for the shell, or a list of arguments")
		} else {
			v.FieldByName("Shell").SetString(strings.TrimRight(r.text(n, at, &isText), "\n"))
		}
	case s.kind == aText, s.kind == aVariable:
		v.SetString(r.text(n, at, s))
	default:
		r.scalar(n, at, s, v)
	}
}

// made returns a new value of type t. If it is an object, its fields have their defaults.
func made(t reflect.Type, o *object) reflect.Value {
	v := reflect.New(t).Elem()
	if o == nil {
		return v
	}
	for i := range o.keys {
		if k := &o.keys[i]; k.fallback != "" {
			r := &reader{lines: map[string]int{}}
			r.value(&yaml.Node{Kind: yaml.ScalarNode, Value: k.fallback}, "", &k.value, v.Field(k.field))
		}
	}
	return v
}

func setWord(word string, s *shape, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(word)
	case reflect.Bool: // the first word is the default
		v.SetBool(word != s.words[0])
	case reflect.Struct:
		v.SetZero()
		v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, word) }).SetBool(true)
	default: // the word is "off"
		v.SetInt(-1)
	}
}

// maxDuration is the maximum time-out: a week. A longer time-out is probably a mistyped unit.
const maxDuration = 7 * 24 * time.Hour

// scalar reads a number, a boolean, or a text with a notation, such as a duration.
func (r *reader) scalar(n *yaml.Node, at string, s *shape, v reflect.Value) {
	if s.kind == aWord {
		hint := ""
		if near := spelling.Suggest(n.Value, s.words); near != "" {
			hint = "\ndid you mean " + near + "?"
		}
		r.fail(at, " must be one of %s, not %s%s", strings.Join(s.words, ", "), describe(n), hint)
		return
	}
	want, ok := scalars[s.kind](n, s, v)
	switch {
	case ok:
	case s.kind == aDuration && n.ShortTag() == "!!int":
		r.fail(at, " needs a unit: %ss or %sm?", clip(n.Value), clip(n.Value))
	default:
		r.wrong(n, at, want)
	}
}

// scalars has a function for each kind of scalar, which reads a node into v. It returns a description of valid values
// for messages, and whether the node has one.
var scalars = map[kind]func(n *yaml.Node, s *shape, v reflect.Value) (want string, ok bool){
	aNumber: func(n *yaml.Node, s *shape, v reflect.Value) (string, bool) {
		number, err := strconv.Atoi(n.Value)
		v.SetInt(int64(number))
		return fmt.Sprintf("a whole number from %d to %d", s.low, s.high),
			n.ShortTag() == "!!int" && err == nil && number >= s.low && number <= s.high
	},
	aMoney: func(n *yaml.Node, _ *shape, v reflect.Value) (string, bool) {
		usd, err := ParseUSD(n.Value)
		v.SetFloat(usd)
		return fmt.Sprintf("an amount of dollars (20, 2.50), at most %d", maxUSD), n.ShortTag() != "!!str" && err == nil
	},
	aTruth: func(n *yaml.Node, _ *shape, v reflect.Value) (string, bool) {
		v.SetBool(strings.EqualFold(n.Value, "true"))
		return "true or false", n.ShortTag() == "!!bool"
	},
	aDuration: func(n *yaml.Node, _ *shape, v reflect.Value) (string, bool) {
		d, err := time.ParseDuration(n.Value)
		ok := err == nil && d > 0 && d <= maxDuration
		if v.Type() != reflect.TypeFor[time.Duration]() {
			d = (d + time.Second - 1) / time.Second
		}
		v.SetInt(int64(d))
		return fmt.Sprintf("a duration (90s, 10m, 1h30m), at most %dh", int(maxDuration.Hours())), ok
	},
	aSize: func(n *yaml.Node, _ *shape, v reflect.Value) (string, bool) { // each unit is 1024 times the one before
		ok := spelling.SizeText.MatchString(n.Value)
		if digits := len(n.Value) - 2; ok {
			size, _ := strconv.ParseInt(n.Value[:digits], 10, 64)
			v.SetInt(size << (10 * (1 + strings.IndexByte("KMG", n.Value[digits]))))
		}
		return "a size (500KB, 10MB, 2GB)", ok
	},
}

// object reads a mapping with a fixed set of keys.
func (r *reader) object(n *yaml.Node, at string, o *object, v reflect.Value) {
	if n = r.mappingFor(n, at, o); n == nil {
		return
	}
	given := r.given(n, at, o)
	r.replace(given, at, o, v)
	for i := range o.keys {
		k := &o.keys[i]
		value, field := given[k.name], v.Field(k.field)
		switch {
		case k.value.kind == aVersion:
		case value != nil:
			r.setting(value, below(at, k.name), k, field)
		case k.value.required:
			r.fail(at, ": %s is missing\n%s: %s", k.name, k.name, k.about)
		}
	}
	if c, ok := v.Addr().Interface().(checker); ok {
		c.check(r, at)
	}
}

// mappingFor returns the mapping for an object. If the file has only a short value in its place (`agent: claude`), it
// returns a mapping with that value under the right key. It returns nil, and reports a mistake, if the value is
// neither.
func (r *reader) mappingFor(n *yaml.Node, at string, o *object) *yaml.Node {
	if n.Kind != yaml.MappingNode && o.short != "" {
		short := o.short
		if n.ShortTag() == "!!str" && r.cards[strings.TrimSpace(n.Value)] != nil {
			short = o.either[0]
		}
		return mappingOf(short, n)
	}
	switch {
	case n.Kind != yaml.MappingNode && o.name == "run":
		r.wrong(n, at, "agent, human, {agent: …} or {command: …}")
		return nil
	case n.Kind != yaml.MappingNode:
		r.wrong(n, at, "a mapping (key: value)")
		return nil
	case len(n.Content) == 0 && o.short != "":
		r.fail(at, " is empty\nleave it out, or say what it is")
	}
	return n
}

// given returns the values of a mapping by key. It reports unknown and forbidden keys.
func (r *reader) given(n *yaml.Node, at string, o *object) map[string]*yaml.Node {
	given := map[string]*yaml.Node{}
	for _, e := range r.entries(n, at) {
		name, line := e.key.Value, e.key.Line
		switch k := o.key(name); {
		case k == nil && o == objects().gate && objects().gateUse.key(name) != nil:
			r.failIn(line, at, ": %s belongs where a phase uses the gate", name)
		case k == nil:
			r.failIn(line, at, ": unknown key %s (%s)", quote(name), spelling.Alternatives(name, o.names()))
		case k.value.personal != "" && r.layer != nil && r.layer.Source == FromRepository:
			r.failIn(line, at, ": %s is not for a repository to set: %s\nset it in .wfs/local.yaml, or in your own configuration: "+
				"wfs config path", name, k.value.personal)
		default:
			given[name] = e.value
		}
	}
	return given
}

// setting reads the value of a key into v. In a configuration, it also records the value as a setting.
func (r *reader) setting(n *yaml.Node, at string, k *key, v reflect.Value) {
	known := r.settings != nil && k.value.kind < aMap
	if known && k.value.lowers && r.raises(n, at) {
		known, v = false, reflect.New(v.Type()).Elem()
	}
	if r.value(n, at, &k.value, v); known {
		r.settings[at] = Setting{Key: at, Value: plainValue(n), Source: r.layer.Source, Name: r.layer.Name, Line: n.Line,
			run: k.value.kind == aCommand}
	}
}

type entry struct{ key, value *yaml.Node }

// entries returns the entries of a mapping. It reports and skips keys that are not text or occur twice.
func (r *reader) entries(n *yaml.Node, at string) []entry {
	first := map[string]int{}
	var entries []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch line, twice := first[key.Value]; {
		// reported by prepare
		case key.Kind == yaml.AliasNode, key.ShortTag() == "!!merge" && value.Kind == yaml.AliasNode:
		case key.Kind != yaml.ScalarNode, key.ShortTag() == "!!null":
			r.failIn(key.Line, at, ": a key must be text, not %s", describe(key))
		case twice:
			r.failIn(key.Line, at, ": duplicate key %s (first in line %d)", quote(key.Value), line)
		default:
			first[key.Value] = key.Line
			entries = append(entries, entry{key, value})
		}
	}
	return entries
}

// mapping reads a mapping of names to values. If a lower layer has a value under the same name, the new value replaces
// all of it.
func (r *reader) mapping(n *yaml.Node, at string, s *shape, v reflect.Value) {
	slice := v.Kind() == reflect.Slice
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 && slice {
		r.wrong(n, at, "a mapping of names to values")
		return
	}
	if !slice && v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, e := range r.entries(n, at) {
		name := e.key.Value
		path := below(at, clip(name))
		if problem := s.problem(name); problem != "" {
			r.failIn(e.key.Line, at, ": %s %s", quote(name), problem)
		} else if s.of.kind == anObject {
			r.name(e.key, path)
		}
		maps.DeleteFunc(r.settings, func(key string, _ Setting) bool { return strings.HasPrefix(key, path+".") })
		value := made(v.Type().Elem(), s.of.object)
		if s.of.kind == anObject {
			if field := value.FieldByName("Name"); field.IsValid() {
				field.SetString(name)
			}
		}
		r.value(e.value, path, s.of, value)
		if s.of.kind != anObject && r.settings != nil {
			r.settings[path] = Setting{Key: path, Value: plainValue(e.value), Source: r.layer.Source, Name: r.layer.Name,
				Line: e.value.Line}
		}
		if slice {
			v.Set(reflect.Append(v, value))
		} else {
			v.SetMapIndex(reflect.ValueOf(name), value)
		}
	}
}

// name reports a name that differs from an earlier one only in upper and lower case, because some file systems cannot
// distinguish the two.
func (r *reader) name(key *yaml.Node, at string) {
	low := strings.ToLower(at)
	other, there := r.names[low]
	if !there {
		r.names[low] = [2]string{key.Value, r.file}
	} else if other[0] != key.Value {
		r.failIn(key.Line, at, " differs in nothing but capital letters from %s in %s\ngive it another name, or write %s",
			other[0], other[1], other[0])
	}
}

// list reads a list. An empty list is a mistake.
func (r *reader) list(n *yaml.Node, at string, s *shape, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		noun := s.of.noun
		if noun == "" { // the key itself is the noun: gates, needs
			noun = at[strings.LastIndex(at, ".")+1:]
		}
		r.wrong(n, at, "a list of "+noun)
		return
	}
	if len(n.Content) == 0 {
		r.fail(at, " is an empty list")
	}
	v.SetZero()
	before := len(r.findings)
	for i, item := range n.Content {
		path, value := at, made(v.Type().Elem(), s.of.object)
		if s.of.kind == anObject {
			path = below(at, strconv.Itoa(i+1))
		}
		// the words after the first may be empty
		if i == 0 || s.of.noun != isText.noun || item.Value != "" || item.ShortTag() != "!!str" {
			r.value(item, path, s.of, value)
		}
		if s.of.kind == aVariable && !value.IsZero() && slices.Contains(v.Interface().([]string), value.String()) {
			r.fail(at, ": %s is duplicated", quote(item.Value))
		}
		v.Set(reflect.Append(v, value))
	}
	if r.lines[at] = n.Line; s.places != nil && len(r.findings) == before {
		r.checkPlaces(at, v.Interface().([]string), s.places)
	}
}

// text returns a text. It reports a text that is blank or does not satisfy its shape, and returns "" for it.
func (r *reader) text(n *yaml.Node, at string, s *shape) string {
	if n.ShortTag() != "!!str" {
		r.wrong(n, at, "text")
		return ""
	}
	t, problem := n.Value, ""
	if s.line {
		t = strings.TrimSpace(t)
	}
	if s.problem != nil {
		problem = s.problem(t)
	}
	name, _, assigned := strings.Cut(t, "=")
	switch {
	case strings.TrimSpace(t) == "":
		r.fail(at, " is empty")
	case strings.ContainsFunc(t, isControl):
		r.fail(at, " holds a control character")
	case s.line && strings.Contains(t, "\n"):
		r.fail(at, " must be one line")
	case assigned && s.kind == aVariable:
		r.fail(at, " takes names, not values: %s\nthe value is taken from the environment that wfs is started in",
			quote(name))
	case problem != "":
		r.fail(at, "%s %s %s", s.before, quote(t), problem)
	default:
		if s.places != nil {
			r.checkPlaces(at, []string{t}, s.places)
		}
		return t
	}
	return ""
}

// isControl reports whether c is a control character that no workflow needs and that could mislead a terminal or end a
// C string. Line breaks and tabs are allowed.
func isControl(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0
}

// quote returns a text in quotes for use in a message, shortened if it is long.
func quote(s string) string { return strconv.Quote(clip(s)) }

// clip shortens a text for use in a message, and replaces characters that are not printable.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strings.Map(func(c rune) rune {
		if !strconv.IsPrint(c) {
			return '?'
		}
		return c
	}, s)
}
