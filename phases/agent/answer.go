package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
)

// ExitWait is the exit code with which a command asks wfs to call it again later (EX_TEMPFAIL of sysexits.h).
const ExitWait = 75

const (
	maxResult = 64 << 10 // limit of a result file, in bytes
	maxTime   = 253402300799
)

// answer is what an agent or command says about its run. Nothing in it is evidence.
type answer struct {
	done bool
	not  bool // the agent says that the work is not done
	// unread is set if there was an answer that could not be read. It then counts as "not done", and note says why.
	unread bool
	waits  bool
	until  int64 // when to call again, in Unix seconds; 0: unknown
	ask    string
	note   string
	// change is the reason for which the work should go back to the phase that writes tests.
	change string
	// left is the name of an existing test which shows that nothing is left to do.
	left string
	cost float64
	// review is a reviewer's verdict; nil if there is none.
	review *session.Review
}

// resultFile is the JSON object in the file at $WFS_RESULT. Unknown keys are ignored, because a wrapper of an agent
// may store data of its own there.
type resultFile struct {
	Done      *bool           `json:"done,omitempty"`
	Continue  bool            `json:"continue"`             // the work is not done yet; overrides done
	WaitUntil json.RawMessage `json:"wait_until,omitempty"` // RFC 3339 or Unix seconds
	Wait      string          `json:"wait"`                 // duration from now, such as "15m"
	Ask       string          `json:"ask"`
	CostUSD   float64         `json:"cost_usd"`
	Note      string          `json:"note"`
	Change    string          `json:"test_change"`
	Nothing   string          `json:"nothing_left"` // the existing test that covers the item already
}

// readResult reads the answer that a run left in the file at path. A missing or empty file is no answer.
func readResult(path string, secrets *redact.Redactor, now func() time.Time) answer {
	text, err := durable.ReadFile(path, maxResult)
	if errors.Is(err, fs.ErrNotExist) {
		return answer{}
	}
	if err != nil {
		return unreadable(err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return answer{}
	}
	a, err := parseResult([]byte(secrets.String(string(text))), now)
	if err != nil {
		return unreadable(err)
	}
	return a
}

// unreadable returns the answer that stands for one that could not be read because of err.
func unreadable(err error) answer {
	why := process.Reason(err)
	var wrong *json.UnmarshalTypeError
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		why = fmt.Sprintf("%q must not be a %s", wrong.Field, wrong.Value)
	case errors.As(err, &broken):
		why = "it is not a JSON object: " + broken.Error()
	}
	return answer{unread: true, note: clipped("could not read the answer; it counts as \"not done\": " + why)}
}

// decodeResult parses the JSON object of an answer.
func decodeResult(text []byte) (f resultFile, err error) {
	switch {
	case len(text) == 0:
		return f, errors.New("it is empty")
	case text[0] != '{':
		return f, errors.New("it is not a JSON object")
	}
	return f, json.Unmarshal(text, &f)
}

// parseResult parses the JSON object of an answer and checks its values.
func parseResult(text []byte, now func() time.Time) (answer, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	f, err := decodeResult(text)
	if err != nil {
		return answer{}, err
	}
	said := f.Done != nil && *f.Done
	a := answer{done: said && !f.Continue, not: f.Continue || f.Done != nil && !said, review: parseReview(text),
		ask: clipped(f.Ask), note: clipped(f.Note), change: clipped(f.Change),
		left: safetext.Line(f.Nothing, process.MaxSaid)}
	if f.CostUSD > 0 && !math.IsInf(f.CostUSD, 0) {
		a.cost = f.CostUSD
	}
	if err := a.waitAs(f, now); err != nil {
		return answer{}, err
	}
	return a, nil
}

// waitAs takes over from f when the agent wants to be called again.
func (a *answer) waitAs(f resultFile, now func() time.Time) error {
	if f.Wait != "" {
		d, err := time.ParseDuration(f.Wait)
		if err != nil || d < 0 {
			return fmt.Errorf("wait: %q is not a duration such as 15m", short(f.Wait))
		}
		a.wait(d, now)
	}
	if len(f.WaitUntil) > 0 && string(f.WaitUntil) != "null" {
		until, err := parseTime(f.WaitUntil)
		if err != nil {
			return err
		}
		a.waits, a.until = true, until
	}
	return nil
}

func (a *answer) wait(d time.Duration, now func() time.Time) {
	a.waits = true
	if now != nil {
		a.until = now().Add(d).Unix()
	}
}

func parseTime(raw json.RawMessage) (int64, error) {
	text := string(raw)
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		text = strings.TrimSpace(quoted)
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil && at.Unix() >= 0 {
		return at.Unix(), nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxTime) {
		return 0, fmt.Errorf("wait_until: %s is neither an RFC 3339 time nor Unix seconds", short(text))
	}
	return int64(math.Ceil(seconds)), nil
}

func short(s string) string { return safetext.Line(s, 40) }

// clipped returns a text of an agent or the project so that it is safe to store and to show. Longer texts are cut.
func clipped(s string) string {
	s = strings.TrimSpace(safetext.Strip(s))
	n := 0
	for i := range s {
		if n++; n == process.MaxSaid {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

// conclude returns the result of a run that ended by itself, from its exit code and its answer.
func conclude(exit int, a answer) session.RunResult {
	r := session.RunResult{Exit: exit, Done: a.done, NotDone: a.not, Unread: a.unread, Review: a.review, Note: a.note,
		Ask: a.ask, TestChange: a.change, NothingLeft: a.left,
		CostUSD: a.cost}
	switch {
	case a.ask != "":
		r.Outcome = session.OutcomeAsk
	case exit == ExitWait, exit == 0 && a.waits:
		r.Outcome, r.WaitUntil = session.OutcomeWait, a.until
	case exit == 0:
		r.Outcome = session.OutcomeOK
	default:
		r.Outcome = session.OutcomeFailed
	}
	return r
}
