package session_test

import (
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
)

// TestFormats holds docs/formats.md to the types: every kind of event and every value inside one has a section of its
// own, whose table has exactly the JSON fields, a "?" in the types of those that are left out when empty. An embedded
// type has its own section, and the section of its owner names it.
func TestFormats(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := sectionsOf(strings.ReplaceAll(string(text), "\r\n", "\n"))
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
	for seen := map[reflect.Type]bool{}; len(todo) > 0; todo = todo[1:] {
		typ := todo[0]
		if seen[typ] {
			continue
		}
		seen[typ] = true
		name := names[typ]
		if name == "" {
			name = typ.Name()
		}
		section, ok := sections[name]
		if !ok {
			t.Errorf("docs/formats.md has no section %q", "### "+name)
		}
		var fields []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			inner := elem(f.Type)
			if inner.Name() == "body" { // which makes it an event
				continue
			}
			if inner.Kind() == reflect.Struct && inner != reflect.TypeOf(time.Time{}) && f.Tag.Get("json") != "-" {
				todo = append(todo, inner)
			}
			if f.Anonymous {
				owner := names[inner]
				if owner == "" {
					owner = inner.Name()
				}
				if !strings.Contains(section, owner) {
					t.Errorf("section %s does not say that it has the fields of %s", name, owner)
				}
				continue
			}
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == "-" {
				continue
			}
			fields = append(fields, tag)
			kind, ok := rowOf(section, tag)
			if !ok {
				t.Errorf("section %s has no row for the field %q", name, tag)
			} else if optional := strings.Contains(options, "omit"); strings.Contains(kind, "?") != optional {
				t.Errorf("section %s, field %q: the type is given as %q; left out when empty: %v", name, tag, kind, optional)
			}
		}
		for _, row := range rowsOf(section) {
			if !slices.Contains(fields, row) {
				t.Errorf("section %s has a row for %q, which is no field", name, row)
			}
		}
	}
}

// TestFormatsWords looks for every word of this package that stands in a file or an answer: classes, outcomes, triggers,
// statuses and so on.
func TestFormatsWords(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
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
	e, err := session.DecodeLine(session.Seal([]byte(`{"v":1,"seq":1,"at":"2030-01-02T03:04:05Z","kind":"` + string(k) + `","data":{}}`)))
	if err != nil {
		t.Fatal(err)
	}
	return e.Body
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

// rowOf returns the second cell of a field's row.
func rowOf(section, field string) (kind string, ok bool) {
	for line := range strings.Lines(section) {
		if rest, found := strings.CutPrefix(line, "| `"+field+"` |"); found {
			kind, _, _ = strings.Cut(rest, "|")
			return strings.TrimSpace(kind), true
		}
	}
	return "", false
}
