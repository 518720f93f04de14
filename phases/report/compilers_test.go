package report

import (
	"strings"
	"testing"
)

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"maven, printed twice", "[ERROR] COMPILATION ERROR : \n[ERROR] /top/src/test/java/x/CalcTest.java:[9,42] cannot find symbol\n  symbol:   method sub(int,int)\n  location: class x.Calc\n[INFO] 1 error\n[ERROR] Failed to execute goal: Compilation failure\n[ERROR] /top/src/test/java/x/CalcTest.java:[9,42] cannot find symbol\n[ERROR]   symbol:   method sub(int,int)\n[ERROR]   location: class x.Calc\n",
			"src/test/java/x/CalcTest.java=error [src/test/java/x/CalcTest.java src/test/java/x/CalcTest.java sub]"},
		{"javac below gradle", "/top/src/test/java/x/CalcTest.java:9: error: cannot find symbol\n    Calc.sub(3, 1);\n        ^\n  symbol:   variable Calc\n  location: class CalcTest\n1 error\n",
			"src/test/java/x/CalcTest.java=error [src/test/java/x/CalcTest.java src/test/java/x/CalcTest.java Calc]"},
		{"javac, another error", "/top/T.java:9: error: incompatible types: String cannot be converted to int\n", "T.java=error [T.java T.java ]"},
		{"kotlin", "e: file:///top/src/test/kotlin/CalcTest.kt:7:21 Unresolved reference: sub\n", "src/test/kotlin/CalcTest.kt=error [src/test/kotlin/CalcTest.kt src/test/kotlin/CalcTest.kt sub]"},
		{"dotnet", "/top/CalcTests.cs(7,31): error CS0117: 'Calc' does not contain a definition for 'Sub' [/top/Calc.Tests.csproj]\n", "CalcTests.cs=error [CalcTests.cs CalcTests.cs Sub]"},
		{"typescript", "test/calc.test.ts(3,10): error TS2305: Module '\"./calc\"' has no exported member 'sub'.\n", "test/calc.test.ts=error [test/calc.test.ts test/calc.test.ts sub]"},
		{"php", "PHP Fatal error:  Uncaught Error: Class \"Calc\" not found in /top/tests/CalcTest.php:7\n", "tests/CalcTest.php=error [tests/CalcTest.php tests/CalcTest.php Calc]"},
		{"require", "Error: Cannot find module '../src/sub.js'\nRequire stack:\n- /top/test/sub.test.js\n- /top/node_modules/mocha/x.js\n", "test/sub.test.js=error [test/sub.test.js test/sub.test.js ../src/sub.js]"},
		{"mocha, of a file that cannot be parsed", " Exception during run: file:///top/test/sub.test.mjs:3\n  foo bar\n      ^^^\n\nSyntaxError: Unexpected identifier 'bar'\n    at x\n", "test/sub.test.mjs=error [test/sub.test.mjs test/sub.test.mjs ]"},
		{"mocha", " Exception during run: Error: Cannot find module '../src/sub.js'\nRequire stack:\n- /top/test/sub.test.js\n    at x\n", "test/sub.test.js=error [test/sub.test.js test/sub.test.js ../src/sub.js]"},
		{"import", "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/top/src/sub.js' imported from /top/test/sub.test.mjs\n", "test/sub.test.mjs=error [test/sub.test.mjs test/sub.test.mjs /top/src/sub.js]"},
		{"export", "file:///top/test/a.test.mjs:1\nimport { sub } from '../src/calc.mjs';\n         ^^^\nSyntaxError: The requested module '../src/calc.mjs' does not provide an export named 'sub'\n", "test/a.test.mjs=error [test/a.test.mjs test/a.test.mjs sub]"},
		{"what is not in the tree", "/elsewhere/T.java:9: error: cannot find symbol\n  symbol:   variable x\n", ""},
	} {
		b := &compilers{at: Place{"/top"}}
		w := &lineFeed{to: b.line, most: maxTextLine}
		_, _ = w.Write([]byte(tc.in))
		r := New()
		b.explain(r, func(file string) bool { return !strings.HasPrefix(file, "/") })
		if got := summary(r); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
