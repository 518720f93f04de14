package jsonc

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	text := []byte("\ufeff// mine\n{ \"a\": [1, -2.5e3, /* two */ true,], \"b\\u0063\" : {\"x\": \"y\\\"z\"}, } // end")
	v, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(v.Get("a").Elements); got != 3 || v.Get("bc").Get("x").Text() != `y"z` || v.Get("c") != nil {
		t.Errorf("%+v", v)
	}
	for _, bad := range []string{"", "{", "[1 2]", `{"a"}`, `{"a":}`, `{a: 1}`, `"open`, "/* open", "1 2", "{} x", "tru", "01", "\"\x01\"", `"\`} {
		if v, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, v)
		}
	}
	if _, err := Parse(bytes.Repeat([]byte("["), 1<<20)); err == nil {
		t.Error("a million brackets")
	}
}

// What is added is there, what is removed is gone, and nothing else has changed.
func TestAddRemove(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"{}", "{\n}", "{ }", `{"a": 1}`, `{"a": 1,}`, "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1, // one\n  // two\n  \"b\": 2\n}", "{\n\t\"a\": 1,\n}",
		"{ // nothing yet\n}", `{"a": 1 /* one */ }`, `[]`, `[1, 2]`, "[\n  1,\n  2,\n]",
	} {
		v, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		item := "7"
		if v.Kind == '{' {
			item = `"new": 7`
		}
		out := Add([]byte(in), &v, item, "  ", "")
		w, err := Parse(out)
		if err != nil || w.count() != v.count()+1 {
			t.Errorf("%q becomes %q: %v", in, out, err)
			continue
		}
		n := w.count() - 1
		if start, end := w.bounds(n); string(out[start:end]) != item {
			t.Errorf("%q becomes %q", in, out)
		}
		back := Remove(out, &w, n)
		if string(back) != in && v.count() > 0 {
			t.Errorf("%q becomes %q, and then %q", in, out, back)
		}
		if b, err := Parse(back); err != nil || b.count() != v.count() {
			t.Errorf("%q becomes %q, and then %q: %v", in, out, back, err)
		}
		for i := range v.count() { // any other can be removed as well
			rest := Remove(out, &w, i)
			if r, err := Parse(rest); err != nil || r.count() != v.count() {
				t.Errorf("%q without %d becomes %q: %v", out, i, rest, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a": [1, {"b": "c"}, ], /* x */ }`, "[\n  1,\n  2 // two\n]", `{}`, `[]`, `"x"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text)
		if err != nil {
			if json.Valid(text) && !bytes.Contains(text, []byte("[[[[[[[[[[")) && !bytes.Contains(text, []byte(`{"":{"":{`)) {
				t.Fatalf("%q is JSON: %v", text, err)
			}
			return
		}
		if v.Kind != '{' && v.Kind != '[' {
			return
		}
		item := "7"
		if v.Kind == '{' {
			item = `"new": 7`
		}
		out := Add(text, &v, item, "  ", "")
		w, err := Parse(out)
		if err != nil || w.count() != v.count()+1 {
			t.Fatalf("%q becomes %q: %v", text, out, err)
		}
		for i := range w.count() {
			rest := Remove(out, &w, i)
			r, err := Parse(rest)
			if err != nil || r.count() != v.count() {
				t.Fatalf("%q without %d becomes %q: %v", out, i, rest, err)
			}
			for j := range r.count() {
				from := j
				if j >= i {
					from++
				}
				if got, want := string(cut(rest, &r, j)), string(cut(out, &w, from)); got != want {
					t.Fatalf("%q without %d becomes %q", out, i, rest)
				}
			}
		}
	})
}

func cut(text []byte, v *Value, n int) []byte {
	start, end := v.bounds(n)
	return text[start:end]
}
