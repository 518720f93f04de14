// Package sidebyside shows a patch of git as HTML: for each file a table with the old lines beside the new ones,
// changed words marked, and colours for the syntax of known languages. It trusts nothing in the patch: text is escaped,
// and characters that are invisible or change the order of others are written as in source code.
package sidebyside

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/gitstate/object"
)

// Limits of what is shown, so that a page stays small. What is beyond them is counted only.
const (
	maxFiles     = 500
	maxFileLines = 1000      // lines of one side of a file, with unchanged lines around changes
	maxLines     = 4000      // lines of one side of all files
	maxText      = 512 << 10 // bytes of one side of all files
	maxLine      = 1000      // bytes of one line
)

// maxHeader limits a line outside hunks, in bytes: two paths of 4 KiB, with each byte quoted.
const maxHeader = 64 << 10

// Diff is the difference between two commits.
type Diff struct {
	Files          []File
	Omitted        int    // number of further files
	Added, Removed int    // lines in all files that are not binary, also in those that are not shown
	Command        string // prints the whole difference
}

// File is a changed file.
type File struct {
	Path, From       string // From is the old path of a renamed file, else ""
	Status           string // added, deleted, renamed or changed
	OldMode, NewMode string // as in git, "" if the file is not in that commit
	Binary           bool   // its changes have a NUL byte, or are too large for git
	Added, Removed   int    // lines
	Hunks            []Hunk
	Omitted          int // changed lines that are not in Hunks
}

// Hunk is a part of a file with changes, and the lines around them.
type Hunk struct {
	Head string // as git prints it: "@@ -1,3 +1,4 @@ func main() {"
	Rows []Row
}

// Row has a line of the old file, and the line of the new file beside it.
type Row struct{ Left, Right Line }

// Line is one side of a row. Its zero value means that this side has no line here.
type Line struct {
	Kind   string // same, del or add
	Side   string // left or right
	Number int    // from 1
	HTML   template.HTML
	text   string // at most maxLine bytes
	cut    int    // number of bytes after text that are not shown
	open   bool   // the file ends here, without a newline
	marks  []span // changed words
}

// Patches writes the difference between two commits or trees as object.History does.
type Patches interface {
	Patch(ctx context.Context, from, to string, around int, w io.Writer) error
}

// Read compares two commits or trees. `around` is the number of unchanged lines around each change; `command` is what
// a person can type to see the whole difference.
func Read(ctx context.Context, patches Patches, from, to string, around int, command string) (*Diff, error) {
	in, out := io.Pipe()
	go func() { out.CloseWithError(patches.Patch(ctx, from, to, around, out)) }()
	defer in.Close()
	d, err := parse(in)
	d.Command = command
	return d, err
}

type parser struct {
	in          *bufio.Reader
	err         error
	d           *Diff
	f           *File
	left, right stored

	line []byte // the line that was read last
	cut  int    // number of its bytes that are not in line
	nul  bool   // whether it has a NUL byte
}

// stored counts the lines of one side.
type stored struct {
	lines, bytes         int // in the files before
	fileLines, fileBytes int // in the current file
	full                 bool
}

// parse reads the output of Store.Patch.
func parse(in io.Reader) (*Diff, error) {
	p := parser{in: bufio.NewReaderSize(in, 1<<16), d: &Diff{}}
	for p.next(maxHeader) {
		key, value, _ := strings.Cut(string(p.line), " ")
		switch {
		case key == "diff":
			p.begin(strings.TrimPrefix(value, "--git "))
		case p.f == nil:
			return p.d, p.unexpected()
		case key == "@@":
			p.hunk(string(p.line))
		default:
			p.header(key, value)
		}
	}
	p.end()
	return p.d, p.err
}

func (p *parser) unexpected() error {
	return fmt.Errorf("git diff-tree: unexpected line %.100q", p.line)
}

// next reads a line, and keeps at most `most` bytes of it. It returns false at the end and after an error.
func (p *parser) next(most int) bool {
	p.line, p.cut, p.nul = p.line[:0], 0, false
	for p.err == nil {
		part, err := p.in.ReadSlice('\n')
		if err == io.EOF && len(part)+len(p.line) == 0 {
			return false
		}
		part = bytes.TrimSuffix(part, []byte("\n"))
		keep := min(len(part), most-len(p.line))
		p.line, p.cut = append(p.line, part[:keep]...), p.cut+len(part)-keep
		p.nul = p.nul || bytes.IndexByte(part, 0) >= 0
		if err == nil || err == io.EOF {
			return true
		}
		if err != bufio.ErrBufferFull {
			p.err = err
		}
	}
	return false
}

// begin starts a file. `names` are its two paths; if they differ, git repeats them in lines that are not ambiguous.
func (p *parser) begin(names string) {
	p.end()
	p.f = &File{Status: "changed", Path: strings.TrimPrefix(unquote(names[:len(names)/2]), "a/")}
}

// end completes the file.
func (p *parser) end() {
	f := p.f
	if f == nil {
		return
	}
	if f.Binary {
		f.Hunks, f.Added, f.Removed, f.Omitted = nil, 0, 0, 0
	}
	for _, s := range []*stored{&p.left, &p.right} {
		if !f.Binary {
			s.lines, s.bytes = s.lines+s.fileLines, s.bytes+s.fileBytes
		}
		s.fileLines, s.fileBytes, s.full = 0, 0, len(p.d.Files)+1 >= maxFiles
	}
	p.d.Added, p.d.Removed, p.f = p.d.Added+f.Added, p.d.Removed+f.Removed, nil
	if len(p.d.Files) == maxFiles {
		p.d.Omitted++
		return
	}
	p.d.Files = append(p.d.Files, *f)
}

func (p *parser) header(key, value string) {
	rest := value[strings.LastIndexByte(value, ' ')+1:]
	switch {
	case key == "new":
		p.f.NewMode = rest
		if strings.HasPrefix(value, "file ") {
			p.f.Status = "added"
		}
	case key == "old":
		p.f.OldMode = rest
	case key == "deleted":
		p.f.Status, p.f.OldMode = "deleted", rest
	case key == "index" && rest != value: // the mode is here only if it is the same in both commits
		p.f.OldMode, p.f.NewMode = rest, rest
	case key == "rename" && strings.HasPrefix(value, "from "):
		p.f.Status, p.f.From = "renamed", unquote(value[len("from "):])
	case key == "rename":
		p.f.Path = unquote(strings.TrimPrefix(value, "to "))
	case key == "Binary":
		p.f.Binary = true
	}
}

// hunk reads a hunk. Its head says how many lines follow, so no line of a file is taken for a header.
func (p *parser) hunk(head string) {
	ranges := strings.Fields(head)
	if len(ranges) < 4 {
		p.err = p.unexpected()
		return
	}
	left, lefts := lineRange(ranges[1])
	right, rights := lineRange(ranges[2])
	var rows []Row
	var dels, adds []Line
	var last *Line // nil if it is not stored
	for lefts > 0 || rights > 0 || p.atNote() {
		if !p.next(1 + maxLine) {
			p.err = cmp.Or(p.err, errors.New("git diff-tree: the output ends early"))
			return
		}
		sign, line := byte(' '), Line{cut: p.cut} // with diff.suppressBlankEmpty, an empty line has no sign
		if len(p.line) > 0 {
			sign, line.text = p.line[0], wholeCharacters(string(p.line[1:]), &line.cut)
		}
		if sign == '\\' {
			if last != nil && p.f.mode() != object.ModeLink {
				last.open = true
				if last.Kind == "same" {
					rows[len(rows)-1].Left.open = true
				}
			}
			continue
		}
		p.f.Binary = p.f.Binary || p.nul
		last = nil
		switch sign {
		case '-':
			line.Kind, line.Side, line.Number = "del", "left", left
			left, lefts, p.f.Removed = left+1, lefts-1, p.f.Removed+1
			last = p.add(&dels, line, &p.left)
		case '+':
			line.Kind, line.Side, line.Number = "add", "right", right
			right, rights, p.f.Added = right+1, rights-1, p.f.Added+1
			last = p.add(&adds, line, &p.right)
		case ' ':
			rows, dels, adds = append(rows, beside(dels, adds)...), nil, nil
			line.Kind = "same"
			row := Row{line, line}
			row.Left.Side, row.Left.Number, row.Right.Side, row.Right.Number = "left", left, "right", right
			left, lefts, right, rights = left+1, lefts-1, right+1, rights-1
			if p.left.store(len(line.text)) && p.right.store(len(line.text)) {
				rows = append(rows, row)
				last = &rows[len(rows)-1].Right
			} else {
				p.left.full, p.right.full = true, true
			}
		default:
			p.err = p.unexpected()
			return
		}
	}
	rows = append(rows, beside(dels, adds)...)
	if len(rows) > 0 && !p.f.Binary {
		render(p.f.Path, rows)
		p.f.Hunks = append(p.f.Hunks, Hunk{head, rows})
	}
	full := p.left.full || p.right.full // the sides end at the same place
	p.left.full, p.right.full = full, full
}

// add appends a changed line, and returns it, if it may be stored.
func (p *parser) add(list *[]Line, line Line, s *stored) *Line {
	if !s.store(len(line.text)) {
		p.f.Omitted++
		return nil
	}
	*list = append(*list, line)
	return &(*list)[len(*list)-1]
}

// store reports whether one more line of so many bytes may be stored, and counts it.
func (s *stored) store(size int) bool {
	s.full = s.full || s.fileLines >= maxFileLines || s.lines+s.fileLines >= maxLines ||
		s.bytes+s.fileBytes+size > maxText
	if !s.full {
		s.fileLines, s.fileBytes = s.fileLines+1, s.fileBytes+size
	}
	return !s.full
}

// atNote reports whether the next line says that no newline follows the line before.
func (p *parser) atNote() bool {
	next, _ := p.in.Peek(1)
	return len(next) > 0 && next[0] == '\\'
}

// lineRange parses the first line and the number of lines in a head, such as "-3,4" or "+3", which means one line.
func lineRange(s string) (first, count int) {
	from, n, many := strings.Cut(s[1:], ",")
	first, _ = strconv.Atoi(from)
	if count = 1; many {
		count, _ = strconv.Atoi(n)
	}
	return first, count
}

// unquote returns the path that git printed. Git quotes paths with control characters, quotes or backslashes as C does.
func unquote(s string) string {
	if path, err := strconv.Unquote(s); err == nil && s[0] == '"' {
		return path
	}
	return s
}

// wholeCharacters removes the first bytes of a character from the end of a line that was cut.
func wholeCharacters(text string, cut *int) string {
	for i := len(text) - 1; *cut > 0 && i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) && !utf8.FullRuneInString(text[i:]) {
			*cut += len(text) - i
			return text[:i]
		}
	}
	return text
}
