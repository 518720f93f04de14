package agents

import (
	"fmt"
	"testing"
)

// TestMessage: the answer from before a message is not the answer of the run.
func TestMessage(t *testing.T) {
	var read []string
	d, _ := New("claude", Options{Emit: func(e Event) {
		if e.Kind == Taken {
			read = append(read, e.Message)
		}
	}})
	_, _ = fmt.Fprintln(d, `{"type":"result","subtype":"success","structured_output":{"done":true},`+
		`"total_cost_usd":1,"modelUsage":{}}`)
	_, _ = fmt.Fprintln(d, `{"type":"user","isReplay":true,"uuid":"u1","message":{"role":"user","content":"more"}}`)
	_, _ = fmt.Fprintln(d, `{"type":"result","subtype":"success","total_cost_usd":3,"modelUsage":{}}`)
	o := d.End(Exit{})
	if got := fmt.Sprint(o.Class, len(o.Structured), o.Spent.USD, read); got != "ok0 3 [u1]" {
		t.Error(got)
	}
}
