package phases

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

func parseGo(text string) *report {
	p := newGoParser("/top", nil)
	_, _ = p.stream(false).Write([]byte(text))
	return p.finish()
}

func parseJUnit(text string) *report {
	p := newJUnitParser("/top")
	p.parse(strings.NewReader(text))
	return p.r
}

func summary(r *report) string {
	var parts []string
	for _, id := range sortedKeys(r.tests) {
		parts = append(parts, fmt.Sprintf("%s=%s", id, r.tests[id]))
	}
	for _, b := range r.broken {
		parts = append(parts, fmt.Sprintf("[%s %s %s]", b.Unit, b.File, b.Missing))
	}
	if r.damaged != "" {
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
	if !parseGo("no packages to test\n").noTests {
		t.Error("no packages to test")
	}
	for line, want := range map[string]bool{`panic: test timed out after 3s\n`: true, `panic: the test timed out\n`: false} {
		if got := parseGo(ev("run", `,"Test":"TestA"`) + ev("output", `,"Test":"TestA","Output":"`+line+`"`) + ev("fail", "")).timedOut; got != want {
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
		if got := modulePrefix(tc[0], tc[1]); got != tc[2] {
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
		if got := missingInScript(msg); got != want {
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
	if m := parseJUnit(`<testsuite><testcase classname="c" name="a"><failure message="one"><![CDATA[two <b>]]></failure></testcase></testsuite>`).messages["c::a"]; m != "one\ntwo <b>" {
		t.Errorf("message = %q", m)
	}
}

// TestQuickEvent compares what reads events quickly with encoding/json.
func TestQuickEvent(t *testing.T) {
	t.Parallel()
	quick := 0
	for _, line := range []string{
		`{"Time":"2026-11-20T15:20:11Z","Action":"output","Package":"x.org/a","Test":"TestA/b","Output":"got \"two\"\t\\ \u003e é ✓\n"}`,
		`{"ImportPath":"x.org/a","Action":"build-output","Output":"# x.org/a\n"}`, `{"Action":"fail","Package":"x","Elapsed":0.25,"FailedBuild":"x [x.test]"}`,
		`{}`, `{"Action":"run"`, `{"Action":"run"}}`, `{"Action":"run",}`, `{"Action":"run" }`, `{"Action":"a\u00e9\ud83d\ude00"}`, `{"Action":"a` + "\x01" + `"}`,
		`{"Action":"a` + "\xff" + `"}`, `{"Action":7}`, `{"action":"run"}`, `{"Action":"\`, `{"Action":"\u00`, `{"Elapsed":1}`, `{"Elapsed":[1]}`, `{"Other":"x","Action":"y"}`, "{", `{"Action":"\x41"}`,
	} {
		var want goEvent
		err := json.Unmarshal([]byte(line), &want)
		e, ok := quickEvent(line)
		if ok && (err != nil || e != want) {
			t.Errorf("%s: %+v, want %+v, %v", line, e, want, err)
		}
		if ok {
			quick++
		}
	}
	if quick != 4 {
		t.Errorf("%d lines are read quickly", quick)
	}
}

// TestLastLines gives lines in one piece, in pieces, and one by one.
func TestLastLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	for _, text := range []string{"", "\n\n", "one\n\x1b[1m\x1b[0m\ntwo", strings.Repeat("a\n\n\n\n", 100) + "b\n", strings.Repeat("one\ntwo\n", 3) + strings.Repeat("\n \n", 200),
		long + "\nend\n" + long, strings.Repeat("line\n", 19) + strings.Repeat("\n", 90) + "last"} {
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if line = safetext.Line(line, 300); line != "" {
				want = append(want, line)
			}
		}
		want = want[max(0, len(want)-printedLines):]
		for _, size := range []int{1, 7, 64, 1 << 20} {
			l := &lastLines{}
			_, _ = l.Write([]byte("before\n"))
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				_, _ = l.Write(rest[:min(size, len(rest))])
			}
			got := l.lines()
			if len(want) < printedLines {
				got = got[1:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%.40q by %d: %q, want %q", text, size, got, want)
			}
		}
	}
	l := &lastLines{secrets: redact.New([]string{"API_TOKEN=open-sesame-for-all"})}
	l.add("open-sesame-for-all")
	l.add(strings.Repeat(" ", maxKept-5) + "open-sesame-for-all")
	for at := range len("open-sesame-for-all") { // wherever the beginning is cut off
		l.add(strings.Repeat("x", 2*maxKept-at) + "open-sesame-for-all")
		if got := strings.Join(l.lines(), "|"); strings.Contains(got, "for-all") {
			t.Errorf("%q", got)
		}
	}
}

// flood is n bytes of something without ever holding them.
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

func TestParsersStaySmall(t *testing.T) {
	const size = 16 << 20
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	for name, f := range map[string]*flood{
		"section":   {head: `<testsuite><testcase classname="c" name="a"><failure><![CDATA[`, body: "x]", tail: `]]></failure></testcase></testsuite>`},
		"text":      {head: `<testsuite><testcase classname="c" name="a"><failure>`, body: "xy", tail: `</failure></testcase></testsuite>`},
		"attribute": {head: `<testsuite><testcase classname="c" name="a"><failure message="`, body: "x>", tail: `"/></testcase></testsuite>`},
		"comment":   {head: `<testsuite><testcase classname="c" name="a"><failure/></testcase><!--`, body: "<-", tail: `--></testsuite>`},
	} {
		f.n = size
		before := heap()
		p := newJUnitParser()
		p.parse(f)
		if grown := heap() - before; grown > size/2 {
			t.Errorf("%s: %d bytes allocated", name, grown)
		}
		if p.r.tests["c::a"] != session.TestFail || p.r.damaged != "" {
			t.Errorf("%s: %s", name, summary(p.r))
		}
	}
	before := heap()
	p := newGoParser("", nil)
	_, _ = io.Copy(struct{ io.Writer }{p.stream(false)}, &flood{head: `{"Action":"run","Package":"x","Test":"`, body: "TestA", n: size})
	if grown := heap() - before; grown > size/2 {
		t.Errorf("one line of go test: %d bytes allocated", grown)
	}
}

func TestReportFilesCountOnlyWhenWrittenByThisRun(t *testing.T) {
	t.Parallel()
	const doc = `<testsuite><testcase classname="c" name="a"/></testsuite>`
	l := newLab(t, map[string]string{"out/old.xml": doc, "copy.xml": doc})
	g := shGate("true")
	g.Name, g.Format, g.Report = "tests", workflows.FormatJUnit, "out/*.xml"
	s := start{}
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassNoTests)

	g.Run.Shell = "cp copy.xml out/old.xml" // the same bytes again
	if err := os.Chtimes(filepath.Join(l.judge.Root, "out", "old.xml"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)
	g.Run.Shell = "mkdir -p out/ignored && cp copy.xml out/ignored/x.xml"
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassNoTests)
	g.Report = "out/**/*.xml"
	g.Run.Shell = "rm out/ignored/x.xml && cp copy.xml out/ignored/x.xml"
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)

	g.Report, g.Run.Shell = "", `cp copy.xml "$WFS_REPORT"; echo '<testsuite><testcase name="forged" classname="c"><failure/></testcase></testsuite>'`
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Pass, session.ClassGreen)
	g.Run.Shell = "cat copy.xml; exit 1" // all pass, and yet it fails
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassCommandFailed)
	g.Run.Shell = "head -c 50 copy.xml" // cut
	check(t, l.judged(s, g, workflows.ExpectPass, nil, nil), session.Fail, session.ClassCommandFailed)
}

func FuzzGoTest(f *testing.F) {
	f.Add(`{"Action":"run","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"x","Test":"TestA"}`)
	f.Add("# x\na.go:1:2: undefined: Y\n" + `{"Action":"fail","Package":"x","FailedBuild":"x"}`)
	f.Fuzz(func(t *testing.T, in string) {
		r := parseGo(in)
		for id := range r.tests {
			if strings.ContainsAny(string(id), "\n\x1b\x00") && !strings.Contains(in, "Package") {
				t.Errorf("id %q", id)
			}
		}
		judgeAnything(r)
	})
}

func FuzzJUnit(f *testing.F) {
	f.Add(`<testsuites><testsuite name="s"><testcase classname="c" name="a"><failure message="m">x</failure></testcase></testsuite></testsuites>`)
	f.Add(`<?xml version="1.0"?><testsuite><testcase name="/top/a.js" classname="test"><error><![CDATA[x]]></error></testcase><!-- c -->`)
	f.Fuzz(func(t *testing.T, in string) {
		r := parseJUnit(in)
		for id := range r.tests {
			if strings.ContainsAny(string(id), "\n\x1b\x00") || len(id) > 3*maxTestName {
				t.Errorf("id %q", id)
			}
		}
		judgeAnything(r)
	})
}

// judgeAnything judges a report that may hold anything: there must be an answer.
func judgeAnything(r *report) {
	files := &lapFiles{now: func(string) []byte { return nil }}
	l := &lap{gate: "g", start: session.Tests{"c::a": session.TestPass, "x.TestA": session.TestPass}, known: map[session.TestID]bool{}, now: r, files: files}
	if judgeRed(l).class == "" || judgeGreen(l).class == "" {
		panic("no class")
	}
}

// Node takes the line breaks out of the attribute that says what failed; the text has them.
func TestJUnitLineBreaks(t *testing.T) {
	t.Parallel()
	p := &junitParser{r: newReport(), seen: map[session.TestID]int{}}
	p.parse(strings.NewReader(`<testsuites><testcase name="x" classname="test"><failure type="testCodeFailure" message="Expected values to be strictly equal:+ actual - expected+ undefined- 1209600000">
Error [ERR_TEST_FAILURE]: Expected values to be strictly equal:
+ actual - expected

+ undefined
- 1209600000

    at run (a.js:1)
</failure></testcase><testcase name="y" classname="test"><failure message="one line">another</failure></testcase></testsuites>`))
	got := p.r.messages["x"]
	if want := "Expected values to be strictly equal:\n+ actual - expected\n\n+ undefined\n- 1209600000\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
	const want = "Expected values to be strictly equal: + actual - expected + undefined - 1209600000"
	if first := (&Judge{}).firstError(got); first != want {
		t.Errorf("%q", first)
	}
	if got := p.r.messages["y"]; got != "one line\nanother" {
		t.Errorf("%q", got)
	}
}
