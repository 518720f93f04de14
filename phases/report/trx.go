package report

import (
	"encoding/xml"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// trxRun reads a results file of `dotnet test --logger trx`, which needs no extra package. An id is
// "Calc.Tests.CalcTests::Adds(a: 1)": the class comes from the definitions, which follow the results.
type trxRun struct {
	results
	tests   []*trxTest
	classes map[string]string // by test id
	open    *trxTest          // nil outside of tests
	defined string            // id of the open definition
	inside  bool              // in an element with the failure text of the open test
}

type trxTest struct {
	id, name, outcome string
	message           strings.Builder
}

var trxRoot = lazyregexp.New(`<TestRun\b`)

func readTRX(r results, data []byte) string {
	return xmlDocuments(data, trxRoot, func() xmlReader { return &trxRun{results: r, classes: map[string]string{}} })
}

func (p *trxRun) start(t xml.StartElement) {
	switch t.Name.Local {
	case "UnitTestResult":
		p.open = &trxTest{id: attr(t, "testId"), name: testName(attr(t, "testName")), outcome: attr(t, "outcome")}
		p.tests = append(p.tests, p.open)
	case "UnitTest":
		p.defined = attr(t, "id")
	case "TestMethod":
		p.classes[p.defined], _, _ = strings.Cut(testName(attr(t, "className")), ",")
	case "Message", "StackTrace":
		p.inside = p.open != nil
	}
}

func (p *trxRun) text(data []byte) {
	if p.inside && p.open.message.Len() < maxExcerpt {
		p.open.message.Write(data)
		p.open.message.WriteByte('\n')
	}
}

func (p *trxRun) end(name string) {
	p.inside = false
	switch name {
	case "UnitTestResult":
		p.open = nil
	case "TestRun":
		p.close()
	}
}

func (p *trxRun) close() {
	for _, t := range p.tests {
		name := t.name
		if class := p.classes[t.id]; class != "" {
			name = class + "::" + strings.TrimPrefix(name, class+".")
		}
		status, known := statuses[t.outcome]
		if !known { // Error, Timeout, Aborted, Disconnected, …
			status = session.TestError
		}
		p.add(session.TestID(testName(name)), status, t.message.String())
	}
}
