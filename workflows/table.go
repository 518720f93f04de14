package workflows

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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
//	holds     places, exactly one of which must occur in a command line
//	names     valid names in a mapping: a name from shapes
//	object    name of the value's object, if it differs from its type; only: the key belongs to that object alone
//	personal  why a repository's configuration may not set it
//	alternatives  groups of keys, exactly one of which must be present; for short, either and with see object

// object is a mapping with a fixed set of keys.
type object struct {
	name  string
	about string
	keys  []key
	oneOf [][]string // alternatives
	// short is the key to use when the value is not a mapping: `agent: claude -p` sets its command.
	short string
	// either names keys that exclude each other. If two layers have different ones, the higher layer's replaces the
	// lower's.
	either []string
	// with are keys that are valid only together with the first of either.
	with []string
}

type key struct {
	name     string
	about    string // one or two sentences, shown by editors
	value    shape
	fallback string // default
	field    int
}

// shape describes the valid values of a key.
type shape struct {
	kind      kind
	words     []string            // of aWord; of other kinds: words that are valid in place of a value
	low, high int                 // of aNumber
	pattern   string              // of a text, or of the names in a mapping, for the schema
	line      bool                // the text is one line
	problem   func(string) string // returns the problem with a text, or with a mapping's name; "" for none
	before    string              // comes between key and text in that message
	noun      string              // the noun for the items of a list
	places    []string            // a command line needs exactly one of these places; nil: not checked
	of        *shape              // items of a list, values of a mapping
	object    *object
	required  bool
	personal  string
	lowers    bool
}

type kind int

const (
	_ kind = iota
	aVersion
	aText     // not blank
	aVariable // name of an environment variable
	aWord     // one of words
	aNumber   // whole, from low to high
	aMoney    // dollars
	aTruth    // true or false
	aDuration // 90s, 10m
	aSize     // 500KB, 10MB
	aCommand  // text for the shell, or a list of arguments
	aList     // of values, not empty
	aMap      // of names to values; layers merge it by name
	anObject
)

// Patterns of texts. They also match some values that wfs refuses by further rules (a duration of more than a week).
const (
	notBlank        = `\S`
	durationPattern = `^\+?([0-9]*\.?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$`
)

// shapes are the shapes of texts and numbers with a notation of their own.
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
	"format":   {kind: aWord, words: formatWords()},
	"decoder":  {kind: aWord, words: DecoderNames()},
}

// phaseNameProblem returns the problem with the name of a phase, "" for none.
func phaseNameProblem(s string) string {
	if strings.EqualFold(s, string(Done)) || strings.EqualFold(s, string(NextLap)) {
		return fmt.Sprintf("is taken: %s is a target of on:", strings.ToLower(s))
	}
	return spelling.Name(s)
}

var isText = shape{kind: aText, pattern: notBlank, noun: "words"}

// oneLined returns the shape of a text of one line; problem checks it further.
func oneLined(noun, before string, problem func(string) string) shape {
	return shape{kind: aText, pattern: notBlank, line: true, noun: noun, before: before, problem: problem}
}

var (
	objects        = map[string]*object{}
	configObject   = objectOf(reflect.TypeFor[Config](), "config")
	workflowObject = objectOf(reflect.TypeFor[Workflow](), "workflow")
	cardObject     = objectOf(reflect.TypeFor[Card](), "card")
	agentObject    = objectOf(reflect.TypeFor[Agent](), "agent")
	gateObject     = objectOf(reflect.TypeFor[Gate](), "gate")
	gateUseObject  = objectOf(reflect.TypeFor[Gate](), "gateUse")
	worktreeObject = objectOf(reflect.TypeFor[Worktree](), "worktree")
)

// objectOf returns the object of a type with this name, always the same one.
func objectOf(t reflect.Type, name string) *object {
	id := name + " " + t.Name()
	if objects[id] != nil {
		return objects[id]
	}
	o := &object{name: name, about: cmp.Or(help[t.Name()], help[name])}
	objects[id] = o
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
		k := key{value: shapeOf(f.Type, f.Tag), fallback: f.Tag.Get("default"), field: i}
		k.name = cmp.Or(f.Tag.Get("key"), strings.ReplaceAll(written, "_", "-"), lowerFirst(f.Name))
		field := "." + strings.ReplaceAll(k.name, "-", "_")
		k.about = cmp.Or(help[name+field], help[lowerFirst(t.Name())+field])
		o.keys = append(o.keys, k)
	}
	return o
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// shapeOf returns the shape of values of a type, under a key with these tags.
func shapeOf(t reflect.Type, tag reflect.StructTag) shape {
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
		return shapeOf(t.Elem(), tag)
	case reflect.Slice, reflect.Map:
		of := shapeOf(t.Elem(), tag)
		of.places = nil
		s.kind, s.of, s.words = aList, &of, nil
		if names := shapes[cmp.Or(tag.Get("names"), "name")]; t.Kind() == reflect.Map || tag.Get("names") != "" {
			s.kind, s.pattern, s.problem = aMap, names.pattern, names.problem
		}
		return s
	}
	if s.kind == 0 {
		s.setKind(t, tag)
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

// setKind derives the kind of a value from its type, if the tag does not say it.
func (s *shape) setKind(t reflect.Type, tag reflect.StructTag) {
	switch {
	case t == reflect.TypeFor[Command]():
		s.kind = aCommand
	case t == reflect.TypeFor[time.Duration]():
		s.kind, s.pattern = aDuration, durationPattern
	case t.Kind() == reflect.Struct:
		s.kind, s.object = anObject, objectOf(t, cmp.Or(tag.Get("object"), lowerFirst(t.Name())))
	case t.Kind() == reflect.Bool:
		s.kind = aTruth
	case t.Kind() == reflect.Float64:
		s.kind = aMoney
	default:
		s.kind = aNumber
	}
}

// names returns the keys in the order of the table, for messages.
func (o *object) names() []string {
	var names []string
	for _, k := range o.keys {
		names = append(names, k.name)
	}
	return names
}

// key returns the named key, or nil.
func (o *object) key(name string) *key {
	if i := slices.Index(o.names(), name); i >= 0 {
		return &o.keys[i]
	}
	return nil
}
