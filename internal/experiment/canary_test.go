package experiment

import "testing"

func all(src string) Lines { return Added(nil, []byte(src)) }

func TestTurn(t *testing.T) {
	for _, c := range []struct{ file, src, want string }{
		{"a_test.go", "if got := Sub(3, 1); got != 2 {\n\tt.Errorf(\"Sub(3, 1) = %d\", got)\n}",
			"if got := Sub(3, 1); got != 3 {\n\tt.Errorf(\"Sub(3, 1) = %d\", got)\n}"},
		{"a_test.go", `if s := Join("a", "b"); s != "a-b" {`, `if s := Join("a", "b"); s != "a-bq0" {`},
		{"a_test.go", `assert.Equal(t, 3, f(1), "call %d", 2)`, `assert.Equal(t, 4, f(1), "call %d", 2)`},
		{"a_test.go", "{\"one\", 3, 1, 2},", "{\"oneq0\", 5, 4, 6},"},
		{"a_test.go", "if r != 'a' {", "if r != 'b' {"},
		{"test_a.py", "assert sub(3, 1) == 2, \"wrong 2\"", "assert sub(3, 1) == 3, \"wrong 2\""},
		{"test_a.py", "assert f() == [1, 'a', {'k': 2.5}]", "assert f() == [2, 'aq1', {'k': 5.5}]"},
		{"test_a.py", "self.assertEqual(f(1), 'x', 'why')", "self.assertEqual(f(1), 'xq0', 'why')"},
		{"test_a.py", "assert f(1) == -1", "assert f(1) == -2"},
		{"test_a.py", "assert f(1) is g(2), 'x'", "assert f(1) is g(2), 'x'"},
		{"test_a.py", "self.assertEqual(f(1),\n    g(2))\n@skipIf(sys.platform == 'win32')\nif x == 1:", "self.assertEqual(f(1),\n    g(2))\n@skipIf(sys.platform == 'win32')\nif x == 1:"},
		{"test_a.py", "assert rows[0] == rows[1]", "assert rows[0] == rows[1]"},
		{"test_a.py", "self.assertTrue(f(1))", "self.assertFalse(f(1))"},
		{"a.test.js", "expect(f(1)).toBe(2)", "expect(f(1)).toBe(3)"},
		{"a.test.js", "expect(f(a[0])).toEqual({ a: 1, b: ['x'] })", "expect(f(a[0])).toEqual({ a: 2, b: ['xq1'] })"},
		{"a.test.js", "assert.strictEqual(calc.sub(3, 1), 2);", "assert.strictEqual(calc.sub(3, 1), 3);"},
		{"a.test.js", "assert.equal(a, b, 'message');", "assert.equal(a, b, 'message');"},
		{"a.test.js", "const assert = require('assert');\nassert(isMatch('a', 'a'), 'valid match');", "const assert = require('assert');\nassert(isMatch('a', 'a'), 'valid match');"},
		{"a.test.js", "const agree = (a, b) => assert.equal(f(a), b);\nagree('a', 'b');", "const agree = (a, b) => assert.equal(f(a), b);\nagree('a', 'bq0');"},
		{"a_test.go", "if runtime.Compiler == \"tinygo\" {", "if runtime.Compiler == \"tinygo\" {"},
		{"a.test.js", "expect(() => invoice([{ name: 'x', net: 1 }])).toThrow(RangeError)",
			"expect(() => invoice([{ name: 'x', net: 1 }])).toThrow(RangeError)"},
		{"a.test.js", "test.each([[1, 2]])('n', (a, b) => { check(f(a), b) })",
			"test.each([[2, 4]])('n', (a, b) => { check(f(a), b) })"},
		{"test_a.py", "with pytest.raises(ValueError):\n    f([1, 2])", "with pytest.raises(ValueError):\n    f([1, 2])"},
		{"test_a.py", "@pytest.mark.parametrize('a, b', [(1, 2)])", "@pytest.mark.parametrize('a, b', [(2, 4)])"},
		{"test_a.py", "with pytest.raises(ValueError, match=\"row 3\"):\n    f([1, 2])",
			"with pytest.raises(ValueError, match=\"row 3q0\"):\n    f([1, 2])"},
		{"test_a.py", "with self.assertRaisesRegex(ValueError, '^no$'):", "with self.assertRaisesRegex(ValueError, '^no$q0'):"},
		{"a.test.js", "expect(() => f(1)).toThrow(/row 3/i)", "expect(() => f(1)).toThrow(/(?!)(?:row 3)/i)"},
		{"a.test.js", "assert.throws(() => f(1), { name: 'E', message: /a|b/ });",
			"assert.throws(() => f(1), { name: 'Eq0', message: /(?!)(?:a|b)/ });"},
		{"a.test.js", "assert.match(e.message, /3/);", "assert.match(e.message, /(?!)(?:3)/);"},
		{"a.test.js", "assert.doesNotMatch(f(), /3/);", "assert.doesNotMatch(f(), /3/);"},
		{"a.test.js", "const [, n] = f().match(/(\\d)/);", "const [, n] = f().match(/(\\d)/);"},
		{"a.test.js", "expect(f()).not.toMatch(/3/); expect(f()).not.toBe(2)", "expect(f()).not.toMatch(/3/); expect(f()).not.toBe(2)"},
		{"a.test.ts", "expect(ok).toBe(true)", "expect(ok).toBe(false)"},
		{"lib.rs", "assert_eq!(sub(3, 1), 2);", "assert_eq!(sub(3, 1), 3);"},
		{"lib.rs", "assert_eq!(f(&'a T), \"x\".to_string());", "assert_eq!(f(&'a T), \"xq0\".to_string());"},
		{"lib.rs", "assert_eq!(f(1), Some(2));", "assert_eq!(f(1), Some(3));"},
		{"test_a.py", "assert f(1) == Decimal('1.50')", "assert f(1) == Decimal('1.50q0')"},
		{"a_test.go", "if !reflect.DeepEqual(f(1), []string{\"a\"}) {", "if !reflect.DeepEqual(f(1), []string{\"aq0\"}) {"},
		{"lib.rs", "fn seconds(a: &str, n: u64) { assert_eq!(parse(a), n) }\nseconds(\"3d\", 259200);",
			"fn seconds(a: &str, n: u64) { assert_eq!(parse(a), n) }\nseconds(\"3d\", 259201);"},
		{"lib.rs", "assert_eq!(f(), (b\"abc\", b'a', b\"\", b\"\\n\"));", "assert_eq!(f(), (b\"bbc\", b'b', b\"\", b\"\\n\"));"},
		{"lib.rs", "assert_eq!(f(), br#\"abc\"#);", "assert_eq!(f(), br#\"bbc\"#);"},
		{"test_a.py", "assert f(b'x') == b\"abc\", r'no'", "assert f(b'x') == b\"abcq0\", r'no'"},
		{"test_a.py", "@pytest.mark.parametrize('a, b', [(b'x', Rb'y')])", "@pytest.mark.parametrize('a, b', [(b'xq0', Rb'yq1')])"},
		{"test_a.py", "with pytest.raises(ValueError, match=r\"row 3\"):", "with pytest.raises(ValueError, match=r\"row 3q0\"):"},
		{"a_test.go", "if !bytes.Equal(f(), []byte(\"abc\")) {", "if !bytes.Equal(f(), []byte(\"abcq0\")) {"},
		{"a_test.go", "{in: \"one\", want: []byte(\"abc\")},", "{in: \"oneq0\", want: []byte(\"abcq1\")},"},
		{"a_test.go", "if d := cmp.Diff(f(1), []string{\"a\"}); d != \"\" {", "if d := cmp.Diff(f(1), []string{\"aq0\"}); d != \"\" {"},
		{"a_test.go", "d := diff(\"a\", f(1))\nif d != \"\" {\n\tt.Error(d)", "d := diff(\"aq0\", f(1))\nif d != \"\" {\n\tt.Error(d)"},
		{"a_test.go", "if s := join(\"a\"); s != \"\" {", "if s := join(\"a\"); s != \"q0\" {"},
		{"ATest.java", "assertEquals(2, Calc.sub(3, 1));", "assertEquals(3, Calc.sub(3, 1));"},
		{"ATest.java", "assertEquals(\"why\", 2, Calc.sub(3, 1));", "assertEquals(\"why\", 3, Calc.sub(3, 1));"},
	} {
		if got, _ := Turn(c.file, []byte(c.src), all(c.src), All); string(got) != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.file, c.src, got, c.want)
		}
	}
}

func TestTurnData(t *testing.T) {
	src := "3 1 2\n{\"want\": \"abc\"}\n  \"A2 A3\": \"2 free\",\n"
	got, n := TurnData([]byte(src), Lines{1: true, 2: true, 3: true})
	if want := "4 3 5\n{\"want\": \"abcq\"}\n  \"A2 A3\": \"7 free\",\n"; string(got) != want || n != 5 {
		t.Errorf("%q, %d", got, n)
	}
}

// TestTurnHelpers changes the last arguments of a test's own helpers, but not those of other objects' methods with the
// same names.
func TestTurnHelpers(t *testing.T) {
	t.Parallel()
	const put = "def put(k, v):\n    g(k, v)\n\n"
	const check = "class T:\n    def check(self, k, v):\n        g(k, v)\n\n    def test(self):\n"
	const script = "function put(k, v) { g(k, v) }\n"
	for _, c := range []struct{ file, before, src, want string }{
		{"test_a.py", put, "put(\"a\", 1)\n", "put(\"a\", 2)\n"},
		{"test_a.py", put, "c.put(\"a\", 1)\n", "c.put(\"a\", 1)\n"},
		{"test_a.py", put, "x = put(\"a\", 1)\n", "x = put(\"a\", 1)\n"}, // its result is used
		{"test_a.py", "", "put(\"a\", 1)\n", "put(\"a\", 1)\n"},          // declared elsewhere
		{"test_a.py", check, "        self.check(\"a\", 1)\n", "        self.check(\"a\", 2)\n"},
		{"test_a.py", check, "        self.c.check(\"a\", 1)\n", "        self.c.check(\"a\", 1)\n"},
		{"a.test.js", script, "put('a', 1)\n", "put('a', 2)\n"},
		{"a.test.js", script, "c.put('a', 1)\n", "c.put('a', 1)\n"},
		{"a.test.js", script, "c\n  .put('a', 1)\n", "c\n  .put('a', 1)\n"},
		{"a.test.js", script, "this.put('a', 1)\n", "this.put('a', 2)\n"},
	} {
		src := c.before + c.src
		if got, _ := Turn(c.file, []byte(src), Added([]byte(c.before), []byte(src)), All); string(got) != c.before+c.want {
			t.Errorf("%s: %s\n got %s", c.file, src, got)
		}
	}
}

// TestValues also finds values in tables that are written as one string.
func TestValues(t *testing.T) {
	t.Parallel()
	have := Values("a.test.js", []byte("test.each`\n  a | b\n  ${10_000} | ${5.5}\n`('x y', f); is(7, 'z')"))
	if b := Values("test_a.py", []byte("assert f() == br'raw'")); !b["raw"] {
		t.Errorf("the bytes are not among %v", b)
	}
	for _, v := range []string{"10000", "5.5", "7", "z", "x y"} {
		if !have[v] {
			t.Errorf("%s is not among %v", v, have)
		}
	}
	if have["1000"] || have["5"] {
		t.Errorf("parts of values are among %v", have)
	}
}
