package experiment

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOtherResults runs functions with other results, and with raising ones, in all languages that are installed.
func TestOtherResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, src, main string
		run             []string
		functions       int
		want            string // output with other results
		raises          string // output if it raises instead
		nothing         string // output if nothing is returned
	}{
		{file: "a.go", src: "package main\n\nimport \"os\"\n\ntype pair struct{ N int; s string }\n\n" +
			"func sum(a, b int) int { return a + b }\n\nfunc (p pair) both(x int) (n int, err error) {\n\tn = x\n\treturn\n}\n\n" +
			"func of[T any](v T) (T, []string) { return v, []string{\"a\", \"b\"} }\n\nfunc say(s string) { os.Stdout.WriteString(s) }\n",
			main: "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tn, err := pair{}.both(1)\n\tv, l := of(true)\n\tsay(fmt.Sprint(sum(1, 2), n, err, v, l))\n}\n",
			run:  []string{"go", "run", "a.go", "main.go"}, functions: 3, want: "4 2 <nil> false [a]", raises: "other",
			nothing: "0 0 <nil> false []"},
		{file: "a.py", src: "class A:\n    def __init__(self):\n        self.n = 1\n\n    @property\n    def size(self):\n        return self.n\n\n\n" +
			"def both(x): return [x, True], \"a\"\n\n\ndef nothing():\n    pass\n",
			main: "from a import A, both, nothing\nprint(A().size, both(1), nothing())\n",
			run:  []string{"python3", "main.py"}, functions: 3, want: "2 ([2, False], 'aq') None", raises: "ZeroDivisionError",
			nothing: "None None None"},
		{file: "a.js", src: "const sum = (a, b) => a + b;\nfunction both(x) { return { x, l: [x] }; }\nclass A {\n  constructor() { this.n = 1; }\n  size() { return this.n; }\n}\n" +
			"const later = async () => { return 'a'; };\nmodule.exports = { sum, both, A, later };\n",
			main: "const { sum, both, A, later } = require('./a.js');\nlater().then((s) => console.log(sum(1, 2), JSON.stringify(both(1)), new A().size(), s));\n",
			run:  []string{"node", "main.js"}, functions: 4, want: `4 {"x":2,"l":[2]} 2 aq`, raises: "other",
			nothing: "undefined undefined undefined undefined"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.run[0]); err != nil {
				t.Skip("SKIPPED: needs " + c.run[0])
			}
			for _, change := range []struct {
				make func(string, []byte, Lines) ([]byte, int)
				want string
			}{{OtherResults, c.want}, {RaisesThere, c.raises}, {Nothing, c.nothing}} {
				text, n := change.make(c.file, []byte(c.src), all(c.src))
				if n != c.functions && (change.want != c.nothing || n == 0) {
					t.Errorf("%d functions, want %d\n%s", n, c.functions, text)
				}
				dir := t.TempDir()
				for name, text := range map[string]string{c.file: string(text), "main" + filepath.Ext(c.file): c.main,
					"go.mod": "module a\n\ngo 1.21\n"} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.Command(c.run[0], c.run[1:]...)
				cmd.Dir = dir
				if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), change.want) {
					t.Errorf("prints %q, want %q\n%s", out, change.want, text)
				}
			}
		})
	}
}

func TestOtherResultsOfRust(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{"u32": "wfs_v.wrapping_add(1)", "bool": "!wfs_v", "String": `wfs_v + "q"`,
		"Option<u64>": "wfs_v.map(|w| w.wrapping_add(1))", "std::io::Result<String>": `wfs_v.map(|w| w + "q")`,
		"Result<Vec<u8>, E>": "wfs_v.map(|w| w.into_iter().skip(1).collect::<Vec<_>>())", "&str": "", "Self": ""} {
		src := "fn a(x: u32) -> " + result + " {\n    todo!()\n}\n"
		text, n := OtherResults("a.rs", []byte(src), all(src))
		if want == "" && n != 0 || want != "" && !strings.Contains(string(text), "; "+want+" }") &&
			!strings.Contains(string(text), "(); "+want+" ") {
			t.Errorf("%s: %s", result, text)
		}
	}
}

// TestNamed finds the lines of tests by the names that runners print.
func TestNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, src, name string
		want            []int
	}{
		{"a_test.go", "func TestA(t *testing.T) {\n\tx()\n}\n\nfunc TestB(t *testing.T) {}\n", "TestA", []int{1, 2, 3}},
		{"test_a.py", "def test_a():\n    x()\n\n\ndef test_b():\n    y()\n", "test_b", []int{5, 6}},
		{"a.test.js", "test('a b', () => {\n  x();\n});\nit(\"c\", async () => {\n  y();\n});\n", "a b", []int{1, 2, 3}},
		{"a.test.js", "test('a b', () => {\n  x();\n});\nit(\"c\", async () => {\n  y();\n});\n", "c", []int{4, 5, 6}},
		{"a.test.js", "test('a b', () => {\n  x('d');\n});\n", "d", nil},
	} {
		if got := slices.Sorted(maps.Keys(Named(c.file, []byte(c.src), c.name))); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s: %v, want %v", c.name, c.file, got, c.want)
		}
	}
}

func TestCanaryLeavesBenchmarks(t *testing.T) {
	t.Parallel()
	src := "func BenchmarkA(b *testing.B) {\n\tif n := f(); n != 3 {\n\t\tb.Fatal()\n\t}\n}\n"
	if _, n := Turn("a_test.go", []byte(src), all(src), All); n != 0 {
		t.Errorf("%d values of a benchmark are turned", n)
	}
	if _, n := Turn("a_test.go", []byte(strings.ReplaceAll(src, "Benchmark", "Test")), all(src), All); n != 1 {
		t.Errorf("%d values of a test are turned", n)
	}
}
