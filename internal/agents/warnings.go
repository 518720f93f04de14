package agents

import (
	"bytes"
	"io"
	"strings"
)

// OwnWait is how long an agent may wait by itself before it repeats a request, in seconds. One that means to wait longer is
// better stopped: a session that waits says so, and survives a restart.
const OwnWait = 90

// Bounds of what is read of standard error, in bytes.
const (
	maxWarning  = 16 << 10 // of one line
	maxAttempts = 4 << 10  // of a failure that is told on several lines
)

// NewWarnings returns what reads the standard error of an agent while it works, by the name of its decoder: some tell
// nowhere else that a request failed and that they wait. It emits events of kind Retry. nil: there is nothing to be learnt.
// Its Write takes any bytes in any pieces and never fails.
func NewWarnings(name string, o Options) io.Writer {
	if o.Emit == nil || o.Now == nil {
		return nil
	}
	w := &warnings{o: o}
	switch name {
	case "gemini":
		w.line = w.gemini
	case "opencode":
		w.line = w.opencode
	default:
		return nil
	}
	return w
}

type warnings struct {
	o       Options
	line    func(string)
	part    []byte // of a line that has not ended
	failure []byte // of gemini's: from where it says so to where it says when it tries again
}

func (w *warnings) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := maxWarning - len(w.part); len(line) > room {
			line = line[:room]
		}
		w.part = append(w.part, line...)
		if !ended {
			break
		}
		w.line(string(w.part))
		w.part, rest = w.part[:0], after
	}
	return len(p), nil
}

// gemini reads "Attempt 1 failed: You exceeded …" with further lines up to "… Retrying after 46210ms...". Of the same
// failure with a status alone ("Attempt 1 failed with status 429. Retrying with backoff...") it says no delay.
func (w *warnings) gemini(line string) {
	if strings.HasPrefix(line, "Attempt ") {
		w.failure = w.failure[:0]
	} else if len(w.failure) == 0 {
		return
	}
	if room := maxAttempts - len(w.failure); room > len(line) {
		w.failure = append(append(w.failure, line...), ' ')
	} else {
		w.failure = w.failure[:0] // it is something else
		return
	}
	said := string(w.failure)
	rest, found := strings.CutPrefix(said, "Attempt ")
	attempt := number(leading(rest))
	switch _, delay, ok := strings.Cut(said, "Retrying after "); {
	case !found || attempt == 0:
	case ok && strings.Contains(delay, "ms"):
		why, _, _ := strings.Cut(rest[strings.IndexByte(rest, ' ')+1:], "Retrying after ")
		w.retry(attempt, strings.TrimPrefix(why, "failed: "), int64(number(leading(delay))))
	case strings.Contains(said, "Retrying with backoff"):
		why, _, _ := strings.Cut(rest[strings.IndexByte(rest, ' ')+1:], "Retrying with backoff")
		w.retry(attempt, why, 0)
	default:
		return // it goes on on the next line
	}
	w.failure = w.failure[:0]
}

// opencode reads its log, of which it is asked for errors: what the model's provider answers to the request of the work
// itself, and not to that of a title for it.
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
	_, rest, ok := strings.Cut(line, " "+name+"=")
	if !ok {
		return ""
	}
	if !strings.HasPrefix(rest, `"`) {
		value, _, _ := strings.Cut(rest, " ")
		return value
	}
	var b strings.Builder
	for i := 1; i < len(rest) && rest[i] != '"'; i++ {
		if rest[i] == '\\' && i+1 < len(rest) {
			if i++; rest[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteByte(rest[i])
	}
	return b.String()
}

// retry tells of a request that is repeated. It is Fatal when no repetition helps, or when it comes later than OwnWait.
func (w *warnings) retry(attempt int, why string, delayMillis int64) {
	now := w.o.Now()
	v := judge(0, why, now)
	r := Retrying{Attempt: attempt, Status: statusIn(strings.ToLower(why)), Error: oneLine(why, maxMessage), DelayMillis: delayMillis}
	e := Event{Kind: Retry, Retrying: r}
	at := v.at
	if delayMillis > 0 {
		at = now + (delayMillis+999)/1000
	}
	switch v.class {
	case Auth, Billing:
		e.Fatal = v.class
	case LimitHit, RateLimited:
		if e.Retrying.Status == 0 {
			e.Retrying.Status = 429
		}
		if at > now+OwnWait {
			e.Fatal, e.Limited = LimitHit, Limited{Status: "rejected", ResetsAt: at}
		}
	}
	w.o.Emit(e)
}
