package fold_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/fold"
)

func hexOf(s string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) }

// longLife returns the history of a session in which an agent works for a number of attempts.
func longLife(t testing.TB, attempts int) []session.Event {
	r := rand.New(rand.NewSource(1))
	var events []session.Event
	var s session.Session
	at := start
	add := func(b session.Body) {
		at = at.Add(time.Duration(1+r.Intn(60)) * time.Second)
		e := session.Event{Seq: s.Seq + 1, At: at, Body: b}
		next, err := fold.Extend(s, []session.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		s, events = next, append(events, e)
	}
	created := session.Created{ID: "x", Goal: "add a parser", Start: "RED", Laps: true, Workflow: "tdd",
		Agent: "claude", PlanDigest: hexOf("p"), Base: session.Commit(hexOf("b"))}
	add(created)
	cp := func(trig session.Trigger, tree session.Tree, o *session.Open) {
		c := session.Checkpointed{Number: s.NextNumber(), Trigger: trig,
			Code: session.Commit(hexOf(fmt.Sprint("c", s.NextNumber()))), Tree: tree, Phase: s.Phase, Lap: s.Lap,
			Summary: "start"}
		if o != nil {
			c.Attempt, c.Verdict, c.Class = o.Attempt, o.Decided.Verdict, o.Decided.Class
			c.Summary = fmt.Sprintf("%s attempt %d: %s", o.Phase, o.Attempt, o.Decided.Reason)
		}
		add(c)
	}
	cp(session.TriggerBirth, session.Tree(hexOf("t")), nil)
	add(session.Driving{})
	targets := []session.TestID{}
	words := strings.Fields("Parser Lexer Token Range Empty Nested List Map String Number Quote Escape Comment Line Error Position Unicode Depth Limit Merge Split Header Footer Index Query Path Value Default Option Flag Reader Writer")
	word := func() string { return words[r.Intn(len(words))] }
	try := 0
	for i := range attempts {
		tree := session.Tree(hexOf(fmt.Sprint("t", i)))
		add(session.AttemptStarted{Number: s.Runs + 1, Phase: s.Phase, Lap: s.Lap, Attempt: s.Visit.Attempts + 1,
			RunID: fmt.Sprintf("r%04d-%x", i, r.Int31()), Tree: s.At(s.Current).Tree, Runner: "agent", Agent: "claude"})
		add(session.RunEnded{RunResult: session.RunResult{Outcome: session.OutcomeOK,
			Millis: int64(20000 + r.Intn(400000)), Done: true, Agent: "claude", Model: "m", Conversation: hexOf(fmt.Sprint(i)),
			Turns: 10 + r.Intn(90), Tools: 100,
			Tokens: cost.Tokens{Input: int64(r.Intn(10000)), Output: int64(r.Intn(30000)),
				CacheRead: int64(r.Intn(3000000))}}, Tree: tree})
		j := session.Judgement{Tree: tree, Verdict: session.Pass, Class: session.ClassGreen,
			Reason: "all expected tests pass"}
		d := session.Decided{Verdict: session.Pass, NextLap: s.Lap, Progress: true}
		g := session.GateResult{Gate: "tests", Where: "clean", Verdict: session.Pass, Class: session.ClassGreen,
			Reason: "all expected tests pass", Counts: session.Counts{Passed: 100 + i}, Millis: int64(r.Intn(20000))}
		switch {
		case s.Phase == "RED":
			targets = nil
			for k := range 1 + s.Lap%2 {
				targets = append(targets, session.TestID(fmt.Sprintf("github.com/acme/parser/internal/%s.Test%s%s%s%d",
					strings.ToLower(word()), word(), word(), word(), k)))
			}
			g.Expect, g.Targets, g.Class, g.Reason = "red", targets, session.ClassTargetFailed, fmt.Sprintf(
				"%d new tests fail as intended", len(targets))
			j.Class, j.Reason, d.Next = g.Class, g.Reason, "GREEN"
		case s.Phase == "GREEN" && try < s.Lap%3-1:
			try++
			g.Verdict, g.Class, g.Reason = session.Fail, session.ClassTargetFailing, "still failing: "+string(targets[0])
			g.Failing, g.Fingerprint = targets, hexOf(fmt.Sprint("f", i))[:16]
			j.Verdict, j.Class, j.Reason, d.Next, d.Verdict, d.Refuted = g.Verdict, g.Class, g.Reason, "GREEN", session.Fail,
				true
		case s.Phase == "GREEN":
			try = 0
			g.Passing = len(targets)
			d.Next = "REFACTOR"
		default:
			d.Next, d.NextLap, d.LapEnded = "RED", s.Lap+1, true
		}
		d.Class, d.Reason = j.Class, j.Reason
		j.Gates = []session.GateResult{g}
		add(session.Judged{Judgement: j})
		add(d)
		cp(session.TriggerAttempt, tree, s.Open)
	}
	return events
}

// packed returns how many bytes Git needs for a document.
func packed(data []byte) int {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		panic(err) // writes into memory
	}
	_ = z.Close()
	return b.Len()
}

func readFrom(files session.Files) (session.Session, error) {
	return codec.ReadSession(func(name string) ([]byte, error) { return files[name], nil })
}

// TestDocumentsStaySmall expects that the documents of a long session are small, and that a further checkpoint writes
// no more than session.json, and sometimes a segment. Each attempt has 100 tool calls, and reports its usage.
func TestDocumentsStaySmall(t *testing.T) {
	t.Parallel()
	events := longLife(t, 1000)
	var s session.Session
	var kept session.Files
	for some := range slices.Chunk(events, 97) {
		before := s
		var err error
		if s, err = fold.Extend(s, some); err != nil {
			t.Fatal(err)
		}
		files, err := codec.Documents(s, session.Session{})
		if err != nil {
			t.Fatal(err)
		}
		sameSince(t, files, kept, s, before)
		if n := packed(files[session.FileSession]); n > 10_000 {
			t.Fatalf("session.json has %d bytes at checkpoint %d", n, s.Current)
		}
		for name, data := range kept {
			if name != session.FileSession && name != "recent_usage-0.json" && !bytes.Equal(files[name], data) {
				t.Fatalf("%s has changed at checkpoint %d", name, s.Current)
			}
		}
		kept = files
	}
	sum := 0
	for _, data := range kept {
		sum += packed(data)
	}
	t.Logf("%d documents, %d bytes", len(kept), sum)
	if sum > 100_000 {
		t.Errorf("%d documents with %d bytes", len(kept), sum)
	}
	back, err := readFrom(kept)
	if err != nil || !reflect.DeepEqual(plain(t, back), plain(t, s)) {
		t.Errorf("what was read back differs: %v", err)
	}
}

// sameSince checks that parts which are not written again are the same in the documents before.
func sameSince(t testing.TB, files, kept session.Files, s, before session.Session) {
	t.Helper()
	changed, err := codec.Documents(s, before)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range changed {
		if data == nil {
			changed[name] = kept[name]
		}
	}
	if !reflect.DeepEqual(changed, files) {
		t.Fatalf("documents that follow others differ at checkpoint %d", s.Current)
	}
}

func plain(t testing.TB, s session.Session) (v any) {
	t.Helper()
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDocumentsReadBack expects that any session is the same after it is read from its documents, including a fork.
func TestDocumentsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, err := fold.Fold(life(rt))
		if err != nil {
			rt.Fatal(err)
		}
		fork, err := fold.ForkAt(&s, s.Current)
		if err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(0, 140).Draw(rt, "more") {
			s.Refuted = append(s.Refuted, session.Refuted{Checkpoint: len(s.Refuted), Reason: "no"})
			s.Settlements = append(s.Settlements, session.Settlement{Item: len(s.Settlements) + 1, State: session.ItemAgreed})
		}
		for i := range s.Checkpoints { // some have costs
			s.Checkpoints[i].Used.USD = cost.Money(rapid.IntRange(0, 1).Draw(rt, "cost"))
		}
		s.Fork = fork
		files, err := codec.Documents(s, session.Session{})
		if err != nil {
			rt.Fatal(err)
		}
		back, err := readFrom(files)
		if err != nil || !reflect.DeepEqual(plain(t, back), plain(t, s)) {
			rt.Fatalf("what was read back differs: %v", err)
		}
		if n := len(s.Refuted); n > 0 { // an entry in a segment changes
			s.Refuted = slices.Clone(s.Refuted)
			s.Refuted[rapid.IntRange(0, n-1).Draw(rt, "approved")].Approved++
		}
		next, err := codec.Documents(s, session.Session{})
		if err != nil {
			rt.Fatal(err)
		}
		sameSince(t, next, files, s, back)
	})
}

// TestOtherDocuments expects that a missing part is an error, older documents are ignored, and newer ones refused.
func TestOtherDocuments(t *testing.T) {
	t.Parallel()
	s, err := fold.Fold(longLife(t, 100))
	if err != nil {
		t.Fatal(err)
	}
	files, err := codec.Documents(s, session.Session{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(files[session.FileSession])
	with := func(name string, data []byte) session.Files {
		other := maps.Clone(files)
		other[name] = data
		return other
	}
	if _, err := readFrom(with("checkpoints-0.json", nil)); err == nil ||
		!strings.Contains(err.Error(), "checkpoints-0.json") {
		t.Errorf("without a segment: %v", err)
	}
	for _, older := range []string{strings.Replace(text, `"version":2`, `"version":1`, 1),
		strings.Replace(text, `"folded":`, `"folded":9`, 1)} {
		if old, err := readFrom(with(session.FileSession, []byte(older))); err != nil || old.UpToDate() {
			t.Errorf("older documents: %v, up to date: %v", err, old.UpToDate())
		}
	}
	future := strings.Replace(text, `"version":2`, `"version":3,"status":{"new":"type"}`, 1)
	if _, err := readFrom(with(session.FileSession, []byte(future))); !errors.Is(err, session.ErrNewer) {
		t.Errorf("newer documents: %v", err)
	}
	// Builds before version 2 decode all of session.json before they check its version. A field with another type would
	// look like damage to them, and they would repair it by folding the events.
	var before session.Session
	if err := json.Unmarshal(files[session.FileSession], &before); err != nil || before.ID != s.ID || before.Version <= 1 {
		t.Errorf("a build before version 2 would not see that it is newer: %v, %+v", err, before.Version)
	}
}

func BenchmarkReadSession(b *testing.B) {
	s, err := fold.Fold(longLife(b, 1000))
	if err != nil {
		b.Fatal(err)
	}
	files, err := codec.Documents(s, session.Session{})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if _, err := readFrom(files); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	events := longLife(b, 2000)[:10_000]
	b.ResetTimer()
	for range b.N {
		if _, err := fold.Fold(events); err != nil {
			b.Fatal(err)
		}
	}
}
