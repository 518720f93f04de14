package phases

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func goDeclarations(src []byte) []declaration {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "", src, parser.SkipObjectResolution|parser.AllErrors|parser.ParseComments)
	if file == nil || ignoredByBuild(src) {
		return nil
	}
	text := func(n ast.Node) string {
		from, to := fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset
		return goTokens(src[min(from, len(src)):min(max(from, to), len(src))])
	}
	var out []declaration
	plain := plainTypes(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f := declaration{name: d.Name.Name, body: text(d), test: isGoTest(d.Name.Name), empty: cannotFail(d)}
			if d.Recv != nil {
				f.suite = f.test && d.Type.Results == nil && !(d.Type.Params.NumFields() == 0 && plain[receiver(d)])
				f.test = f.suite
			} else if output := exampleOutput(d, file.Comments); output != "" {
				f.test, f.body = true, f.body+output
			}
			out = append(out, f)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, declaration{name: n.Name, body: text(s)})
					}
				case *ast.TypeSpec:
					out = append(out, declaration{name: s.Name.Name, body: text(s)})
				}
			}
		}
	}
	return out
}

// isGoTest reports whether go test takes a function of this name for a test.
func isGoTest(name string) bool {
	return name != "TestMain" && (hasGoPrefix(name, "Test") || hasGoPrefix(name, "Fuzz"))
}

func hasGoPrefix(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}

// exampleOutput is the comment that makes a test of an example, "" when the function is none.
func exampleOutput(f *ast.FuncDecl, comments []*ast.CommentGroup) string {
	if f.Body == nil || !hasGoPrefix(f.Name.Name, "Example") || f.Type.Params.NumFields() > 0 || f.Type.Results != nil {
		return ""
	}
	last := ""
	for _, c := range comments {
		if c.Pos() > f.Body.Lbrace && c.End() <= f.Body.Rbrace {
			last = strings.TrimSpace(c.Text())
		}
	}
	if strings.HasPrefix(strings.TrimPrefix(strings.ToLower(last), "unordered "), "output:") {
		return last
	}
	return ""
}

// plainTypes are the structs of a file that nothing is embedded in: testify's suites embed one.
func plainTypes(file *ast.File) map[string]bool {
	plain := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if t, ok := n.(*ast.TypeSpec); ok {
			s, isStruct := t.Type.(*ast.StructType)
			plain[t.Name.Name] = isStruct && !slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return len(f.Names) == 0 })
		}
		_, isFunc := n.(*ast.FuncDecl)
		return !isFunc
	})
	return plain
}

// receiver is the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	if len(f.Recv.List) == 0 {
		return ""
	}
	t := f.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if i, ok := t.(*ast.IndexExpr); ok {
		t = i.X
	}
	name, _ := t.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// ignoredByBuild reports whether a file is left out of every ordinary build.
func ignoredByBuild(src []byte) bool {
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			return false
		}
		if expr, ok := strings.CutPrefix(line, "//go:build "); ok && slices.Contains(strings.Fields(expr), "ignore") {
			return true
		}
	}
	return false
}

// goTokens is Go source without comments and layout.
func goTokens(src []byte) string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(src)), src, nil, 0)
	var b strings.Builder
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return b.String()
		}
		if tok == token.SEMICOLON {
			lit = ";"
		}
		if lit == "" {
			lit = tok.String()
		}
		b.WriteString(lit)
		b.WriteByte(' ')
	}
}

// cannotFail reports whether a test function calls nothing but what a test may call without testing anything.
func cannotFail(f *ast.FuncDecl) bool {
	if f.Body == nil {
		return true
	}
	idle := []string{"Log", "Logf", "Helper", "Parallel", "Name", "Skip", "Skipf", "SkipNow"}
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, isSel := call.Fun.(*ast.SelectorExpr)
			if !isSel || !slices.Contains(idle, sel.Sel.Name) {
				found = true
			}
		}
		return !found
	})
	return !found
}
