package svg

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// hostile is text that would break out of SVG, of HTML or of a terminal, or that XML does not allow.
const hostile = "a</title><script>alert(1)</script>\"'&\x1b[31m\x00\uffff\u202e\xff b"

var nan, inf = math.NaN(), math.Inf(1)

// element is an element of a drawing with its own text.
type element struct {
	name, parent, text string
	attributes         map[string]string
}

// elements parses a drawing and checks what holds for all of them: it is valid XML, an image with a text alternative,
// nothing in it can run, load or style anything, its texts are inside the picture, and its numbers are numbers.
func elements(t *testing.T, drawing template.HTML) []*element {
	t.Helper()
	var list, open []*element
	var size [2]float64
	for d := xml.NewDecoder(strings.NewReader(string(drawing))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, drawing)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attributes: map[string]string{}}
			if len(open) > 0 {
				e.parent = open[len(open)-1].name
			}
			for _, a := range x.Attr {
				e.attributes[a.Name.Local] = a.Value
				if slices.ContainsFunc([]string{"NaN", "Inf", "%!"}, func(s string) bool { return strings.Contains(a.Value, s) }) {
					t.Errorf("%s of %s is %q", a.Name.Local, e.name, a.Value)
				}
				if n := a.Name.Local; n == "id" || n == "style" || n == "href" || strings.HasPrefix(n, "on") {
					t.Errorf("a drawing has the attribute %s", n)
				}
			}
			if e.name == "svg" {
				fmt.Sscanf(e.attributes["viewBox"], "0 0 %f %f", &size[0], &size[1])
			}
			if e.name == "text" {
				for i, n := range []string{"x", "y"} {
					if v, err := strconv.ParseFloat(e.attributes[n], 64); err != nil || v < 0 || v > size[i] {
						t.Errorf("a text at %s=%s is outside of %v", n, e.attributes[n], size)
					}
				}
			}
			list, open = append(list, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 0 {
				continue
			}
			e := open[len(open)-1]
			e.text += string(x)
			if at, err := strconv.ParseFloat(e.attributes["x"], 64); err == nil && e.attributes["transform"] == "" {
				w := wide(e.text) * 11 / 12
				left := at - map[string]float64{"start": 0, "middle": w / 2, "end": w}[e.attributes["text-anchor"]]
				if left < -1 || left+w > size[0]+1 {
					t.Errorf("%q is cut off: from %v to %v of %v", e.text, left, left+w, size[0])
				}
			}
		}
	}
	for _, e := range list {
		if !slices.Contains([]string{"svg", "g", "title", "desc", "text", "path", "rect", "circle"}, e.name) {
			t.Errorf("a drawing has the element %s", e.name)
		}
	}
	if list[0].attributes["role"] != "img" || size[0] < width || size[1] == 0 {
		t.Errorf("not an image: %v", list[0].attributes)
	}
	if list[1].name != "title" || list[2].name != "desc" || list[2].text == "" {
		t.Errorf("no text alternative: %.300s", drawing)
	}
	for _, bad := range []string{"\x1b", "\u202e", "[31m"} {
		if strings.Contains(string(drawing), bad) {
			t.Errorf("%q got through", bad)
		}
	}
	return list
}

// texts returns the texts of the elements of a name.
func texts(list []*element, name string) (out []string) {
	for _, e := range list {
		if e.name == name {
			out = append(out, e.text)
		}
	}
	return out
}

func count(list []*element, name, class string) (n int) {
	for _, e := range list {
		if e.name == name && slices.Contains(strings.Fields(e.attributes["class"]), class) {
			n++
		}
	}
	return n
}

func TestPlots(t *testing.T) {
	labels := []string{"@0", "@1", "@2", "@3"}
	for _, c := range []struct {
		name        string
		plot        Plot
		lines, bars string // the alternative, or a part of it
	}{
		{"course", Plot{Unit: "tests", Labels: labels, Series: []Series{{"passed", []float64{41, 40, nan, 44}}}},
			"passed: from 41 tests at @0 to 44 tests at @3, lowest 40 tests at @1, " +
				"highest 44 tests at @3; 1 of 4 values are missing.",
			"125 tests together. The largest of 4: @3 with 44 tests."},
		{"money", Plot{Unit: Dollars, Labels: labels[:2],
			Series: []Series{{"a", []float64{.06, .5}}, {"b", []float64{.004}}}},
			"b: $0.004 at @0; 1 of 2 values are missing.", "$0.56 together, a $0.56 (99%), b $0.004 (1%)."},
		{"one", Plot{Unit: Seconds, Labels: labels[:1], Series: []Series{{"agent", []float64{130}}}},
			"agent: 2 min 10 s at @0.", "2 min 10 s together."},
		{"equal", Plot{Labels: labels, Series: []Series{{"x", []float64{7, 7, 7, 7}}}},
			"always 7, from @0 to @3", "28 together"},
		{"zero", Plot{Labels: labels, Series: []Series{{"x", []float64{0, 0, 0, 0}}}}, "always 0", "nothing to draw"},
		{"long labels", Plot{Labels: slices.Repeat([]string{strings.Repeat("W", 99)}, 3),
			Series: []Series{{"x", []float64{1, 2, 3}}}},
			"from 1 at W", "6 together"},
		{"empty", Plot{}, "nothing to draw", "nothing to draw"},
		{"no series", Plot{Labels: labels}, "nothing to draw", "nothing to draw"},
		{"no numbers", Plot{Labels: labels, Series: []Series{{"x", []float64{nan, inf, -inf, 1e300}}}},
			"nothing to draw", "nothing to draw"},
		{"negative", Plot{Labels: labels, Series: []Series{{"x", []float64{-3, -1e15, 2, 1e15}}}},
			"lowest -1000T", "1000T together"},
		{"hostile", Plot{Title: hostile, Unit: hostile, X: hostile, Labels: []string{hostile, ""},
			Series: []Series{{hostile, []float64{1, 2}}, {hostile, []float64{2, 2}}}}, "script", "script"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for draw, want := range map[string]string{"lines": c.lines, "bars": c.bars} {
				drawing := Lines(c.plot)
				if draw == "bars" {
					drawing = Bars(c.plot)
				}
				if got := texts(elements(t, drawing), "desc")[0]; !strings.Contains(got, want) {
					t.Errorf("%s: %s\nwant %s", draw, got, want)
				}
			}
		})
	}
}

// A gap divides a line, and a value between two gaps has a marker although the markers of its neighbours are left out.
func TestGapsAndManyPoints(t *testing.T) {
	var p Plot
	for i := range 1000 {
		p.Labels = append(p.Labels, fmt.Sprint("@", i))
	}
	series := len(colours) + 2 // the styles begin again
	for n := range series {
		values := make([]float64, 1000)
		for i := range values {
			values[i] = rand.Float64() * 1e6
		}
		values[500], values[502] = nan, inf
		p.Series = append(p.Series, Series{fmt.Sprint("s", n), values})
	}
	drawing := Lines(p)
	list := elements(t, drawing)
	if len(drawing) > 150_000 {
		t.Errorf("%d bytes", len(drawing))
	}
	if n := count(list, "path", "line"); n != series {
		t.Errorf("%d lines", n)
	}
	if got := texts(list, "desc")[0]; !strings.Contains(got, " s5: from ") {
		t.Error(got)
	}
	for _, e := range list {
		if e.attributes["class"] == "line" && strings.Count(e.attributes["d"], "M") != 3 {
			t.Errorf("a line with %d parts", strings.Count(e.attributes["d"], "M"))
		}
	}
	if !slices.ContainsFunc(texts(list, "title"), func(s string) bool { return strings.HasPrefix(s, "s0, @501: ") }) {
		t.Error("no marker between two gaps")
	}
	if n := len(texts(list, "text")); n > 30 {
		t.Errorf("%d texts", n)
	}

	list = elements(t, Bars(p))
	if n := count(list, "g", "bar"); n != 40 {
		t.Errorf("%d bars", n)
	}
	all := texts(list, "text")
	if !slices.Contains(all, "s5") || !slices.Contains(all, "961 others") {
		t.Error(all)
	}

	ones := slices.Repeat([]float64{1}, 1000)
	p.Series = slices.Repeat([]Series{{"x", ones}}, series)
	if got := texts(elements(t, Bars(p)), "desc")[0]; !strings.HasPrefix(got, "6k together, x 1k (17%)") ||
		!strings.HasSuffix(got, "x 1k (17%). The largest of 40: 961 others with 5.77k.") {
		t.Error(got)
	}
}

// Each bar tells its whole and its parts, those that are not zero.
func TestParts(t *testing.T) {
	p := Plot{Unit: Seconds, Labels: []string{"RED", "GREEN"},
		Series: []Series{{"agent", []float64{130, 60}}, {"gates", []float64{0, 5}}}}
	want := []string{"", "RED: 2 min 10 s", "RED, agent: 2 min 10 s", "GREEN: 1 min 5 s", "GREEN, agent: 1 min",
		"GREEN, gates: 5 s"}
	if got := texts(elements(t, Bars(p)), "title"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestLegendOnlyForSeveral(t *testing.T) {
	p := Plot{Labels: []string{"a"}, Series: []Series{{"agent", []float64{1}}}}
	one := texts(elements(t, Bars(p)), "text")
	p.Series = append(p.Series, Series{"a gate with quite a long name, which is more than fits", []float64{1}})
	list := elements(t, Bars(p))
	two := texts(list, "text")
	if slices.Contains(one, "agent") || !slices.Contains(two, "agent") {
		t.Error(one, two)
	}
	if !slices.Contains(two, "a gate with quite a long nam…") ||
		!slices.Contains(texts(list, "title"), p.Series[1].Name) {
		t.Error("a long name is not shortened, or its whole is lost", two)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		unit      Unit
		low, high float64
		want      string
	}{
		{"tests", 0, 44, "0, 20, 40, 60"},
		{"tests", 41, 44, "41, 42, 43, 44"},
		{"tests", 41, 41, "40, 41, 42"},
		{"tests", 0, 0, "0, 1"},
		{"tests", 900, 4200, "0, 2k, 4k, 6k"},
		{"tests", 10_200, 10_230, "10.2k, 10.21k, 10.22k, 10.23k"},
		{"tests", -3, 5, "-4, -2, 0, 2, 4, 6"},
		{Seconds, 0, 41, "0 s, 15 s, 30 s, 45 s"},
		{Seconds, 0, 1.3, "0 s, 0.5 s, 1 s, 1.5 s"},
		{Seconds, 0, 220, "0 s, 1 min, 2 min, 3 min, 4 min"},
		{Seconds, 0, 100_000, "0 s, 12 h, 1 d, 1 d 12 h"},
		{Seconds, 7200, 7203, "2 h, 2 h 1 s, 2 h 2 s, 2 h 3 s"},
		{Dollars, 0, .36, "$0.00, $0.10, $0.20, $0.30, $0.40"},
		{Dollars, 0, .003, "$0.00, $0.001, $0.002, $0.003"},
		{Dollars, 0, 1800, "$0, $500, $1k, $1.5k, $2k"},
	} {
		s := c.unit.axis(c.low, c.high)
		var got []string
		for _, v := range s.ticks() {
			got = append(got, s.text(v))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v…%v %s: %v\nwant %s", c.low, c.high, c.unit, got, c.want)
		}
	}
}

// Whatever the values are, all are on the axis, there are some ticks but not many, and no two look the same.
func TestAxes(t *testing.T) {
	for i := range 20_000 {
		unit := []Unit{"tests", Seconds, Dollars}[i%3]
		low := (rand.Float64() - 0.3) * math.Pow(10, rand.Float64()*19-4)
		high := low + math.Abs(low)*math.Pow(10, rand.Float64()*8-4)
		s := unit.axis(low, high)
		var list []string
		for _, v := range s.ticks() {
			list = append(list, s.text(v))
		}
		if n := len(list); n < 2 || n > 8 || s.at(low) < -1e-6 || s.at(high) > 1+1e-6 || len(slices.Compact(list)) < n {
			t.Fatalf("%v…%v %s: %v, %v", low, high, unit, s, list)
		}
	}
}

func builtin(t *testing.T, name string) *workflows.Workflow {
	text, _ := workflows.BuiltinText(name)
	w, findings := workflows.ParseWorkflow(name+".yaml", text)
	if w == nil {
		t.Fatal(findings)
	}
	return w
}

func TestWorkflows(t *testing.T) {
	for _, c := range []struct{ name, here, order, sentence string }{
		{"tdd", "GREEN", "RED GREEN REFACTOR done",
			"3 phases: RED (agent), fail: RED, pass: GREEN; GREEN (agent), fail: GREEN, pass: REFACTOR; " +
				"REFACTOR (agent), fail: REFACTOR, next lap: RED, nothing left: done. The session is at GREEN."},
		{"plan", "REVIEW", "PLAN BREAKDOWN IMPLEMENT REVIEW done", "REVIEW (a person), fail: IMPLEMENT, pass: done."},
		{"reviewed", "done", "PLAN IMPLEMENT REVIEW done", "The session is at done."},
		{"tdd-docs", "", "RED GREEN REFACTOR DOCUMENT QA done", "nothing left: DOCUMENT"},
		{"loop", "WORK", "WORK done", "next lap: WORK, nothing left: done"},
		{"nine-step", "FIX",
			"INIT REQUIREMENTS ARCHITECTURE IMPLEMENTATION TESTING REVIEW FIX OPTIMISATION RELEASE " +
				"SYNTHESIS done",
			"FIX (agent), fail: FIX, pass: REVIEW"},
	} {
		w := builtin(t, c.name)
		list := elements(t, Workflow(w, session.PhaseName(c.here)))
		var order []string
		for _, e := range list {
			if e.name == "text" && e.attributes["font-weight"] == "600" && e.text != "◀ here" {
				order = append(order, e.text)
			}
		}
		if got := strings.Join(order, " "); got != c.order {
			t.Errorf("%s: %s", c.name, got)
		}
		if got := texts(list, "desc")[0]; !strings.Contains(got, c.sentence) {
			t.Errorf("%s: %s", c.name, got)
		}
		marked, want := count(list, "g", "here"), min(1, len(c.here))
		if said := slices.Contains(texts(list, "text"), "◀ here"); marked != want || said != (want == 1) {
			t.Errorf("%s: marked %d times as the session's place", c.name, marked)
		}
		if n := count(list, "g", "phase"); n != len(w.Phases) {
			t.Errorf("%s: %d phases", c.name, n)
		}
		if human := c.name == "plan"; count(list, "g", "human") > 0 != human {
			t.Errorf("%s: phases of a person are not marked, or others are", c.name)
		}
	}
}

// generated returns a workflow whose verdicts lead anywhere.
func generated(phases int) *workflows.Workflow {
	w := &workflows.Workflow{Name: hostile, Start: "p0", Laps: &workflows.Laps{First: "p1"}}
	for i := range phases {
		to := func() session.PhaseName {
			if n := rand.IntN(phases + 2); n < phases {
				return session.PhaseName(fmt.Sprint("p", n))
			} else if n == phases {
				return workflows.NextLap
			}
			return workflows.Done
		}
		w.Phases = append(w.Phases, workflows.Phase{Name: session.PhaseName(fmt.Sprint("p", i)),
			Run: workflows.Run{Name: hostile},
			On:  map[workflows.Verdict]session.PhaseName{"pass": to(), "fail": to(), hostile: to()}})
	}
	return w
}

// Arrows in one lane do not meet, unless they lead to the same phase; and each arrow has a lane or goes straight.
func TestLanes(t *testing.T) {
	for i := range 300 {
		w := generated(1 + i%12)
		elements(t, Workflow(w, "p0"))
		g := &graph{rows: rowsOf(w)}
		g.connect(w)
		n := g.lanes()
		for k, a := range g.arrows {
			if (a.lane > 0) != (a.side != 0) || a.lane > n[a.side] {
				t.Fatalf("%v has none of %v lanes", a, n)
			}
			if a.side == 0 && a.to < a.from {
				t.Fatalf("%v has no lane", a)
			}
			for _, b := range g.arrows[:k] {
				if a.lane > 0 && a.lane == b.lane && a.side == b.side && a.to != b.to &&
					min(a.from, a.to) <= max(b.from, b.to) && min(b.from, b.to) <= max(a.from, a.to) {
					t.Fatalf("%v meets %v", a, b)
				}
			}
		}
	}
	for _, w := range []*workflows.Workflow{{}, {Start: "nowhere", Phases: []workflows.Phase{{Name: "a"}}}} {
		if got := texts(elements(t, Workflow(w, "")), "text"); !slices.Equal(got, []string{"The workflow has no phases."}) {
			t.Error(got)
		}
	}
}
