package agents

import (
	"io"
	"regexp"
	"strconv"
	"strings"
)

// OwnWait is the longest time, in seconds, that an agent may wait before it repeats a request. For a longer wait, wfs
// stops the agent and waits itself: it shows that the session waits, and continues after a restart.
const OwnWait = 90

// Maximum sizes for reading standard error, in bytes.
const (
	maxWarning  = 16 << 10 // one line
	maxAttempts = 4 << 10  // one failure that the agent reports on several lines
)

// NewWarnings returns a writer that decodes the standard error of an agent; name is the name of its decoder. Some
// agents report failed requests and waits only there. The writer emits Retry events. Its Write accepts bytes in pieces
// of any size and never fails. NewWarnings returns nil for agents that report nothing there.
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
	failure string // gemini's report of a failure, as far as read: from "Attempt" to the line with the delay
}

var retrying = lazy(`^Attempt (\d+) (?:failed: )?(.*?)Retrying (?:after (\d+)\D*ms|with backoff)`)

// gemini reads "Attempt 1 failed: You exceeded …" and the lines after it, up to "… Retrying after 46210ms...". A report
// that names only a status ("Attempt 1 failed with status 429. Retrying with backoff...") has no delay.
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
	if found != nil || len(w.failure) > maxAttempts { // if not, the report continues on the next line
		w.failure = ""
	}
}

// opencode reads opencode's log, which the agent card limits to errors. It reports failed requests of the work itself,
// and skips the requests that ask the model for a title of the work.
func (w *warnings) opencode(line string) {
	if !strings.Contains(line, `message="stream error"`) || strings.Contains(line, " small=true ") {
		return
	}
	if why := logged(line, "error.error"); why != "" {
		w.retry(0, why, 0)
	}
}

// logged returns the value of a key in a line of opencode's log.
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

// retry emits that the agent repeats a request. It sets Fatal if repeating cannot help, or if the delay is longer than
// OwnWait.
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
