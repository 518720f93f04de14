package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// trxParser reads the results file of `dotnet test --logger trx`, which needs no package. An id is
// "Calc.Tests.CalcTests::Adds(a: 1)": the class comes from the definitions, which stand behind the results.
type trxParser struct {
	r       *Report
	at      Place
	results []trxResult
	classes map[string]string // of the test with this id
	seen    map[session.TestID]int
}

type trxResult struct {
	id, name, outcome string
	message           strings.Builder
}

func newTRXParser(at Place) *trxParser {
	return &trxParser{r: New(), at: at, classes: map[string]string{}, seen: map[session.TestID]int{}}
}

func (p *trxParser) parse(in io.Reader) {
	feed := newXMLFeed(in)
	for feed.next("?xml", "TestRun") {
		if err := p.document(feed); err != nil && p.r.Damaged == "" {
			p.r.Damaged = "it is truncated or malformed"
		}
	}
	_, _ = io.Copy(io.Discard, feed.in)
}

func (p *trxParser) document(feed *xmlFeed) error {
	dec := xml.NewDecoder(feed)
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var (
		result *trxResult
		test   string // id of the definition that is open
		depth  int
		inside bool
	)
	for {
		tok, err := dec.RawToken()
		if err != nil {
			if depth == 0 && err == io.EOF {
				return nil
			}
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("nested more than %d deep", maxDepth)
			}
			switch t.Name.Local {
			case "UnitTestResult":
				if len(p.results) < maxTests {
					p.results = append(p.results, trxResult{id: attr(t, "testId"), name: testName(attr(t, "testName")), outcome: attr(t, "outcome")})
					result = &p.results[len(p.results)-1]
				} else {
					p.r.Damaged = "it has too many tests"
				}
			case "UnitTest":
				test = attr(t, "id")
			case "TestMethod":
				if len(p.classes) < maxTests {
					class, _, _ := strings.Cut(testName(attr(t, "className")), ",")
					p.classes[test] = class
				}
			case "Message", "StackTrace":
				inside = result != nil
			}
		case xml.EndElement:
			depth--
			inside = false
			if t.Name.Local == "UnitTestResult" {
				result = nil
			}
			if depth <= 0 {
				return nil
			}
		case xml.CharData:
			if inside && result.message.Len() < MaxExcerpt {
				result.message.Write(t)
				result.message.WriteByte('\n')
			}
		}
	}
}

func (p *trxParser) finish() *Report {
	for i := range p.results {
		t := &p.results[i]
		name := t.name
		if class := p.classes[t.id]; class != "" {
			name = class + "::" + strings.TrimPrefix(name, class+".")
		}
		id := session.TestID(testName(name))
		if p.seen[id]++; p.seen[id] > 1 {
			id = session.TestID(fmt.Sprintf("%s#%d", id, p.seen[id]))
		}
		switch t.outcome {
		case "Passed", "Warning", "PassedButRunAborted":
			p.r.Set(id, session.TestPass)
		case "Failed":
			p.r.Set(id, session.TestFail)
		case "NotExecuted", "Inconclusive", "NotRunnable", "Pending":
			p.r.Set(id, session.TestSkip)
		default: // Error, Timeout, Aborted, Disconnected, …
			p.r.Set(id, session.TestError)
		}
		if bad(p.r.Tests[id]) {
			p.r.Say(id, p.at.Without(t.message.String()))
		}
	}
	p.results = nil
	return p.r
}
