package tamper

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func graveKinds(r Report) (kinds []string) {
	for _, f := range r.Findings {
		if kind := string(f.Kind) + " " + f.Path; f.Grave && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// What stands behind a million bytes is compared; what is more than can be compared is told, where it is about tests, and
// keeps nothing else from being compared.
func TestMuch(t *testing.T) {
	t.Parallel()
	const test, code = "def test_mul():\n    assert mul(2, 3) == 6\n", "def mul(a, b):\n    return a * b\n"
	padded := func(megabytes int, text string) []byte {
		return append(bytes.Repeat([]byte("# "+strings.Repeat("x", 1022)+"\n"), megabytes<<10), text...)
	}
	weak := strings.Replace(test, "mul(2, 3) == 6", "True", 1)
	small := File{Path: "test_small.py", Before: []byte(test), After: []byte(weak)}
	many := make([]File, 3000)
	for i := range many {
		many[i] = File{Path: fmt.Sprintf("a/tests/%d.txt", i), After: []byte("new")}
	}
	for name, tc := range map[string]struct {
		files []File
		want  []string
	}{
		"behind a megabyte":       {[]File{{Path: "test_big.py", Before: padded(1, test), After: padded(1, weak)}}, []string{"test_emptied test_big.py"}},
		"only moved there":        {[]File{{Path: "test_big.py", Before: padded(1, test), After: padded(2, test)}}, nil},
		"more than is compared":   {[]File{{Path: "test_big.py", Before: padded(4, test), After: padded(5, weak)}, small}, []string{"too_much_to_compare test_big.py", "test_emptied test_small.py"}},
		"with other spaces":       {[]File{{Path: "test_big.py", Before: padded(5, test), After: padded(5, "\n\ndef test_mul():\n    assert  mul(2,3,) == 6  # 'six'\n")}, small}, []string{"test_emptied test_small.py"}},
		"dedented":                {[]File{{Path: "test_big.py", Before: padded(5, "if x:\n    y = 1\n    z = 2\n"), After: padded(5, "if x:\n    y = 1\nz = 2\n")}}, []string{"too_much_to_compare test_big.py"}},
		"beside much code":        {[]File{{Path: "new.py", After: padded(9, code)}, {Path: "gen.py", Before: padded(9, code), After: []byte(code)}, small}, []string{"test_emptied test_small.py"}},
		"beside much new code":    {[]File{{Path: "test_new.py", After: padded(9, test)}, small}, []string{"test_emptied test_small.py"}},
		"much that runs others":   {[]File{{Path: "conftest.py", After: padded(9, "")}}, []string{"too_much_to_compare conftest.py"}},
		"deleted":                 {[]File{{Path: "test_big.py", Before: padded(9, test)}}, []string{"too_much_to_compare test_big.py"}},
		"nobody read a test":      {[]File{File{Path: "test_big.py", Before: []byte(test), After: []byte(weak)}.Without(), small}, []string{"too_much_to_compare test_big.py", "test_emptied test_small.py"}},
		"nobody read a fixture":   {[]File{File{Path: "testdata/x", Before: []byte("a"), After: []byte("b")}.Without()}, []string{"too_much_to_compare testdata/x"}},
		"nobody read new data":    {[]File{File{Path: "testdata/x", After: []byte("b")}.Without(), File{Path: "x.bin", Before: []byte("b")}.Without()}, nil},
		"nobody read a gate":      {[]File{File{Path: "check.sh", Before: []byte("a"), After: []byte("b")}.Without()}, []string{"too_much_to_compare check.sh"}},
		"a new file beside many":  {append(slices.Clone(many), small), []string{"test_emptied test_small.py"}},
		"many new files":          {many, nil},
		"too deep":                {[]File{{Path: "a.test.js", Before: []byte("test('a', () => { expect(f()).toBe(1) })"), After: []byte(strings.Repeat("test('a', () => {", 2000) + strings.Repeat("})", 2000))}, small}, []string{"too_much_to_compare a.test.js", "test_emptied test_small.py"}},
		"code that is too deep":   {[]File{{Path: "a.js", After: []byte(strings.Repeat("const f = () => {", 2000) + "process.env.NODE_ENV === 'test'" + strings.Repeat("}", 2000))}}, []string{"knows_that_it_tests a.js"}},
		"a big fixture that grew": {[]File{{Path: "testdata/big.json", Before: nil, After: padded(9, "{}")}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := graveKinds(Compare(Request{Files: tc.files, Gates: []string{"./check.sh"}})); !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// A NUL is a blank, and a text in UTF-16 is read.
func TestBytesOfTests(t *testing.T) {
	t.Parallel()
	const test = "test('muls', () => { assert.equal(mul(2, 3), 6) })\n"
	weak := strings.Replace(test, "equal(mul(2, 3), 6)", "ok(true)", 1)
	wide := func(s string) []byte {
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	}
	for name, tc := range map[string]struct {
		path          string
		before, after string
		want          []string
	}{
		"a NUL in a test":        {"a.test.js", "// \x00\n" + test, "// \x00\n" + weak, []string{"test_emptied a.test.js"}},
		"a NUL that goes":        {"a.test.js", "// \x00\n" + test, test, nil},
		"a NUL in code":          {"a.js", "// \x00\nlet a = 1\n", "// \x00\nlet a = process.env.NODE_ENV === 'test'\n", []string{"knows_that_it_tests a.js"}},
		"a NUL in a gate":        {"check.sh", "# \x00\nmake\n", "# \x00\nexit 0\n", []string{"gate_changed check.sh"}},
		"wide":                   {"a.test.js", string(wide(test)), string(wide(weak)), []string{"test_emptied a.test.js"}},
		"wide no more":           {"a.test.js", string(wide(test)), test, nil},
		"a binary file, changed": {"logo.png", "\x89PNG\x00\x00", "\x89PNG\x00\x01", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := graveKinds(Compare(Request{Files: []File{{Path: tc.path, Before: []byte(tc.before), After: []byte(tc.after)}}, Gates: []string{"./check.sh"}}))
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// A test with so many changed checks that not each can be compared with each is found all the same.
func TestManyChecks(t *testing.T) {
	t.Parallel()
	text := func(add int) []byte {
		var b strings.Builder
		b.WriteString("package p\n\nfunc TestX(t *testing.T) {\n")
		for i := range 1500 {
			fmt.Fprintf(&b, "\tif got := f(%d); got != %d {\n\t\tt.Error(got)\n\t}\n", i, i*7+add)
		}
		return []byte(b.String() + "}\n")
	}
	r := Compare(Request{Files: []File{{Path: "x_test.go", Before: text(0), After: text(1)}}})
	if got := graveKinds(r); !slices.Equal(got, []string{"expectation_edited x_test.go"}) {
		t.Errorf("%v", got)
	}
}
