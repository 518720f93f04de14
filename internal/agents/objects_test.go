package agents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// found are the objects and the lines of noise in a stream, given in pieces of so many bytes.
func found(s string, piece int) (got, noise []string) {
	v := objects{
		object: func(b []byte) { got = append(got, string(b)) },
		noise:  func(b []byte) { noise = append(noise, string(b)) },
	}
	for p := range slices.Chunk([]byte(s), piece) {
		v.Write(p)
	}
	v.end()
	return got, noise
}

func TestObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, objects, noise string }{
		{`{"a":1}` + "\n" + `{"b":[1,{"c":"x"}]}` + "\n", `{"a":1} {"b":[1,{"c":"x"}]}`, ""},
		{"\ufeff{\"a\":1}\r\n{\"b\":2}\r\n", `{"a":1} {"b":2}`, ""},
		{`[{"a":1},{"b":2}]`, `{"a":1} {"b":2}`, ""},
		{"[\n  {\n    \"a\": 1,\n    \"b\": {\n      \"c\": [ ]\n    }\n  }\n]\n", `{"a":1,"b":{"c":[]}}`, ""},
		{`{"a":1}{"b":2}  {"c":3}`, `{"a":1} {"b":2} {"c":3}`, ""},
		{"npm warn x\n{\"a\":1}\n> tsc {\"no\":1}\n{\"b\":2}\nend", `{"a":1} {"b":2}`, "npm warn x|> tsc {\"no\":1}|end"},
		{"progress 1\rprogress 2\r{\"a\":1}\n", `{"a":1}`, "progress 1|progress 2"},
		{`{"a":"x` + "\n" + `{"b":2}` + "\n", `{"b":2}`, ""},               // torn in a string
		{`{"a":1,"b":` + "\n" + `{"b":2}` + "\n", `{"b":2}`, ""},           // torn before a value
		{`{"a":{"b":1},` + "\n" + `{"b":2}` + "\n", `{"b":2}`, ""},         // torn after a comma
		{`{"a":"x\` + "\n" + `{"b":2}` + "\n", `{"b":2}`, ""},              // torn in an escape
		{`{"a":"x","result":"it wor`, "", ""},                              // torn at the end
		{`{ not json }` + "\n" + `{"b":2}`, `{"b":2}`, "n"},                // looked like one
		{`{"a":1]` + "\n" + `{"b":2}`, `{"b":2}`, "]"},                     // closed wrongly
		{`{"a":"\u12x"}` + "\n" + `{"b":2}`, `{"b":2}`, `{"a":"\u12x"}`},   //
		{"{\"a\":\"\\\"{}[]\\\\\"}\n", `{"a":"\"{}[]\\"}`, ""},             // quotes and brackets in a string
		{"\x00\xff\xfe{\n{\"a\":1}\n", `{"a":1}`, "\x00\xff\xfe{"},         // binary
		{"{}\n[]\n{\"a\":[[],{}]}\n", `{} {"a":[[],{}]}`, ""},              // empty
		{`{"a":` + strings.Repeat("9", maxScalar+1) + "}\n{}", `{}`, "9}"}, // no number
	} {
		for _, piece := range []int{1, 2, 3, 7, 4096} {
			objects, noise := found(c.in, piece)
			if c.in == `{ not json }`+"\n"+`{"b":2}` {
				c.noise = noise[0]
			}
			if got := strings.Join(objects, " "); got != c.objects || strings.Join(noise, "|") != c.noise {
				t.Errorf("%.80q in pieces of %d: %q and %q, want %q and %q", c.in, piece, got, noise, c.objects, c.noise)
			}
		}
	}
}

// TestObjectsAreBounded gives objects that are too long in every way. What follows the long part is found.
func TestObjectsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*maxObject)
	list := strings.Repeat(`{"k":[1,2,"three"]},`, maxObject/10) + "4"
	many := &strings.Builder{}
	for i := range maxObject / 4 {
		fmt.Fprintf(many, `"k%d":1,`, i)
	}
	for name, in := range map[string]string{
		"string":        `{"type":"result","x":"` + long + `","is_error":true}`,
		"escapes":       `{"type":"result","x":"` + strings.Repeat(`\u00e4\n`, maxObject/2) + `","is_error":true}`,
		"quotes":        `{"type":"result","x":"` + strings.Repeat(`\"}`, maxObject) + `","is_error":true}`,
		"key":           `{"type":"result","` + long + `":1,"is_error":true}`,
		"nested string": `{"type":"result","x":{"y":["` + long + `"]},"is_error":true}`,
		"array":         `{"type":"result","x":[` + list + `],"is_error":true}`,
		"nested":        `{"type":"result","x":{"y":[{"z":[` + list + `]},1],"w":"]}\""},"is_error":true}`,
		"depth":         `{"type":"result","x":` + strings.Repeat(`[{"a":`, maxMember) + "1" + strings.Repeat("}]", maxMember) + `,"is_error":true}`,
		"pretty":        "{\n \"type\": \"result\",\n \"x\": [\n " + list + "\n ],\n \"is_error\": true\n}",
	} {
		objects, noise := found(in+"\n{\"type\":\"next\"}\n", 1<<16)
		if len(objects) != 2 || len(noise) != 0 || objects[1] != `{"type":"next"}` {
			t.Errorf("%s: %d objects, noise %.60q", name, len(objects), noise)
			continue
		}
		if len(objects[0]) > maxObject+maxMember+2*maxString {
			t.Errorf("%s: %d bytes are kept", name, len(objects[0]))
		}
		var e struct {
			Type    string `json:"type"`
			IsError bool   `json:"is_error"`
		}
		if err := json.Unmarshal([]byte(objects[0]), &e); err != nil || e.Type != "result" || !e.IsError {
			t.Errorf("%s: %v, %+v, %.200s", name, err, e, objects[0])
		}
	}
	objects, _ := found(`{"type":"result",`+many.String()+`"is_error":true}{"type":"next"}`, 1<<16)
	if len(objects) != 2 || !json.Valid([]byte(objects[0])) || len(objects[0]) > maxObject+maxString {
		t.Errorf("many members: %d objects", len(objects))
	}
}

// TestObjectsAreTheStreams compares with the decoder of the standard library, on drawn objects.
func TestObjectsAreTheStreams(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var stream strings.Builder
		var want []string
		for range 1 + r.IntN(4) {
			v := map[string]any{"k": draw(r, 4), "\"\\{": draw(r, 3)}
			compact, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(compact))
			if r.IntN(2) == 0 {
				compact, _ = json.MarshalIndent(v, "", "  ")
			}
			stream.Write(compact)
			stream.WriteString([]string{"\n", "\r\n", " "}[r.IntN(3)])
		}
		got, noise := found(stream.String(), 1+r.IntN(30))
		if !slices.Equal(got, want) || len(noise) > 0 {
			t.Fatalf("%q: %q, noise %q", stream.String(), got, noise)
		}
	}
}

func draw(r *rand.Rand, depth int) any {
	if depth == 0 {
		return r.IntN(100)
	}
	switch r.IntN(6) {
	case 0:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, draw(r, depth-1))
		}
		return list
	case 1:
		m := map[string]any{}
		for i := range r.IntN(4) {
			m[fmt.Sprint("ä", i)] = draw(r, depth-1)
		}
		return m
	case 2:
		return []any{true, nil, -1.5e3, 0}[r.IntN(4)]
	}
	return string([]rune{'"', '\\', 'é', '\n', '{', ']', 0x1F600, '\u2028'}[r.IntN(8)]) + "x"
}
