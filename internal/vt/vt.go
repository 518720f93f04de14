// Package vt is a terminal for tests. It interprets the output of a program, and returns the text that a user would
// see.
package vt

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Screen is a terminal screen that understands the sequences that wfs writes: characters of one column, line breaks,
// moving the cursor up and to a position, erasing to the end of the line and of the screen, the alternate screen,
// colours and private modes. It ignores colours and other private modes. It shows any other sequence as text in
// brackets, so that a test notices it. It keeps the lines that scroll off at the top.
type Screen struct {
	mu            sync.Mutex
	columns, rows int
	above         []string
	lines         [][]rune
	x, y          int
	rest          []byte // beginning of a sequence or character that is incomplete
	normal        *saved // the normal screen while the alternate one is shown
}

// saved is the state of a screen that comes back.
type saved struct {
	above []string
	lines [][]rune
	x, y  int
}

// New returns an empty screen.
func New(columns, rows int) *Screen {
	s := &Screen{columns: columns, rows: rows}
	s.lines = make([][]rune, rows)
	return s
}

// Write processes output of the program. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := append(s.rest, p...)
	for len(data) > 0 {
		n := s.take(data)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	s.rest = slices.Clone(data)
	return len(p), nil
}

// take processes the character or sequence at the start of data, and returns its length. It returns 0 if data ends
// before the character or sequence does.
func (s *Screen) take(data []byte) int {
	switch data[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n':
		s.down()
		return 1
	case '\a':
		return 1
	case '\x1b':
		return s.sequence(data)
	}
	if !utf8.FullRune(data) {
		return 0
	}
	r, n := utf8.DecodeRune(data)
	s.put(r)
	return n
}

func (s *Screen) sequence(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	if data[1] != '[' {
		s.show("[ESC " + string(data[1:2]) + "]")
		return 2
	}
	end := 2
	for end < len(data) && (data[end] < 0x40 || data[end] > 0x7e) {
		end++
	}
	if end == len(data) {
		return 0
	}
	words := string(data[2:end])
	n, err := strconv.Atoi(words)
	if words == "" {
		n, err = 1, nil
	}
	switch {
	case words == "?1049" && data[end] == 'h':
		s.normal = &saved{s.above, s.lines, s.x, s.y}
		s.above, s.lines = nil, make([][]rune, s.rows)
	case words == "?1049" && data[end] == 'l' && s.normal != nil:
		s.above, s.lines, s.x, s.y, s.normal = s.normal.above, s.normal.lines, s.normal.x, s.normal.y, nil
	case data[end] == 'H':
		s.y, s.x = 0, 0
		if row, column, found := strings.Cut(words, ";"); found {
			y, _ := strconv.Atoi(row)
			x, _ := strconv.Atoi(column)
			s.y, s.x = min(max(y, 1), s.rows)-1, min(max(x, 1), s.columns)-1
		}
	case data[end] == 'm', strings.HasPrefix(words, "?") && (data[end] == 'h' || data[end] == 'l'):
	case data[end] == 'A' && err == nil:
		s.y = max(0, s.y-n)
	case data[end] == 'K' && words == "":
		s.erase(s.y, s.x)
	case data[end] == 'J' && words == "":
		s.erase(s.y, s.x)
		for y := s.y + 1; y < s.rows; y++ {
			s.lines[y] = nil
		}
	default:
		s.show("[" + words + string(data[end:end+1]) + "]")
	}
	return end + 1
}

func (s *Screen) erase(y, from int) {
	if from < len(s.lines[y]) {
		s.lines[y] = s.lines[y][:from]
	}
}

func (s *Screen) show(text string) {
	for _, r := range text {
		s.put(r)
	}
}

func (s *Screen) put(r rune) {
	if s.x == s.columns { // the line is full: the next character begins a new line
		s.x = 0
		s.down()
	}
	for len(s.lines[s.y]) <= s.x {
		s.lines[s.y] = append(s.lines[s.y], ' ')
	}
	s.lines[s.y][s.x] = r
	s.x++
}

func (s *Screen) down() {
	if s.y < s.rows-1 {
		s.y++
		return
	}
	s.above = append(s.above, text(s.lines[0]))
	s.lines = append(s.lines[1:], nil)
}

func text(line []rune) string { return strings.TrimRight(string(line), " ") }

// Text returns all lines, including those that have scrolled off, without empty lines at the end.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.above)
	for _, line := range s.lines {
		all = append(all, text(line))
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// Cursor returns the position of the cursor on the screen, counted from 0.
func (s *Screen) Cursor() (column, row int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.x, s.y
}
