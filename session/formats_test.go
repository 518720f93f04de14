package session_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// TestFormats compares docs/formats.md with the types: every kind of event and every value inside one has a section.
// The tables of this package's types are generated from the comments of their fields; UPDATE_FORMATS=1 writes them. An
// embedded type has its own section, which the section of its owner names.
func TestFormats(t *testing.T) {
	t.Parallel()
	const file = "../docs/formats.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	sections := sectionsOf(text)
	names := map[reflect.Type]string{}
	var todo []reflect.Type
	for _, k := range session.Kinds() {
		body := reflect.TypeOf(bodyOf(t, k))
		names[body] = "`" + string(k) + "`"
		todo = append(todo, body)
	}
	for _, v := range []any{session.Session{}, session.Evidence{}, session.Op{}} {
		todo = append(todo, reflect.TypeOf(v))
	}
	meanings := meaningsOf(t)
	for seen := map[reflect.Type]bool{}; len(todo) > 0; todo = todo[1:] {
		typ := todo[0]
		if seen[typ] {
			continue
		}
		seen[typ] = true
		name := sectionName(names, typ)
		section, ok := sections[name]
		if !ok {
			t.Errorf("docs/formats.md has no section %q", "### "+name)
			continue
		}
		var table strings.Builder
		table.WriteString("| field | type | meaning |\n|---|---|---|\n")
		var fields []string
		for _, f := range fieldsOf(typ) {
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == "-" {
				continue
			}
			inner := elem(f.Type)
			if inner.Name() == "body" { // the marker of an event
				continue
			}
			if inner.Kind() == reflect.Struct && inner != reflect.TypeOf(time.Time{}) {
				todo = append(todo, inner)
			}
			if f.Anonymous {
				if !strings.Contains(section, sectionName(names, inner)) {
					t.Errorf("section %s does not say that it has the fields of %s", name, inner)
				}
				continue
			}
			fields = append(fields, tag)
			kind := jsonType(names, f.Type)
			if strings.Contains(options, "omit") {
				first, rest, _ := strings.Cut(kind+" ", " ")
				kind = strings.TrimSpace(first + "? " + rest)
			}
			meaning := meanings[f.owner+"."+f.Name]
			if meaning == "" && strings.Contains(typ.PkgPath(), "/session") {
				t.Errorf("the field %s.%s has no comment, and docs/formats.md needs one", typ.Name(), f.Name)
			}
			fmt.Fprintf(&table, "| `%s` | %s | %s |\n", tag, kind, strings.ReplaceAll(meaning, "|", `\|`))
		}
		switch rows := rowsOf(section); {
		case len(fields) == 0:
		case !strings.Contains(typ.PkgPath(), "/session"): // its comments are written for other readers
			slices.Sort(rows)
			slices.Sort(fields)
			if !slices.Equal(rows, fields) {
				t.Errorf("section %s has rows for %q; the fields are %q", name, rows, fields)
			}
		case !strings.Contains(section, table.String()):
			if os.Getenv("UPDATE_FORMATS") == "" {
				t.Errorf("the table of section %s in docs/formats.md is old: UPDATE_FORMATS=1 go test ./session -run TestFormats\n%s", name, table.String())
			}
			at, _, _ := strings.Cut(section, "| field |")
			_, after, _ := strings.Cut(section[len(at):], "\n\n")
			text = strings.Replace(text, section, at+table.String()+"\n"+after, 1)
		}
	}
	if os.Getenv("UPDATE_FORMATS") != "" {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

type fieldOf struct {
	reflect.StructField
	owner string // the type with this field
}

// fieldsOf returns the fields of a type. The fields of an account count as fields of its session.
func fieldsOf(typ reflect.Type) (all []fieldOf) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Type == reflect.TypeFor[cost.Account]() {
			all = append(all, fieldsOf(f.Type)...)
		} else {
			all = append(all, fieldOf{f, typ.Name()})
		}
	}
	return all
}

// sources returns the files of this package and of its subpackages.
func sources(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, more...)
}

// sectionName returns the heading of a type's section, without its marks.
func sectionName(names map[reflect.Type]string, typ reflect.Type) string {
	if name := names[typ]; name != "" {
		return name
	}
	return typ.Name()
}

// jsonType describes the JSON form of a type, for people.
func jsonType(names map[reflect.Type]string, typ reflect.Type) string {
	words := map[string]string{"Commit": "commit", "Tree": "tree", "TestID": "test", "Time": "time"}
	switch typ.Kind() {
	case reflect.Pointer:
		return jsonType(names, typ.Elem())
	case reflect.Slice:
		kind := jsonType(names, typ.Elem())
		if !strings.HasPrefix(kind, "[") {
			kind += "s"
		}
		return "list of " + kind
	case reflect.String, reflect.Struct:
		if word := words[typ.Name()]; word != "" {
			return word
		}
		if typ.Kind() == reflect.String {
			return "string"
		}
		if names[typ] == "" {
			return fmt.Sprintf("[`%s`](#%s)", typ.Name(), strings.ToLower(typ.Name()))
		}
		return "object"
	case reflect.Map, reflect.Interface:
		return "object"
	case reflect.Bool:
		return "boolean"
	}
	return "number"
}

// meaningsOf returns the comment of each field of this package's types, by type and field.
func meaningsOf(t *testing.T) map[string]string {
	files := sources(t)
	meanings := map[string]string{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						meanings[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
					}
				}
			}
			return true
		})
	}
	return meanings
}

// TestFormatsWords expects every constant string of this package in docs/formats.md: classes, outcomes, triggers,
// statuses and so on.
func TestFormatsWords(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	files := sources(t)
	words := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil {
				return true
			}
			for _, v := range spec.Values {
				lit, ok := v.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				words++
				if word := strings.Trim(lit.Value, `"`); !strings.Contains(string(text), "`"+word+"`") {
					t.Errorf("docs/formats.md does not have `%s` (%s)", word, spec.Names[0])
				}
			}
			return true
		})
	}
	if words < 50 {
		t.Errorf("only %d words were found", words)
	}
}

// bodyOf returns an empty body of a kind.
func bodyOf(t *testing.T, k session.Kind) session.Body {
	t.Helper()
	b, ok := k.Empty()
	if !ok {
		t.Fatalf("%s has no body", k)
	}
	return b
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// sectionsOf splits a document at its headings of the second and third level.
func sectionsOf(doc string) map[string]string {
	sections := map[string]string{}
	name := ""
	for line := range strings.Lines(doc) {
		if rest, ok := strings.CutPrefix(line, "### "); ok {
			name = strings.TrimSpace(rest)
			if typ := strings.Trim(name, "`"); typ != strings.ToLower(typ) { // a type, whose name may be in backquotes
				name = typ
			}
			sections[name] = ""
		} else if strings.HasPrefix(line, "## ") {
			name = ""
		} else if name != "" {
			sections[name] += line
		}
	}
	return sections
}

// rowsOf lists the fields of a section's table: rows whose first cell is one word in backquotes.
func rowsOf(section string) []string {
	var rows []string
	for line := range strings.Lines(section) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			field, _, _ := strings.Cut(rest, "`")
			rows = append(rows, field)
		}
	}
	return rows
}
