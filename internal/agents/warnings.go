package agents

import (
	"io"
	"regexp"
	"strconv"
	"strings"
)

// OwnWait is how long an agent may wait by itself before it repeats a request, in seconds. One that means to
// wait longer is better stopped: a session that waits says so, and survives a restart.
const OwnWait = 90

// Bounds of what is read of standard error, in bytes.
const (
	maxWarning  = 16 << 10 // of one line
	maxAttempts = 4 << 10  // of a failure that is told on several lines
)

// NewWarnings returns a reader for the standard error of an agent, by the name of its decoder: some tell
// nowhere else that a request failed and that they wait. It emits events of kind Retry. nil: there is nothing
// to be learnt. Its Write takes any bytes in any pieces and never fails.
func NewWarnings(name string, o Options) io.Writer {
	w := &warnings{o: o}
	read := map[string]func(string){"gemini": w.gemini, "opencode": w.opencode}[name]
	if o.Emit == nil || o.Now == nil || read == nil {
		return nil
	}
	return &Lines{Most: maxWarning, Line: read}
}

type warnings struct {
	o       Options
	failure string // of gemini's: from where it says so to where it says when it tries again
}

var retrying = lazy(`^Attempt (\d+) (?:failed: )?(.*?)Retrying (?:after (\d+)\D*ms|with backoff)`)

// gemini reads "Attempt 1 failed: You exceeded …" with further lines up to "… Retrying after 46210ms...". Of the same
// failure with a status alone ("Attempt 1 failed with status 429. Retrying with backoff...") it says no delay.
func (w *warnings) gemini(line string) {
	if strings.HasPrefix(line, "Attempt ") {
		w.failure = ""
	} else if w.failure == "" {
		return
	}
	w.failure += line + " "
	found := retrying().FindStringSubmatch(w.failure)
	if found != nil {
		w.retry(number(found[1]), found[2], int64(number(found[3])))
	}
	if found != nil || len(w.failure) > maxAttempts { // else it goes on on the next line
		w.failure = ""
	}
}

// opencode reads its log, of which it is asked for errors: the answer of the model's provider to the request of
// the work itself, and not to that of a title for it.
func (w *warnings) opencode(line string) {
	if !strings.Contains(line, `message="stream error"`) || strings.Contains(line, " small=true ") {
		return
	}
	if why := logged(line, "error.error"); why != "" {
		w.retry(0, why, 0)
	}
}

// logged is the value of a name in a line of opencode's log.
func logged(line, name string) string {
	found := regexp.MustCompile(` ` + name + `=(?:("(?:[^"\\]|\\.)*")|(\S*))`).FindStringSubmatch(line)
	if found == nil {
		return ""
	}
	if text, err := strconv.Unquote(found[1]); err == nil {
		return text
	}
	return found[1] + found[2]
}

// retry tells of a request that is repeated. It is Fatal when no repetition helps, or when it comes later than OwnWait.
func (w *warnings) retry(attempt int, why string, delayMillis int64) {
	now := w.o.Now()
	v := judge(0, why, now)
	e := Event{Kind: Retry, Retrying: Retrying{Attempt: attempt, Status: statusIn(strings.ToLower(why)),
		Error: oneLine(why, maxMessage), DelayMillis: delayMillis}}
	if delayMillis > 0 {
		v.at = now + (delayMillis+999)/1000
	}
	switch v.class {
	case Auth, Billing:
		e.Fatal = v.class
	case LimitHit, RateLimited:
		if e.Retrying.Status == 0 {
			e.Retrying.Status = 429
		}
		if v.at > now+OwnWait {
			e.Fatal, e.Limited = LimitHit, Limited{Status: "rejected", ResetsAt: v.at}
		}
	}
	w.o.Emit(e)
}
