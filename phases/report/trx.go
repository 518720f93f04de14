package report

import (
	"encoding/xml"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// trxRun reads the results file of `dotnet test --logger trx`, which needs no additional package. Ids have the form
// "Calc.Tests.CalcTests::Adds(a: 1)". The class is in the definitions of the tests, which follow the results.
type trxRun struct {
	results
	tests   []*trxTest
	classes map[string]string // class names by id of the definition
	open    *trxTest          // the result that is being read; nil outside of results
	defined string            // id of the definition that is being read
	inside  bool              // inside an element with the failure text of the open result
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
		if !known { // Error, Timeout, Aborted, Disconnected and others
			status = session.TestError
		}
		p.add(session.TestID(testName(name)), status, t.message.String())
	}
}
