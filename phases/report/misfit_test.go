package report

import "testing"

// TestMisfit reads real messages of compilers.
func TestMisfit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, message, want string }{
		{"low_test.go", "low/low_test.go:6:8: cannot use map[string]int{…} (value of type map[string]int) as int value in argument to s.Low", "cannot use map[string]int{…} (value of type map[string]int) as int value in argument to s.Low"},
		{"low_test.go", "low/low_test.go:8:11: too many arguments in call to s.Low\n\thave (number, number)\n\twant (int)", "too many arguments in call to s.Low have (number, number) want (int)"},
		{"low_test.go", "./low_test.go:9:10: assignment mismatch: 2 variables but s.Low returns 1 value", "assignment mismatch: 2 variables but s.Low returns 1 value"},
		{"low_test.go", "vet: ./low_test.go:7:2: not enough arguments in call to s.Low\n\thave ()\n\twant (int)", "not enough arguments in call to s.Low have () want (int)"},
		{"low_test.go", "./low_test.go:10:7: s.None() (no value) used as value", "s.None() (no value) used as value"},
		{"low_test.go", "./low_test.go:5:17: invalid operation: s.Low(3) == \"a\" (mismatched types []string and untyped string)", "invalid operation: s.Low(3) == \"a\" (mismatched types []string and untyped string)"},
		{"low_test.go", "./low_test.go:29:2: declared and not used: n", ""},
		{"low_test.go", "./low_test.go:2:29: \"os\" imported and not used", ""},
		{"low_test.go", "./low_test.go:9:1: syntax error: unexpected }, expected expression", ""},
		{"tests/a.rs", "error[E0061]: this method takes 1 argument but 0 arguments were supplied\n --> tests/a.rs:5:7\n  |\n5 |     s.low();\n  |       ^^^-- argument #1 of type `u32` is missing\n", "[E0061]: this method takes 1 argument but 0 arguments were supplied"},
		{"tests/a.rs", "error[E0308]: mismatched types\n --> tests/a.rs:6:11\n  |\n6 |     s.low(\"a\");\n  |       --- ^^^ expected `u32`, found `&str`\n", "[E0308]: mismatched types: expected `u32`, found `&str`"},
		{"tests/a.rs", "error: expected one of `.`, `;`, `?`, `else`, or an operator, found `assert_eq`\n --> tests/b.rs:6:20", ""},
		{"tests/a.rs", "error[E0382]: use of moved value: `s`", ""},
		{"test/a.test.ts", "test/a.test.ts: TS2554: Expected 1 arguments, but got 2.", "test/a.test.ts: TS2554: Expected 1 arguments, but got 2."},
		{"test/a.test.ts", "test/a.test.ts: TS1005: ';' expected.", ""},
		{"a.test.ts", "a.test.ts:2:15 - error TS2305: Module '\"../src/calc\"' has no exported member 'sub'.\n\na.test.ts:3:9 - error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.", "Argument of type 'string' is not assignable to parameter of type 'number'."},
		{"a.test.ts", "a.test.ts:2:15 - error TS2345: Argument of type\na.test.ts:3:9 - error TS2307: Cannot find module 'left-pad' or its corresponding type declarations.", ""},
		{"ATest.java", "ATest.java: method low in class Store cannot be applied to given types;", "ATest.java: method low in class Store cannot be applied to given types;"},
		{"ATest.java", "ATest.java: incompatible types: String cannot be converted to int", "ATest.java: incompatible types: String cannot be converted to int"},
		{"ATest.java", "ATest.java: ';' expected", ""},
		{"ATest.kt", "ATest.kt: Argument type mismatch: actual type is 'String', but 'Int' was expected.", "ATest.kt: Argument type mismatch: actual type is 'String', but 'Int' was expected."},
		{"ATest.cs", "ATest.cs: CS1503: Argument 1: cannot convert from 'string' to 'int'", "ATest.cs: CS1503: Argument 1: cannot convert from 'string' to 'int'"},
		{"ATest.cs", "ATest.cs: CS1002: ; expected", ""},
		{"test_a.py", "collection failure\nE   TypeError: E0308", ""},
	} {
		if got := misfit(tc.file, tc.message); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.message, got, tc.want)
		}
	}
}
