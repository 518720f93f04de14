package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// FailuresFile is the name of the file in a run's directory with the output of failing tests. It is never in Git.
const FailuresFile = "failures.json"

// Limits of the stored output. They are small because agents get this output in their prompt.
const (
	maxFailures   = 20       // tests whose output is stored
	maxExcerpt    = 4 << 10  // bytes for one test
	maxAllExcerpt = 16 << 10 // bytes for all tests together
	maxFirst      = 200      // characters of the first error
)

// Failure has the output of one failing test, or of one unit (a package or file) that could not be built. Message
// comes from the project's code, so it is data and never an instruction.
type Failure struct {
	Gate    string             `json:"gate"`
	Test    session.TestID     `json:"test"`
	Status  session.TestStatus `json:"status"`
	Message string             `json:"message,omitempty"`
	Log     string             `json:"log,omitempty"` // name of the gate's log in the run's directory
}

// ReadFailures returns the output of failing tests that is stored in a run's directory. It returns none if nothing
// failed, the directory is gone, or the file is irregular or too large. An error means that the file exists and cannot
// be read.
func ReadFailures(runDir string) ([]Failure, error) {
	name := filepath.Join(runDir, FailuresFile)
	data, err := durable.ReadFile(name, maxFailuresFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrNotRegular) || errors.Is(err, durable.ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Failure
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

const maxFailuresFile = 16 << 20 // bytes; wfs writes far less

// saysError matches the error line of a compiler or an assertion. Such a line begins with a position in a file, or
// contains the word "error".
var saysError = lazyregexp.New(`^[^\s:]+:\d+(:\d+)?: |(?i)\berror\b|^[A-Z]\w*Error: |^E `)

// beforeError matches lines of Python's test runners that look like an error and come before it.
var beforeError = lazyregexp.New(`^\S+:\d+: in \S+$|^ImportError: Failed to import test module: `)

// FirstError returns the first line of a text that reports an error. If there is none, it returns the first line and,
// if that ends with a colon as a panic of Rust does, up to three more. It returns "" for an empty text.
func FirstError(message string) string {
	first := ""
	more := 0
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimSpace(safetext.Line(line, maxFirst))
		switch {
		case line == "" || beforeError.MatchString(line) || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") ||
			strings.HasPrefix(line, "# "):
		case saysError.MatchString(line) && !strings.HasSuffix(line, ":"): // after a colon, the error follows
			return line
		case first == "":
			first = line
			if strings.HasSuffix(line, ":") {
				more = 3
			}
		case more > 0 && !strings.HasPrefix(line, "note: "):
			first += " " + line
			more--
		}
	}
	return safetext.Line(first, maxFirst)
}

// WriteFailures replaces the stored output of failing tests. It removes secrets. The file need not be durable, because
// it only improves the next prompt. If there is a link or a pipe in its place, it is replaced, without following or
// opening it.
func WriteFailures(runDir string, list []Failure, secrets *redact.Redactor) error {
	list = list[:min(len(list), maxFailures)]
	left := maxAllExcerpt
	for i := range list {
		list[i].Message = excerpt(secrets.String(safetext.Strip(list[i].Message)), min(left, maxExcerpt))
		left -= len(list[i].Message)
	}
	if list == nil {
		list = []Failure{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(list); err != nil {
		return err
	}
	return durable.WriteCache(filepath.Join(runDir, FailuresFile), b.Bytes(), 0o600)
}

// excerpt returns the beginning of a text, without control characters and at most the given number of bytes. It keeps
// the beginning because the first failure is usually the cause of the others.
func excerpt(s string, most int) string {
	s = strings.TrimSpace(safetext.Strip(s))
	if len(s) <= most {
		return s
	}
	const cut = " […]"
	keep := most - len(cut)
	if keep <= 0 {
		return ""
	}
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	if space := strings.LastIndexAny(s[:keep], " \t\n"); space > keep/2 { // half a word may be half a secret
		keep = space
	}
	return s[:keep] + cut
}
