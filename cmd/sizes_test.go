package cmd

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Limits on sizes, so that a newcomer can read a package.
const (
	maxLines   = 3000 // of a package, without tests; cmd has a file for each command
	maxMethods = 25   // of a type, including functions of its package with it as first parameter after a context
	maxPort    = 10   // methods of an interface
)

// TestSizes fails when a package, a type or an interface has become too large to read in one go.
func TestSizes(t *testing.T) {
	for _, p := range listPackages(t) {
		room := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(room, "test/") || strings.HasPrefix(room, "bench") || strings.HasPrefix(room, ".ci") {
			continue
		}
		lines, methods := 0, map[string]int{}
		for _, file := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(src, []byte("\n"))
			f, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if i, ok := n.Type.(*ast.InterfaceType); ok && len(i.Methods.List) > maxPort {
						t.Errorf("%s.%s has %d methods: split it by who calls what", room, n.Name, len(i.Methods.List))
					}
				case *ast.FuncDecl:
					methods[subject(n)]++
				}
				return true
			})
		}
		if lines > maxLines && room != "cmd" {
			t.Errorf("%s has %d lines: take a part out that can be read alone", room, lines)
		}
		for name, n := range methods {
			if n > maxMethods && ast.IsExported(strings.ToUpper(name[:min(1, len(name))])) && !basic[name] {
				t.Errorf("%s.%s has %d methods and functions: split it", room, name, n)
			}
		}
	}
}

var basic = map[string]bool{"": true, "string": true, "int": true, "int64": true, "error": true, "byte": true, "bool": true}

// subject is the type that a function belongs to: its receiver, or else its first parameter after a context; "" if that
// is not a type of its package.
func subject(f *ast.FuncDecl) string {
	fields := f.Type.Params.List
	if f.Recv != nil {
		fields = f.Recv.List
	}
	for _, field := range fields {
		at := field.Type
		if star, ok := at.(*ast.StarExpr); ok {
			at = star.X
		}
		if generic, ok := at.(*ast.IndexExpr); ok {
			at = generic.X
		}
		if s, ok := at.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			continue
		}
		if id, ok := at.(*ast.Ident); ok {
			return id.Name
		}
		return ""
	}
	return ""
}
