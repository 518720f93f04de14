package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

func parseGo(text string) *Report { return parsed(workflows.FormatGoTest, text) }

func parseJUnit(text string) *Report { return parsed(workflows.FormatJUnit, text) }

func summary(r *Report) string {
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(r.Tests)) {
		parts = append(parts, fmt.Sprintf("%s=%s", id, r.Tests[id]))
	}
	for _, b := range r.Broken {
		parts = append(parts, fmt.Sprintf("[%s %s %s]", b.Unit, b.File, b.Missing))
	}
	if r.Damaged != "" {
		parts = append(parts, "damaged")
	}
	return strings.Join(parts, " ")
}

func TestGoParser(t *testing.T) {
	t.Parallel()
	ev := func(action, rest string) string {
		return `{"Action":"` + action + `","Package":"x.org/a"` + rest + "}\n"
	}
	for _, tc := range []struct{ name, in, want string }{
		{"noise around", "warming up\n" + ev("run", `,"Test":"TestA"`) + "{not json\n" + ev("pass", `,"Test":"TestA"`) + `{"other":1}`, "x.org/a.TestA=pass"},
		{"no line feed at the end", strings.TrimSpace(ev("fail", `,"Test":"TestA"`)), "x.org/a.TestA=fail"},
		{"worst of several", ev("pass", `,"Test":"TestA"`) + ev("fail", `,"Test":"TestA"`) + ev("pass", `,"Test":"TestA"`), "x.org/a.TestA=fail"},
		{"killed in the middle", ev("run", `,"Test":"TestA"`) + ev("run", `,"Test":"TestA/s"`), "x.org/a.TestA=error x.org/a.TestA/s=error"},
		{"package without tests", ev("skip", ""), ""},
		{"package that fails without a test", ev("start", "") + ev("output", `,"Output":"panic: in init\n"`) + ev("fail", ""), "x.org/a=error"},
		{"package that fails after its tests", ev("pass", `,"Test":"TestA"`) + ev("fail", ""), "x.org/a=error x.org/a.TestA=pass"},
		{"build of Go 1.24", `{"ImportPath":"x.org/a [x.org/a.test]","Action":"build-output","Output":"/top/a/a_test.go:4:32: undefined: Sub\n"}` + "\n" +
			`{"ImportPath":"x.org/a [x.org/a.test]","Action":"build-output","Output":"a/a_test.go:9:1: too many errors\n"}` + "\n" +
			ev("fail", `,"FailedBuild":"x.org/a [x.org/a.test]"`), "x.org/a=error [x.org/a a/a_test.go Sub]"},
		{"build of Go 1.23", "# x.org/a [x.org/a.test]\n./a_test.go:4:32: undefined: b.Sub\n\thave (int)\n" + ev("output", `,"Output":"FAIL\tx.org/a [build failed]\n"`) + ev("fail", ""),
			"x.org/a=error [x.org/a a_test.go b.Sub]"},
		{"build without a word", ev("fail", `,"FailedBuild":"x"`), "x.org/a=error [x.org/a  ]"},
		{"control characters in a name", ev("pass", `,"Test":"TestA/\u001b[31mx\u0007"`), "x.org/a.TestA/x=pass"},
	} {
		if got := summary(parseGo(tc.in)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if !parseGo("no packages to test\n").NoTests {
		t.Error("no packages to test")
	}
	for line, want := range map[string]bool{`panic: test timed out after 3s\n`: true, `panic: the test timed out\n`: false} {
		if got := parseGo(ev("run", `,"Test":"TestA"`) + ev("output", `,"Test":"TestA","Output":"`+line+`"`) + ev("fail", "")).TimedOut; got != want {
			t.Errorf("%s: timed out: %v", line, got)
		}
	}
}

func TestMissingInGo(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"undefined: Sub":      "Sub",
		"undefined: calc.Sub": "calc.Sub",
		"x.Y undefined (type T has no field or method Y)":                                                                "x.Y",
		"x.y undefined (type T has no field or method y, but does have method Y)":                                        "x.y",
		"t.Foo undefined (type *testing.T has no field or method Foo)":                                                   "",
		"unknown field Q in struct literal of type T":                                                                    "Q",
		"cannot use T{} (value of type T) as I value in variable declaration: T does not implement I (missing method M)": "M",
		"cannot use T{} (value of type T) as I value in argument to f: T does not implement I (wrong type for method M)": "",
		"no required module provides package x.org/m/nope; to add it:":                                                   "x.org/m/nope",
		"no required module provides package github.com/q/z; to add it:":                                                 "",
		"package x.org/m/nope is not in std (/usr/local/go/src/x.org/m/nope)":                                            "x.org/m/nope",
		"package nostd is not in std (/usr/local/go/src/nostd)":                                                          "",
		"ExampleX refers to unknown identifier: X":                                                                       "X",
		"not enough arguments in call to a.Add":                                                                          "",
		"declared and not used: x":                                                                                       "",
		"expected ')', found '{'":                                                                                        "",
	} {
		if got := missingInGo(msg, "x.org/m"); got != want {
			t.Errorf("%q misses %q, want %q", msg, got, want)
		}
	}
	for _, tc := range [][3]string{{"x.org/m/a", "a/a_test.go", "x.org/m"}, {"x.org/m", "m_test.go", "x.org/m"}, {"x.org/b/c", "sub/b/c/x.go", "x.org"}, {"x.org/m", "", ""}} {
		if got := ModulePrefix(tc[0], tc[1]); got != tc[2] {
			t.Errorf("modulePrefix(%q, %q) = %q", tc[0], tc[1], got)
		}
	}
}

func TestMissingInScript(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"SyntaxError: The requested module '../src/calc.js' does not provide an export named 'sub'": "sub",
		"SyntaxError: The requested module 'lodash' does not provide an export named 'sub'":         "",
		"SyntaxError: missing ) after argument list":                                                "",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find module './src/nope.js' imported from x":          "./src/nope.js",
		"Error: Cannot find module '../src/missing'\nRequire stack:":                                "../src/missing",
		"Error: Cannot find module 'left-pad'\nRequire stack:":                                      "",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from x":              "",
		"ReferenceError: sub is not defined":                                                        "sub",
		"TypeError: calc.sub is not a function":                                                     "calc.sub",
		"E   ImportError: cannot import name 'sub' from 'calc' (./calc.py)":                         "sub",
		"E   ModuleNotFoundError: No module named 'calc2'":                                          "calc2",
		"E   NameError: name 'sub' is not defined":                                                  "sub",
		"E   AttributeError: module 'calc' has no attribute 'sub'":                                  "sub",
		"E   SyntaxError: invalid syntax":                                                           "",
		"a.test.ts:2:15 - error TS2305: Module '\"../src/calc\"' has no exported member 'sub'.\n\na.test.ts:3:9 - error TS7006: Parameter 'x' implicitly has an 'any' type.": "sub",
		"a.test.ts:2:15 - error TS2305: Module '\"../src/calc\"' has no exported member 'sub'.\n\na.test.ts:3:9 - error TS2345: Argument of type":                            "",
		"a.test.ts:2:1 - error TS2307: Cannot find module '../src/sub' or its corresponding type declarations.":                                                              "../src/sub",
		"a.test.ts:2:1 - error TS2307: Cannot find module 'left-pad' or its corresponding type declarations.":                                                                "",
		"E   RuntimeError: x": "",
	} {
		if got := MissingInScript(msg); got != want {
			t.Errorf("%q misses %q, want %q", msg, got, want)
		}
	}
}

func TestJUnitParser(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"class names", `<testsuites><testsuite name="pytest"><testcase classname="m" name="a"/><testcase classname="m" name="b"><failure message="no">text</failure></testcase></testsuite></testsuites>`, "m::a=pass m::b=fail"},
		{"nested suites", `<testsuites><testsuite name="s"><testsuite name="deep"><testcase name="x" classname="test"/></testsuite></testsuite><testcase name="top" classname="test"/></testsuites>`, "s > deep > x=pass top=pass"},
		{"error, skip, todo", `<testsuite><testcase classname="c" name="e"><error/></testcase><testcase classname="c" name="s"><skipped/></testcase><testcase classname="c" name="t"><skipped/><failure/></testcase></testsuite>`, "c::e=error c::s=skip c::t=skip"},
		{"surefire's flaky pass", `<testsuite><testcase classname="c" name="f"><flakyFailure message="x"/></testcase></testsuite>`, "c::f=pass"},
		{"duplicates", `<testsuite><testcase classname="c" name="a"/><testcase classname="c" name="a"><failure/></testcase></testsuite>`, "c::a=pass c::a#2=fail"},
		{"noise, and two documents", "npm warn <nothing>\n<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><testsuite><testcase classname='c' name='a'/></testsuite>bye\n<testsuite><testcase classname='c' name='b'/></testsuite>", "c::a=pass c::b=pass"},
		{"cut", `<testsuites><testsuite><testcase classname="c" name="a"/><testcase classname="c" na`, "c::a=pass damaged"},
		{"bad UTF-8 and control characters", "<testsuite><testcase classname=\"c\" name=\"a\xff\x01\x1b[1mb\"/></testsuite>", "c::a [1mb=pass"},
		{"entity bomb", `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase classname="c" name="&b;"/></testsuite>`, "c::&b;=pass"},
		{"file of Node that fails", `<testsuites><testcase name="/top/test/b.test.js" classname="test"><failure type="testCodeFailure" message="test failed">[Error]</failure></testcase></testsuites>`, "test/b.test.js=error [test/b.test.js test/b.test.js ]"},
		{"file of Node without tests", `<testsuites><testcase name="/top/test/b.test.js" classname="test"/></testsuites>`, ""},
		{"collection error of pytest", `<testsuite name="pytest"><testcase classname="" name="tests.test_b"><error message="collection failure">E   ImportError: cannot import name 'sub' from 'calc'</error></testcase></testsuite>`, "tests.test_b=error [tests.test_b tests/test_b.py sub]"},
		{"empty", "", ""},
		{"something else", "<html><body>testsuite</body></html>", ""},
		{"section", `<testsuite><testcase classname="c" name="a"><failure><![CDATA[a ]] > <b> ]]></failure></testcase><!-- <testcase name="no"/> --></testsuite>`, "c::a=fail"},
	} {
		if got := summary(parseJUnit(tc.in)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if m := parseJUnit(`<testsuite><testcase classname="c" name="a"><failure message="one"><![CDATA[two <b>]]></failure></testcase></testsuite>`).Messages["c::a"]; m != "one\ntwo <b>" {
		t.Errorf("message = %q", m)
	}
}

// flood reads as n bytes that are never in memory at once.
type flood struct {
	head, body, tail string
	n                int
	at               int
}

func (f *flood) Read(p []byte) (int, error) {
	for i := range p {
		switch {
		case f.at < len(f.head):
			p[i] = f.head[f.at]
		case f.at < len(f.head)+f.n:
			p[i] = f.body[(f.at-len(f.head))%len(f.body)]
		case f.at < len(f.head)+f.n+len(f.tail):
			p[i] = f.tail[f.at-len(f.head)-f.n]
		default:
			return i, io.EOF
		}
		f.at++
	}
	return len(p), nil
}

func FuzzGoTest(f *testing.F) {
	f.Add(`{"Action":"run","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"x","Test":"TestA"}`)
	f.Add("# x\na.go:1:2: undefined: Y\n" + `{"Action":"fail","Package":"x","FailedBuild":"x"}`)
	f.Fuzz(func(t *testing.T, in string) {
		r := parseGo(in)
		for id := range r.Tests {
			if strings.ContainsAny(string(id), "\n\x1b\x00") && !strings.Contains(in, "Package") {
				t.Errorf("id %q", id)
			}
		}
	})
}

func FuzzJUnit(f *testing.F) {
	f.Add(`<testsuites><testsuite name="s"><testcase classname="c" name="a"><failure message="m">x</failure></testcase></testsuite></testsuites>`)
	f.Add(`<?xml version="1.0"?><testsuite><testcase name="/top/a.js" classname="test"><error><![CDATA[x]]></error></testcase><!-- c -->`)
	f.Fuzz(func(t *testing.T, in string) {
		r := parseJUnit(in)
		for id := range r.Tests {
			if strings.ContainsAny(string(id), "\n\x1b\x00") || len(id) > 3*MaxName {
				t.Errorf("id %q", id)
			}
		}
	})
}

// TestJUnitLineBreaks: Node removes line breaks from the message attribute of a failure; the text has them.
func TestJUnitLineBreaks(t *testing.T) {
	t.Parallel()
	r := parseJUnit(`<testsuites><testcase name="x" classname="test"><failure type="testCodeFailure" message="Expected values to be strictly equal:+ actual - expected+ undefined- 1209600000">
Error [ERR_TEST_FAILURE]: Expected values to be strictly equal:
+ actual - expected

+ undefined
- 1209600000

    at run (a.js:1)
</failure></testcase><testcase name="y" classname="test"><failure message="one line">another</failure></testcase></testsuites>`)
	got := r.Messages["x"]
	if want := "Expected values to be strictly equal:\n+ actual - expected\n\n+ undefined\n- 1209600000\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
	const want = "Expected values to be strictly equal: + actual - expected + undefined - 1209600000"
	if first := FirstError(got); first != want {
		t.Errorf("%q", first)
	}
	if got := r.Messages["y"]; got != "one line\nanother" {
		t.Errorf("%q", got)
	}
}
