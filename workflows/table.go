package workflows

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/workflows/measure"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// Tags of the types define the keys of a configuration, a workflow and an agent card. Reading, layers, JSON Schemas and
// the text of `wfs init` follow from them, and from help.txt. Each key must be described in docs/workflows.md; a test
// checks it.
//
//	is        valid values: a name from shapes, the words of an enumeration (a|b), or bounds (1..10); by default they
//	          follow from the Go type. required: the key must be present; lowers: a repository may lower the value of
//	          the user's own configuration, but not raise it
//	key       the name of the key, if it differs from JSON
//	default   the default value, in the notation of the file
//	or        words that are valid in place of a value
//	holds     placeholders, of which a command line must have exactly one
//	names     valid names in a mapping: a name from shapes
//	object    name of the value's object, if it differs from its type; only: the key belongs to that object alone
//	personal  why a repository's configuration may not set it
//	alternatives  groups of keys, of which exactly one must be present. The tags short, either and with: see object

// object describes a mapping with a fixed set of keys.
type object struct {
	name  string
	about string
	keys  []key
	oneOf [][]string // groups of keys, of which exactly one group must be present
	// short is the key to set if the value in the file is not a mapping: `agent: claude -p` sets the agent's command.
	short string
	// either has keys that exclude each other. If two layers set different ones of them, the key of the higher layer
	// replaces the key of the lower one.
	either []string
	// with has keys that are valid only together with the first key of either.
	with []string
}

type key struct {
	name     string
	about    string // description of one or two sentences, which editors show
	value    shape
	fallback string // the default value as text
	field    int
}

// shape describes the valid values of a key of an object.
type shape struct {
	kind      kind
	words     []string            // the valid words of aWord; for other kinds, words that are valid instead of a value
	low, high int                 // bounds of aNumber
	pattern   string              // pattern of a text, or of the names in a mapping, for the JSON Schema
	line      bool                // the text is one line
	problem   func(string) string // returns the problem with a text, or with a mapping's name; "" for none
	before    string              // text between the key and the value in messages about a problem
	noun      string              // noun for the items of a list in messages
	places    []string            // placeholders, of which a command line needs exactly one; nil: not checked
	of        *shape              // shape of the items of a list, or of the values of a mapping
	object    *object
	required  bool
	personal  string
	lowers    bool
}

type kind int

const (
	_ kind = iota
	aVersion
	aText     // any text that is not blank
	aVariable // name of an environment variable
	aWord     // one of the words
	aNumber   // a whole number from low to high
	aMoney    // dollars
	aTruth    // true or false
	aDuration // 90s, 10m
	aSize     // 500KB, 10MB
	aCommand  // text for the shell, or a list of arguments
	aList     // a list with at least one item
	aMap      // a mapping of names to values; layers are merged by name
	anObject
)

// Patterns of texts for the JSON Schema. They also match some values that wfs refuses for other reasons (a duration of
// more than a week).
const (
	notBlank        = `\S`
	durationPattern = `^\+?([0-9]*\.?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$`
)

// shapes has the shapes of texts and numbers with special rules, by the name that the tag `is` uses.
var shapes = map[string]shape{
	"version": {kind: aVersion},
	"text":    isText,
	"line":    oneLined("texts", "", nil),
	"name":    {kind: aText, pattern: spelling.NamePattern, problem: spelling.Name},
	"phase":   {kind: aText, pattern: spelling.NamePattern, problem: phaseNameProblem},
	"file":    {kind: aText, pattern: spelling.FilePattern, problem: spelling.File},
	"variable": {kind: aVariable, pattern: spelling.VariablePattern, problem: spelling.Variable, before: ":",
		noun: "names of variables"},
	"variables": {kind: aVariable, pattern: spelling.StartPattern, problem: spelling.Variables, before: ":",
		noun: "names of variables"},
	"guard":    oneLined("patterns", ": pattern", spelling.Guard),
	"glob":     oneLined("patterns", ": pattern", spelling.Glob),
	"copy":     oneLined("patterns", ": pattern", spelling.Copy),
	"document": oneLined("patterns", ": pattern", spelling.Document),
	"link":     oneLined("paths", "", spelling.Link),
	"dir":      oneLined("paths", "", spelling.WorktreeDir),
	"duration": {kind: aDuration, pattern: durationPattern},
	"size":     {kind: aSize, pattern: spelling.SizePattern},
	"number":   oneLined("regular expressions", ": regular expression", measure.Pattern),
	"format":   {kind: aWord, words: formatWords()},
	"requirement": oneLined("requirements", ": requirement", func(s string) string {
		_, problem := measure.Parse(s)
		return problem
	}),
	"decoder": {kind: aWord, words: DecoderNames()},
}

// phaseNameProblem returns the problem with the name of a phase, "" for none.
func phaseNameProblem(s string) string {
	if strings.EqualFold(s, string(Done)) || strings.EqualFold(s, string(NextLap)) {
		return fmt.Sprintf("is taken: %s is a target of on:", strings.ToLower(s))
	}
	return spelling.Name(s)
}

var isText = shape{kind: aText, pattern: notBlank, noun: "words"}

// oneLined returns the shape of a text of one line. `problem` returns what else is wrong with a text, "" for nothing.
func oneLined(noun, before string, problem func(string) string) shape {
	return shape{kind: aText, pattern: notBlank, line: true, noun: noun, before: before, problem: problem}
}

// objects has the objects that YAML files consist of. They are made when the first file is read, because most commands
// start without reading one.
var objects = sync.OnceValue(func() (all struct{ config, workflow, card, agent, gate, gateUse, worktree *object }) {
	m := maker{parseHelp(helpText), map[string]*object{}}
	all.config, all.workflow = m.objectOf(reflect.TypeFor[Config](), "config"),
		m.objectOf(reflect.TypeFor[Workflow](), "workflow")
	all.card, all.agent = m.objectOf(reflect.TypeFor[Card](), "card"), m.objectOf(reflect.TypeFor[Agent](), "agent")
	all.gate, all.gateUse = m.objectOf(reflect.TypeFor[Gate](), "gate"), m.objectOf(reflect.TypeFor[Gate](), "gateUse")
	all.worktree = m.objectOf(reflect.TypeFor[Worktree](), "worktree")
	return all
})

// maker makes objects out of Go types.
type maker struct {
	help map[string]string // see parseHelp
	made map[string]*object
}

// objectOf returns the object that describes the keys of type t under this name. It always returns the same object for
// the same arguments.
func (m maker) objectOf(t reflect.Type, name string) *object {
	id := name + " " + t.Name()
	if m.made[id] != nil {
		return m.made[id]
	}
	o := &object{name: name, about: cmp.Or(m.help[t.Name()], m.help[name])}
	m.made[id] = o
	for i := range t.NumField() {
		f := t.Field(i)
		if only := f.Tag.Get("only"); only != "" && only != name {
			continue
		}
		if short := f.Tag.Get("short"); short != "" {
			o.short, o.either, o.with = short, strings.Fields(f.Tag.Get("either")), strings.Fields(f.Tag.Get("with"))
		}
		for group := range strings.SplitSeq(f.Tag.Get("alternatives"), ";") {
			if group != "" {
				o.oneOf = append(o.oneOf, strings.Fields(group))
			}
		}
		if _, ok := f.Tag.Lookup("is"); !ok {
			continue
		}
		written, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		k := key{value: m.shapeOf(f.Type, f.Tag), fallback: f.Tag.Get("default"), field: i}
		k.name = cmp.Or(f.Tag.Get("key"), strings.ReplaceAll(written, "_", "-"), lowerFirst(f.Name))
		field := "." + strings.ReplaceAll(k.name, "-", "_")
		k.about = cmp.Or(m.help[name+field], m.help[lowerFirst(t.Name())+field])
		o.keys = append(o.keys, k)
	}
	return o
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// shapeOf returns the shape of a key's values from the Go type and the tags of its field.
func (m maker) shapeOf(t reflect.Type, tag reflect.StructTag) shape {
	s := declared(tag.Get("is"))
	s.personal = tag.Get("personal")
	if words := tag.Get("or"); words != "" {
		s.words = strings.Split(words, "|")
	}
	if places, ok := tag.Lookup("holds"); ok {
		s.places = append([]string{}, strings.Fields(places)...)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.shapeOf(t.Elem(), tag)
	case reflect.Slice, reflect.Map:
		of := m.shapeOf(t.Elem(), tag)
		of.places = nil
		s.kind, s.of, s.words = aList, &of, nil
		if names := shapes[cmp.Or(tag.Get("names"), "name")]; t.Kind() == reflect.Map || tag.Get("names") != "" {
			s.kind, s.pattern, s.problem = aMap, names.pattern, names.problem
		}
		return s
	}
	if s.kind == 0 {
		m.setKind(&s, t, tag)
	}
	return s
}

// declared returns the shape that an `is` tag describes.
func declared(is string) shape {
	var s shape
	for w := range strings.FieldsSeq(is) {
		low, high, bounds := strings.Cut(w, "..")
		switch known, ok := shapes[w]; {
		case ok:
			s = known
		case bounds:
			s.low, _ = strconv.Atoi(low)
			s.high, _ = strconv.Atoi(high)
		default:
			s.required, s.lowers = s.required || w == "required", s.lowers || w == "lowers"
			if strings.Contains(w, "|") {
				s.kind, s.words = aWord, strings.Split(w, "|")
			}
		}
	}
	return s
}

// setKind derives the kind of a value from its Go type, if the tags do not determine it.
func (m maker) setKind(s *shape, t reflect.Type, tag reflect.StructTag) {
	switch {
	case t == reflect.TypeFor[Command]():
		s.kind = aCommand
	case t == reflect.TypeFor[time.Duration]():
		s.kind, s.pattern = aDuration, durationPattern
	case t.Kind() == reflect.Struct:
		s.kind, s.object = anObject, m.objectOf(t, cmp.Or(tag.Get("object"), lowerFirst(t.Name())))
	case t.Kind() == reflect.Bool:
		s.kind = aTruth
	case t.Kind() == reflect.Float64:
		s.kind = aMoney
	default:
		s.kind = aNumber
	}
}

// names returns the names of the object's keys in the order of the type's fields, for messages.
func (o *object) names() []string {
	var names []string
	for _, k := range o.keys {
		names = append(names, k.name)
	}
	return names
}

// key returns the key with a name, nil for none.
func (o *object) key(name string) *key {
	if i := slices.Index(o.names(), name); i >= 0 {
		return &o.keys[i]
	}
	return nil
}
