package phases

import (
	"bytes"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Used is what is known of what a run used up whose end nobody saw: what its agent had told by then, or a command had
// written into its result file. Nothing is known of many.
func Used(runDir string) session.Usage {
	var u session.Usage
	if text, err := durable.ReadFile(filepath.Join(runDir, EventsFile), 2*maxEvents); err == nil {
		u = usedIn(text)
	}
	if u.USD == 0 {
		u.USD = session.Dollars(readResult(filepath.Join(runDir, ResultFile), nil).cost)
	}
	return u
}

// usedIn is what the events of a run tell. Each process counts from nothing, and tells all that it has used so far.
func usedIn(events []byte) session.Usage {
	var sum, last agents.Spent
	var begun, end int64
	for line := range bytes.Lines(events) {
		r, ok := agents.DecodeRecord(line)
		if !ok {
			continue
		}
		at := r.At.UnixMilli()
		if begun == 0 {
			begun = at
		}
		end = max(end, at)
		if r.Kind == agents.Usage {
			if r.Spent.Tokens() < last.Tokens() && r.Spent.USD <= last.USD { // another process
				sum = plus(sum, last)
			}
			last = r.Spent
		}
	}
	sum = plus(sum, last)
	return session.RunResult{CostUSD: sum.USD, Tokens: tokensOf(sum), Millis: end - begun}.Usage()
}

func plus(a, b agents.Spent) agents.Spent {
	return agents.Spent{USD: a.USD + b.USD, Input: a.Input + b.Input, Output: a.Output + b.Output,
		CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite}
}
