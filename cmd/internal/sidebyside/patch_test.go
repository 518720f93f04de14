package sidebyside

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestRows checks which lines stand beside each other, and which words are marked.
func TestRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, now, want string }{
		"a word": {"one\nthe quick fox\nlast\n", "one\nthe slow fox\nlast\n",
			"one | one\nthe [quick] fox | the [slow] fox\nlast | last\n"},
		"a line before a changed line": {"a := compute(x, y)\n", "log.Print(1)\na := compute(x, z)\n",
			" | log.Print(1)\na := compute(x, [y]) | a := compute(x, [z])\n"},
		"a line after a changed line": {"a := compute(x, y)\nb\n", "a := compute(x, z)\nreturn nothing\nb\n",
			"a := compute(x, [y]) | a := compute(x, [z])\n | return nothing\nb | b\n"},
		"nothing alike": {"alpha beta\n", "gamma delta\n", "alpha beta | gamma delta\n"},
		"spaces":        {"if x {\n", "\tif x {\n", "if x { | [\t]if x {\n"},
		"several words": {"call(one, two, three)\n", "call(one, 2, and, three)\n",
			"call(one, [two], three) | call(one, [2, and], three)\n"},
		"all words but ,": {"keep a b c d\n", "keep a x y d\n", "keep a [b c] d | keep a [x y] d\n"},
		"only deleted":    {"a\nb\n", "b\n", "a | \nb | b\n"},
		"letters":         {"größe = 日本\n", "größe = 日曜\n", "größe = [日本] | größe = [日曜]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, map[string]string{"f": c.old})
			d := r.diff(map[string]string{"f": c.now})
			if len(d.Files) != 1 || drawn(d.Files[0]) != c.want {
				t.Errorf("got\n%swant\n%s", drawn(d.Files[0]), c.want)
			}
		})
	}
}

// TestKindsOfChanges checks what is said of files that changed otherwise than in their lines.
func TestKindsOfChanges(t *testing.T) {
	t.Parallel()
	odd := "a \"q\"\n<b>\\ \u202e\x7f é.txt"
	r := newRepo(t, map[string]string{
		"gone": "x\n", "old name": "1\n2\n3\n4\n", "moved": "1\n2\n3\n5\n6\n7\n8\n", "run.sh": "#!/bin/sh\n",
		"binary": "\x00\x01", "was empty": "", "to link": "text\n", "swap": "file\n", "swop/file": "in a directory\n",
		odd: "1\n", "bad\xff\"name": "1\n",
		"a b/b": "1\n", "same": "s\n", "`tick`": "1\n", "'": "1\n",
	})
	r.Must(os.Symlink("one", r.Path("link")))
	submodule := func(commit string) { // of the newest commit
		r.Run("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(commit, 40)+",sub")
		r.Run("commit", "-q", "--amend", "--no-edit")
	}
	r.commit(nil)
	submodule("1")
	for _, f := range []string{"gone", "was empty", "to link", "swap", "link"} {
		r.Must(os.Remove(r.Path(f)))
	}
	r.Must(os.RemoveAll(r.Path("swop")))
	r.Must(os.Rename(r.Path("old name"), r.Path("new name")))
	r.Must(os.Rename(r.Path("moved"), r.Path("moved on")))
	r.Must(os.Chmod(r.Path("run.sh"), 0o755))
	r.Must(os.Symlink("elsewhere", r.Path("to link")))
	r.Must(os.Symlink("two", r.Path("link")))
	r.commit(map[string]string{
		"binary": "\x00\x02", "empty": "", "swap/inside": "i\n", "swop": "now a file\n", odd: "2\n",
		"bad\xff\"name": "2\n", "a b/b": "2\n", "moved on": "1\n2\n3\n5\n6\n7\nnine\n", "`tick`": "2\n", "'": "2\n",
	})
	submodule("2")
	d, err := Read(context.Background(), r.objects, "HEAD~", "HEAD", 3, "")
	r.Must(err)
	var got strings.Builder
	for _, f := range d.Files {
		fmt.Fprintf(&got, "%q %q %s +%d -%d %s\n", f.Path, f.From, f.What(), f.Added, f.Removed, f.Empty())
	}
	want := `"'" "" changed +1 -1 
"` + "`tick`" + `" "" changed +1 -1 
"a \"q\"\n<b>\\ \u202e\x7f é.txt" "" changed +1 -1 
"a b/b" "" changed +1 -1 
"bad\xff\"name" "" changed +1 -1 
"binary" "" changed, binary +0 -0 The content is binary, and not shown.
"empty" "" added +0 -0 The file is empty.
"gone" "" deleted +0 -1 
"link" "" changed, symbolic link +1 -1 
"moved on" "moved" renamed +1 -1 
"new name" "old name" renamed +0 -0 The content is the same.
"run.sh" "" changed, executable +0 -0 The content is the same.
"sub" "" changed, submodule +1 -1 
"swap" "" deleted +0 -1 
"swap/inside" "" added +1 -0 
"swop" "" added +1 -0 
"swop/file" "" deleted +0 -1 
"to link" "" deleted +0 -1 
"to link" "" added, symbolic link +1 -0 
"was empty" "" deleted +0 -0 The file is empty.
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
	page := regexp.MustCompile(` data-path="[^"]*"`).ReplaceAllString(r.html(d), "")
	for _, not := range []string{"<b>\\", "\u202e", "\x7f", "no newline"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	for _, want := range []string{
		"a &#34;q&#34;<span class=\"ctl\">\\n</span>&lt;b&gt;\\ <span class=\"ctl\">\\u202e</span>",
		"bad<span class=\"ctl\">\\xff</span>&#34;name", "moved → moved on", `id="F-~deleted/to~20link"`,
		`id="F-to~20link"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestText checks characters that a page must not show as they are.
func TestText(t *testing.T) {
	t.Parallel()
	wants := map[string]string{
		`<script>alert("1")</script>`: `&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;`,
		"a\tb":                        "a\tb",
		"crlf\r":                      `crlf<span class="ctl">\r</span>`,
		"\x1b[31m\x00":                "", // binary
		"\x1b[31m\x7f":                `<span class="ctl">\x1b</span>[31m<span class="ctl">\x7f</span>`,
		"user\u202etxt\u2066":         `user<span class="ctl">\u202e</span>txt<span class="ctl">\u2066</span>`,
		"\u200b\ufeff\u00ad": `<span class="ctl">\u200b</span><span class="ctl">\ufeff</span>` +
			`<span class="ctl">\u00ad</span>`,
		"\u3164 = \u00a0": `<span class="ctl">\u3164</span> = <span class="ctl">\u00a0</span>`,
		"\ufe01\U000e0101\U000e0041": `<span class="ctl">\ufe01</span><span class="ctl">\U000e0101</span>` +
			`<span class="ctl">\U000e0041</span>`,
		"bad \xff\xfe":                 `bad <span class="ctl">\xff</span><span class="ctl">\xfe</span>`,
		"é 日本 ✅ ❤️":                    "é 日本 ✅ ❤️",
		strings.Repeat("é", 1<<20):     strings.Repeat("é", 500) + `<span class="note">… 2096152 more bytes</span>`,
		"-" + strings.Repeat("é", 600): "-" + strings.Repeat("é", 499) + `<span class="note">… 202 more bytes</span>`,
	}
	files, texts := map[string]string{}, map[string]string{}
	for text := range wants {
		name := fmt.Sprint(len(texts))
		files[name], texts[name] = text+"\n", text
	}
	r := newRepo(t, nil)
	d := r.diff(files)
	page := r.html(d)
	for _, f := range d.Files {
		want := wants[texts[f.Path]]
		switch {
		case want == "":
			if !f.Binary || f.Added != 0 {
				t.Errorf("%q is not binary: %+v", texts[f.Path], f)
			}
		case string(f.Hunks[0].Rows[0].Right.HTML) != want || !strings.Contains(page, want+"</td>"):
			t.Errorf("%.40q: got %s, want %s", texts[f.Path], f.Hunks[0].Rows[0].Right.HTML, want)
		}
	}
	if len(d.Files) != len(wants) {
		t.Errorf("%d files", len(d.Files))
	}
}

// TestEnds checks files without a newline at their end, with CRLF, and with only empty lines.
func TestEnds(t *testing.T) {
	t.Parallel()
	const note = `<span class="note">no newline at the end</span>`
	r := newRepo(t, map[string]string{
		"same": "a\nend", "added": "a\nend", "removed": "end\n", "crlf": "a\r\n", "empty": "\n\n",
	})
	d := r.diff(map[string]string{
		"same": "b\nend", "added": "a\nend\n", "removed": "end", "crlf": "a\n", "empty": "\n\n\n",
	})
	got := map[string]string{}
	for _, f := range d.Files {
		for _, row := range f.Hunks[0].Rows {
			got[f.Path] += string(row.Left.HTML) + "|" + string(row.Right.HTML) + "\n"
		}
	}
	for path, want := range map[string]string{
		"same": "a|b\nend" + note + "|end" + note + "\n", "added": "a|a\nend" + note + "|end\n",
		"removed": "end|end" + note + "\n", "crlf": "a<mark><span class=\"ctl\">\\r</span></mark>|a\n",
		"empty": "|\n|\n|\n",
	} {
		if got[path] != want {
			t.Errorf("%s: got %q, want %q", path, got[path], want)
		}
	}
}

// TestSettings checks that no setting and no attribute changes a patch.
func TestSettings(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"é \"\xff\".go": "1\n\n3\n4\n5\n6\n7\n8\n9\n", "old": "1\n2\n3\n"})
	r.Must(os.Rename(r.Path("old"), r.Path("new")))
	want := r.diff(map[string]string{"é \"\xff\".go": "one\n\n3\n4\n5\n6\n7\n8\nnine\n", "sub/f": "1\n"})
	for _, set := range []string{
		"diff.noprefix true", "diff.mnemonicPrefix true", "diff.srcPrefix x/", "diff.external false",
		"core.quotePath false", "color.ui always", "color.diff always", "diff.interHunkContext 9", "diff.context 0",
		"diff.renames false", "diff.suppressBlankEmpty true", "diff.submodule log", "diff.relative true",
		"diff.orderFile none", "diff.go.textconv false", "diff.go.command false", "diff.go.binary true",
		"diff.algorithm patience", "diff.wordRegex .", "diff.colorMoved zebra", "diff.ignoreSubmodules all",
		"core.pager false", "diff.statNameWidth 3",
	} {
		key, value, _ := strings.Cut(set, " ")
		r.Run("config", key, value)
	}
	for _, attributes := range []string{"*.go diff=go\n", "* -diff\n", "* binary\n", "* -text\n"} {
		r.Must(os.WriteFile(r.Path(".gitattributes"), []byte(attributes), 0o600))
		got, err := Read(context.Background(), r.objects, "HEAD~", "HEAD", 3, want.Command)
		r.Must(err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with %q: got %+v, want %+v", attributes, got, want)
		}
	}
	if len(want.Files) != 3 || len(want.Files[2].Hunks) != 2 {
		t.Errorf("%+v", want)
	}
	if _, err := Read(context.Background(), r.objects, "HEAD~", "--output=x", 3, ""); err == nil {
		t.Error("an option is no commit")
	}
}

// TestLimits checks that a page stays small, and says what it leaves out.
func TestLimits(t *testing.T) {
	t.Parallel()
	lines := func(n int, text string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d\n", text, i)
		}
		return b.String()
	}
	files := map[string]string{
		"a.json": lines(100_000, "x"), "b.txt": "1\n", "c.min.js": strings.Repeat("x", 1<<20) + "\n",
	}
	r := newRepo(t, files)
	files["a.json"], files["b.txt"], files["c.min.js"] = lines(100_000, "y"), "2\n", strings.Repeat("y", 1<<20)+"\n"
	for i := range 600 {
		files[fmt.Sprintf("many/%03d", i)] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	}
	d := r.diff(files)
	page := r.html(d)
	if d.Added != 100_002+7200 || d.Removed != 100_002 || len(d.Files) != maxFiles || d.Omitted != 103 {
		t.Errorf("+%d -%d, %d files and %d more", d.Added, d.Removed, len(d.Files), d.Omitted)
	}
	if f := d.Files[0]; f.Added != 100_000 || f.Omitted != 200_000-2*maxFileLines {
		t.Errorf("+%d, %d left out", f.Added, f.Omitted)
	}
	for _, want := range []string{
		"603 files changed", "198000 more changed lines not shown here: <code>wfs diff @1 @2</code>",
		"103 more files not shown here: <code>wfs diff @1 @2</code>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if rows := strings.Count(page, "<tr data-path"); rows > maxLines || len(page) > 8<<20 {
		t.Errorf("%d rows, %d bytes", rows, len(page))
	}
}

// TestBothSidesEnd checks that no line is shown after lines that are left out on the other side.
func TestBothSidesEnd(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"f": strings.Repeat("old\n", maxFileLines+1) + "same\nlast\n"})
	d := r.diff(map[string]string{"f": "new\nsame\nlaster\nlast\n"})
	if f := d.Files[0]; len(f.Hunks[0].Rows) != maxFileLines || f.Omitted != 2 || f.Added != 2 {
		t.Errorf("%d rows, %d left out, +%d", len(f.Hunks[0].Rows), f.Omitted, f.Added)
	}
}

// TestAnchors checks what a page needs to link to lines, and to comment on them.
func TestAnchors(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"a b/é": "1\n2\n3\n"})
	page := r.html(r.diff(map[string]string{"a b/é": "1\nnew\n"}))
	for _, want := range []string{
		`<tr data-path="a b/é" data-side="right" data-line="1">` +
			`<th scope="row" class="same" id="L-a~20b/~c3~a9-left-1">` +
			`<a href="#L-a~20b/~c3~a9-left-1" tabindex="-1">1</a></th>`,
		`<tr data-path="a b/é" data-side="right" data-line="2">` +
			`<th scope="row" class="del" id="L-a~20b/~c3~a9-left-2">` +
			`<a href="#L-a~20b/~c3~a9-left-2">2</a></th><td class="del">2</td><th scope="row" class="add"`,
		`<tr data-path="a b/é" data-side="left" data-line="3">` +
			`<th scope="row" class="del" id="L-a~20b/~c3~a9-left-3">` +
			`<a href="#L-a~20b/~c3~a9-left-3" tabindex="-1">3</a></th>` +
			`<td class="del">3</td><td class="none"></td><td class="none"></td></tr>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestSyntax checks colours, also where changed words begin in the middle of a token.
func TestSyntax(t *testing.T) {
	t.Parallel()
	old := "func f() {\n\treturn \"a b\" // see 12\n}\n/* one\ntwo times 3 */\n"
	r := newRepo(t, map[string]string{"f.go": old, "f.unknown": old, "f.py": "", "f.js": ""})
	now := strings.NewReplacer("a b", "a c", "12", "13", "two", "three").Replace(old)
	d := r.diff(map[string]string{
		"f.go": now, "f.unknown": now, "f.py": "x = 1 # func\n", "f.js": "a /* b */ / \"c\" / d\n",
	})
	want := `<span class="key">func</span> f() {
` + "\t" + `<span class="key">return</span> <span class="str">&#34;a </span><mark>c</mark>` +
		`<span class="str">&#34;</span> <span class="com">// see </span><mark>13</mark>
}
<span class="com">/* one</span>
<mark>three</mark><span class="com"> times 3 */</span>
`
	got := map[string]string{}
	for _, f := range d.Files {
		for _, row := range f.Hunks[0].Rows {
			if row.Right.Kind != "" {
				got[f.Path] += string(row.Right.HTML) + "\n"
			}
		}
	}
	if got["f.go"] != want {
		t.Errorf("got\n%swant\n%s", got["f.go"], want)
	}
	if strings.Contains(got["f.unknown"], "class") {
		t.Error(got["f.unknown"])
	}
	if got["f.js"] != "a <span class=\"com\">/* b */</span> / <span class=\"str\">&#34;c&#34;</span> / d\n" {
		t.Error(got["f.js"])
	}
	if got["f.py"] != "x = <span class=\"num\">1</span> <span class=\"com\"># func</span>\n" {
		t.Error(got["f.py"])
	}
}

// TestHostileText checks that no text takes quadratic time: each would take minutes.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for text, path := range map[string]string{
		"`${": "f.js", "r#\"": "f.rs", "/[": "f.js", "\"\\\"": "f.go", "x'x": "f.rs",
		"/*": "f.go", "a b ": "f", "\u202e": "f", "\xff": "f",
	} {
		line := strings.Repeat(text, 900/len(text))
		d, err := parse(strings.NewReader("diff --git a/" + path + " b/" + path + "\n@@ -1,250 +1,250 @@\n" +
			strings.Repeat("-"+line+"\n", 250) + strings.Repeat("+"+line+"x\n", 250)))
		if err != nil || d.Added != 250 || len(d.Files[0].Hunks[0].Rows) != 250 {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
}

// TestOddPatches checks that a patch that git would not write is an error.
func TestOddPatches(t *testing.T) {
	t.Parallel()
	const head = "diff --git a/f b/f\n"
	for _, patch := range []string{
		"x\n", head + "@@ -1 +1\n", head + "@@ -1 +1 @@\n-a\n", head + "@@ -1 +1 @@\n-a\nb\n+c\n",
		head + "@@ x y z\n-a\n", "diff --git\n@@\n", head + "rename\n@@ - + @@\n",
	} {
		if d, err := parse(strings.NewReader(patch)); err == nil {
			t.Errorf("%q: %+v", patch, d)
		}
	}
}

// BenchmarkHTML reads and renders 2,000 changed lines.
func BenchmarkHTML(b *testing.B) {
	source, err := os.ReadFile("rows.go")
	if err != nil {
		b.Fatal(err)
	}
	old := strings.Join(strings.SplitAfter(strings.Repeat(string(source), 8), "\n")[:2000], "")
	files := map[string]string{"a.go": old[:len(old)/2], "b.go": old[len(old)/2:]}
	r := newRepo(b, files)
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "i", "ii")
	}
	r.commit(files)
	for b.Loop() {
		d, err := Read(context.Background(), r.objects, "HEAD~", "HEAD", 3, "")
		r.Must(err)
		r.html(d)
	}
}
