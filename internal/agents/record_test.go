package agents

import (
	"math"
	"reflect"
	"testing"
	"time"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 5e6, time.UTC)
	for _, e := range []Event{
		{Kind: Text, Text: "one\ntwo"},
		{Kind: Text, Text: "\"<é\x1b\\\u2028>&"},
		{Kind: Text},
		{Kind: ToolCall, Tool: Tool{ID: "t1", Name: "Bash", Action: Runs, Detail: "go test ./..."}},
		{Kind: Limit, Limited: Limited{Status: "rejected", ResetsAt: 1763722800, Window: "five_hour", Used: 1}},
		{Kind: Retry, Retrying: Retrying{Attempt: 2, Of: 10, Status: 529, Error: "overloaded", DelayMillis: 600}},
		{Kind: Usage, Spent: Spent{USD: 0.5, Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}},
		{Kind: Result, Text: "done", Failed: true},
		{Kind: Started, Conversation: "c", Model: "m", Version: "2.1"},
	} {
		line := EncodeRecord(at, e)
		if r, ok := DecodeRecord(line); !ok || !reflect.DeepEqual(r, Record{RecordVersion, at, e}) {
			t.Errorf("%s becomes %+v", line, r)
		}
		if _, ok := DecodeRecord(line[:len(line)/2]); ok {
			t.Errorf("half of %s is a record", line)
		}
	}
	if r, ok := DecodeRecord(EncodeRecord(at, Event{Kind: Usage, Spent: Spent{USD: math.NaN(), Output: 2}})); !ok || r.Spent.Output != 2 {
		t.Errorf("a cost that is no number: %+v", r)
	}
	for _, line := range []string{"", "null", "{}", `{"v":1}`, `{"v":2,"kind":"text"}`, "[… 000000000004711 bytes of output were cut here …]"} {
		if r, ok := DecodeRecord([]byte(line)); ok {
			t.Errorf("%q is a record: %+v", line, r)
		}
	}
}
