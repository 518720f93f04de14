package experiment

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/source"
)

// RaisesThere makes functions raise an error where OtherResults would make them return another result. It returns the
// new content and the number of changed functions. A test that still passes then never uses those results.
func RaisesThere(file string, src []byte, lines Lines) ([]byte, int) {
	return otherResultsOf(file, src, lines, raised)
}

// OtherResults makes each function that contains a chosen line return another result: a number plus one, a string with
// one letter more, a negated boolean, a list or object with other elements. Results of other types stay. It returns the
// new content and the number of changed functions. A test that checks the results of these functions must fail then.
func OtherResults(file string, src []byte, lines Lines) ([]byte, int) {
	return otherResultsOf(file, src, lines, other)
}

// Nothing makes each function that contains a chosen line return no value, and returns the new content and the number
// of changed functions. In Go the body still runs, but all results become zero values, so the function returns no
// error. In Python and JavaScript the function returns at once. Files in other languages stay, because they have no
// value that every function can return.
func Nothing(file string, src []byte, lines Lines) ([]byte, int) {
	l, _ := source.Read(file, nil)
	switch {
	case nothing[l.Name] != "":
		out, n, _ := Hollow(file, src, lines, true)
		return out, n
	case l.Name == "go":
		return otherResultsOf(file, src, lines, none)
	}
	return src, 0
}

// result says what replaces the result of a function.
type result int

const (
	other  result = iota // another value of the same type
	raised               // no value: the function raises an error
	none                 // no value, or the zero value
)

func otherResultsOf(file string, src []byte, lines Lines, as result) ([]byte, int) {
	l, toks := source.Read(file, src)
	o := otherResults{file: file, src: src, toks: toks, as: as}
	change := map[string]func(body) bool{"go": o.inGo, "python": o.inPython, "script": o.inScript, "rust": o.inRust,
		"java": o.inJava}[l.Name]
	if change == nil || l.Name == "java" && path.Ext(file) != ".java" {
		return src, 0
	}
	n := 0
	chosen, _ := within(findBodies(l, src, o.toks), o.toks, lines)
	for _, b := range chosen {
		n += count(change(b))
	}
	if n == 0 {
		return src, 0
	}
	switch l.Name {
	case "go":
		o.helperInGo()
	case "java":
		o.edit(len(src), "\n"+o.pick(strings.ReplaceAll(javaOther, "NAME", o.helper()), "return (T) o;",
			`if (o != (Object) v) throw new RuntimeException("other"); return v;`))
	}
	slices.SortStableFunc(o.edits, func(a, b edit) int { return a.from - b.from })
	return apply(src, o.edits), n
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

type otherResults struct {
	file  string
	src   []byte
	toks  tokens
	edits []edit
	as    result
}

func (o *otherResults) edit(at int, text string) { o.edits = append(o.edits, edit{at, at, text}) }

func (o *otherResults) text(from, to int) string {
	if from >= to {
		return ""
	}
	return string(o.src[o.toks[from].From:o.toks[to-1].To])
}

// around inserts texts at the start and at the end of a body, inside its braces.
func (o *otherResults) around(b body, before, after string) bool {
	o.edit(o.toks[b.open].To, before)
	o.edit(o.toks[b.end].From, after)
	return true
}

var notName = lazyregexp.New(`\W`)

// helper returns the name for a function that is added to the file. It depends on the file's name, so that two files of
// a package do not declare the same name.
func (o *otherResults) helper() string {
	base := path.Base(o.file)
	return "WfsOther_" + notName.ReplaceAllString(strings.TrimSuffix(base, path.Ext(base)), "_")
}

// word reports whether the head of a function contains one of the words.
func (o *otherResults) word(b body, words ...string) bool {
	return slices.ContainsFunc(o.toks[b.head:b.open], func(t source.Token) bool { return slices.Contains(words, t.Text) })
}

// inGo wraps the body in a function literal, and returns other values than that returns.
func (o *otherResults) inGo(b body) bool {
	from := o.resultsInGo(b)
	if from < 0 || from >= b.open {
		return false
	}
	results, n := o.text(from, b.open), 1
	if o.toks[from].Text == "(" {
		for i := from + 1; i < b.open-1; i++ {
			switch o.toks[i].Text {
			case "(", "[", "{":
				i = closing(o.toks, i)
			case ",":
				n++
			}
		}
	}
	var names, changed []string
	for i := range n {
		names = append(names, fmt.Sprintf("wfsR%d", i))
		changed = append(changed, fmt.Sprintf("%s(wfsR%d)", o.helper(), i))
	}
	return o.around(b, fmt.Sprintf(" %s := func() %s {", strings.Join(names, ", "), results),
		"}(); return "+strings.Join(changed, ", ")+" ")
}

// resultsInGo returns the index of the token at which a function's result types begin, or -1 if it finds no parameters.
func (o *otherResults) resultsInGo(b body) int {
	at := b.open - 1
	for at >= b.head && o.toks[at].Text != "func" {
		at--
	}
	if at < b.head {
		return -1
	}
	at++
	if o.toks[at].Text == "(" && at+1 < b.open { // either a receiver, or the parameters of a function literal
		if next := closing(o.toks, at) + 1; next < b.open && o.toks[next].Kind == source.Word && o.toks[next+1].Text == "(" {
			at = next
		}
	}
	if o.toks[at].Kind == source.Word {
		at++
	}
	if o.toks[at].Text == "[" {
		at = closing(o.toks, at) + 1
	}
	if o.toks[at].Text != "(" {
		return -1
	}
	return closing(o.toks, at) + 1
}

// helperInGo adds the function that returns another value, and the import that it needs.
func (o *otherResults) helperInGo() {
	if o.as == none {
		o.edit(len(o.src), "\nfunc "+o.helper()+"[T any](T) (v T) { return }\n")
		return
	}
	at := slices.IndexFunc(o.toks, func(t source.Token) bool { return t.Text == "package" })
	if at < 0 || at+1 >= len(o.toks) {
		return
	}
	o.edit(o.toks[at+1].To, `; import wfsReflect "reflect"`)
	o.edit(len(o.src), "\n"+o.pick(strings.ReplaceAll(goOther, "NAME", o.helper()), "; return v }",
		`; if !wfsReflect.DeepEqual(v, w) { panic("other") }; return w }`))
}

// pick returns the text; if functions are to raise an error, it replaces the part `other` of the text by `raises`.
func (o *otherResults) pick(text, other, raises string) string {
	if o.as != raised {
		return text
	}
	return strings.Replace(text, other, raises, 1)
}

const goOther = `func NAME[T any](w T) T { v := w; NAME_in(wfsReflect.ValueOf(&v).Elem()); return v }

func NAME_in(v wfsReflect.Value) {
	if !v.CanSet() {
		return
	}
	switch {
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	case v.Kind() == wfsReflect.String:
		v.SetString(v.String() + "q")
	case v.Kind() == wfsReflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == wfsReflect.Slice && v.Len() > 0:
		v.Set(v.Slice(0, v.Len()-1))
	case v.Kind() == wfsReflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			NAME_in(v.Field(i))
		}
	}
}
`

// inPython adds a decorator directly before the head of the function, after all its other decorators.
func (o *otherResults) inPython(b body) bool {
	if b.head+1 < len(o.toks) && o.toks[b.head+1].Text == "__init__" {
		return false
	}
	at := o.toks[b.head].From
	if b.head > 0 && o.toks[b.head-1].Text == "async" {
		return false // not possible, because the result is awaited later
	}
	start := strings.LastIndexByte(string(o.src[:at]), '\n') + 1
	if strings.TrimSpace(string(o.src[start:at])) != "" {
		return false
	}
	o.edit(start, string(o.src[start:at])+o.pick(pythonOther, "T(f(*a, **k), T)",
		"(lambda v: v if repr(T(v, T)) == repr(v) else 1 // 0)(f(*a, **k))")+"\n")
	return true
}

const pythonOther = `@(lambda T: lambda f: __import__("functools").wraps(f)(lambda *a, **k: T(f(*a, **k), T)))` +
	`(lambda v, T: (not v) if isinstance(v, bool) else v + 1 if isinstance(v, (int, float)) ` +
	`else v + "q" if isinstance(v, str) else v + b"q" if isinstance(v, bytes) ` +
	`else [T(x, T) for x in v] or [None] if isinstance(v, list) else tuple(T(x, T) for x in v) if type(v) is tuple ` +
	`else {k: T(x, T) for k, x in v.items()} if type(v) is dict else v)`

// inScript wraps the body in an arrow function, because in an arrow function `this` and `arguments` are still those of
// the function around it.
func (o *otherResults) inScript(b body) bool {
	if o.word(b, "constructor", "*", "set", "super") {
		return false
	}
	other := "(" + scriptOther + ")"
	if o.as == raised {
		other = scriptRaises + scriptOther + " })"
	}
	if ext := path.Ext(o.file); strings.HasSuffix(ext, "ts") || ext == ".tsx" {
		other = strings.ReplaceAll(other, "(v) {", "(v: any): any {")
	}
	async := o.word(b, "async")
	switch {
	case b.arrow && async:
		return false
	case b.arrow:
		o.edit(o.toks[b.open].From, other+"(")
		o.edit(o.toks[b.end].To, ")")
		return true
	case async:
		return o.around(b, " return (async () => {", "})().then("+other+") ")
	}
	return o.around(b, " return "+other+"((() => {", "})()) ")
}

const (
	scriptOther = `function T(v) { return typeof v === "number" ? v + 1 : typeof v === "string" ? v + "q" ` +
		`: typeof v === "boolean" ? !v : Array.isArray(v) ? (v.length ? v.map((x) => T(x)) : [null]) ` +
		`: v instanceof Map ? new Map([...v].map(([k, x]) => [k, T(x)])) ` +
		`: v && Object.getPrototypeOf(v) === Object.prototype ` +
		`? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, T(x)])) : v }`
	scriptRaises = `(function (v) { const s = (x) => JSON.stringify([x], (k, y) => y instanceof Map ? [...y] : y); ` +
		`if (s(T(v)) !== s(v)) throw new Error("other"); return v; `
)

// inRust wraps the body in a closure. It does so only if rustOther has another value for the type of the result.
func (o *otherResults) inRust(b body) bool {
	arrow := slices.IndexFunc(o.toks[b.head:b.open], func(t source.Token) bool { return t.Text == "->" })
	if arrow < 0 || o.word(b, "const", "async", "unsafe", "where") {
		return false
	}
	result := o.toks[b.head+arrow+1 : b.open]
	changed := rustOther("wfs_v", result)
	if changed == "" {
		return false
	}
	if o.as == raised {
		changed = `panic!("other")`
	}
	text := o.text(b.head+arrow+1, b.open)
	return o.around(b, " let wfs_v: "+text+" = (|| -> "+text+" {", "})(); "+changed+" ")
}

var rustNumber = lazyregexp.New(`^[iu](8|16|32|64|128|size)$`)

// rustOther returns an expression for another value than v, of type typ, or "" if it does not know the type.
func rustOther(v string, typ tokens) string {
	for len(typ) > 2 && typ[1].Text == "::" { // std::string::String is String
		typ = typ[2:]
	}
	if len(typ) == 0 {
		return ""
	}
	switch {
	case len(typ) == 1:
		return rustOtherOf(v, typ[0].Text)
	case len(typ) == 2:
	case typ[0].Text == "Vec":
		return v + ".into_iter().skip(1).collect::<Vec<_>>()"
	case typ.is(0, "Option", "Result") && typ.is(1, "<"):
		if inner := rustOther("w", firstOf(typ[2:len(typ)-1])); inner != "" {
			return v + ".map(|w| " + inner + ")"
		}
	}
	return ""
}

// rustOtherOf does the same as rustOther for a type that is one word.
func rustOtherOf(v, name string) string {
	switch {
	case rustNumber.MatchString(name):
		return v + ".wrapping_add(1)"
	case name == "f32" || name == "f64":
		return v + " + 1.0"
	case name == "String":
		return v + ` + "q"`
	case name == "bool":
		return "!" + v
	}
	return ""
}

func firstOf(typ tokens) tokens {
	depth := 0
	for i, t := range typ {
		switch t.Text {
		case ",":
			if depth == 0 {
				return typ[:i]
			}
		case "<", "(":
			depth++
		case ">", ")":
			depth--
		}
	}
	return typ
}

// inJava changes the value in each return statement of the body.
func (o *otherResults) inJava(b body) bool {
	any := false
	for i := b.open; i < b.end; i++ {
		if o.toks[i].Text != "return" || o.toks[i+1].Text == ";" {
			continue
		}
		end := i + 1
		for end < b.end && o.toks[end].Text != ";" {
			if t := o.toks[end].Text; t == "(" || t == "[" || t == "{" {
				end = closing(o.toks, end)
			}
			end++
		}
		o.edit(o.toks[i].To, " "+o.helper()+".of(")
		o.edit(o.toks[end].From, ")")
		any = true
	}
	return any
}

const javaOther = `class NAME {
	@SuppressWarnings("unchecked")
	static <T> T of(T v) {
		Object o = v;
		if (o instanceof Integer) o = (Integer) o + 1;
		else if (o instanceof Long) o = (Long) o + 1;
		else if (o instanceof Double) o = (Double) o + 1;
		else if (o instanceof String) o = o + "q";
		else if (o instanceof Boolean) o = !(Boolean) o;
		else if (o instanceof java.util.List && !((java.util.List<?>) o).isEmpty())
			o = new java.util.ArrayList<>(((java.util.List<?>) o).subList(1, ((java.util.List<?>) o).size()));
		return (T) o;
	}
}
`
