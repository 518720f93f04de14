package experiment

import (
	"maps"
	"slices"
	"testing"
)

func TestHollow(t *testing.T) {
	for _, c := range []struct {
		file, src, want string
		outside         int
	}{
		{"a.go", "package a\n\nfunc Sub(a, b int) int {\n\treturn a - b\n}\n",
			"package a\n\nfunc Sub(a, b int) int { panic(\"hollow\");\n\treturn a - b\n}\n", 0},
		{"a.go", "package a\n\nfunc Sub(a, b int) int { return a - b }\n",
			"package a\n\nfunc Sub(a, b int) int { panic(\"hollow\"); return a - b }\n", 0},
		{"a.go", "func (t *T) Get(x interface{}) (y interface{ A() }, err error) {\n\tif t.a > 0 {\n\t\treturn nil, nil\n\t}\n\treturn\n}\n",
			"func (t *T) Get(x interface{}) (y interface{ A() }, err error) { panic(\"hollow\");\n\tif t.a > 0 {\n\t\treturn nil, nil\n\t}\n\treturn\n}\n", 0},
		{"a.go", "var x = []int{1, 2}\n\nfunc A() { return }\n",
			"var x = []int{1, 2}\n\nfunc A() { panic(\"hollow\"); return }\n", 1},
		{"a.py", "import x\n\ndef sub(a, b):\n    \"\"\"Subtracts.\"\"\"\n    return a - b\n\nLIMIT = 3\n",
			"import x\n\ndef sub(a, b):\n    raise RuntimeError(\"hollow\")\n    \"\"\"Subtracts.\"\"\"\n    return a - b\n\nLIMIT = 3\n", 1},
		{"a.py", "def sub(a, b): return a - b\n", "def sub(a, b): raise RuntimeError(\"hollow\"); return a - b\n", 0},
		{"a.py", "class A:\n    def get(self, x: dict[str, int] = {}) -> int:\n        return (\n  1)\n\n    y = 2\n",
			"class A:\n    def get(self, x: dict[str, int] = {}) -> int:\n        raise RuntimeError(\"hollow\")\n        return (\n  1)\n\n    y = 2\n", 2},
		{"a.js", "exports.sub = (a, b) => a - b;\n", "exports.sub = (a, b) => (() => { throw new Error(\"hollow\") })() || a - b;\n", 0},
		{"a.js", "exports.sub = function (a, b) { return a - b; };\n",
			"exports.sub = function (a, b) { throw new Error(\"hollow\"); return a - b; };\n", 0},
		{"a.js", "import x from 'x'\nexport function sub(a, b) {\n  if (a) { return { a: 1 } }\n  return a - b\n}\n",
			"import x from 'x'\nexport function sub(a, b) { throw new Error(\"hollow\");\n  if (a) { return { a: 1 } }\n  return a - b\n}\n", 0},
		{"a.ts", "class A {\n  get(x: number): number {\n    return x\n  }\n}\n",
			"class A {\n  get(x: number): number { throw new Error(\"hollow\");\n    return x\n  }\n}\n", 1},
		{"a.rs", "pub fn sub(a: i32) -> i32 {\n    a - 1\n}\n",
			"pub fn sub(a: i32) -> i32 { panic!(\"hollow\");\n    a - 1\n}\n", 0},
		{"A.java", "class A {\n  public static int sub(int a, int b) throws E {\n    if (a > 0) { return 1; }\n    return a - b;\n  }\n  A(int x) { super(x); }\n}\n",
			"class A {\n  public static int sub(int a, int b) throws E { if (true) throw new RuntimeException(\"hollow\");\n    if (a > 0) { return 1; }\n    return a - b;\n  }\n  A(int x) { super(x); if (true) throw new RuntimeException(\"hollow\"); }\n}\n", 1},
	} {
		got, _, outside := Hollow(c.file, []byte(c.src), all(c.src), false)
		if string(got) != c.want || len(outside) != c.outside {
			t.Errorf("%s:\n%s\ngot\n%s\n%v", c.file, c.src, got, outside)
		}
	}
}

// TestCalled finds functions by their own names, but not their callers.
func TestCalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, src string
		want      []int
	}{
		{"a.go", "func A(a int) int {\n\treturn sub(a)\n}\n\nfunc sub(a int) int {\n\treturn a\n}\n", []int{5, 6, 7}},
		{"a.go", "func sub[T any](x T) T {\n\treturn x\n}\n", []int{1, 2, 3}},
		{"a.go", "func (s *S) sub(x int) int {\n\treturn x\n}\n", []int{1, 2, 3}},
		{"a.go", "func (sub *S) A(x int) int {\n\treturn x\n}\n", nil},
		{"a.go", "func A(x sub) sub {\n\treturn x\n}\n", nil},
		{"a.go", "func subtract(x int) int {\n\treturn x\n}\n", nil},
		{"a.rs", "fn sub<T>(x: T) -> T {\n    x\n}\n", []int{1, 2, 3}},
		{"a.py", "def a(sub):\n    return sub(1)\n\n\ndef sub(x):\n    return x\n", []int{5, 6}},
		{"a.js", "const sub = (x) => x;\n", []int{1}},
		{"a.js", "exports.sub = function (x) {\n  return x;\n};\n", []int{1, 2, 3}},
	} {
		got := slices.Sorted(maps.Keys(Called(c.file, []byte(c.src), map[string]bool{"sub": true})))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\n%v, want %v", c.file, c.src, got, c.want)
		}
	}
}
