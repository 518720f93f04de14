package workflows

import "strings"

// gateDefinition reads a gate of the configuration.
func (r *reader) gateDefinition(name string, n *node) Gate {
	what := "gate " + clip(name)
	f, ok := r.fields(n, what, gateObject)
	if !ok {
		return Gate{Name: name}
	}
	return r.definition(f, n, name, what)
}

// gateUse reads a gate of a phase: a use of the configuration's, or one defined on the spot.
func (r *reader) gateUse(n *node, what string) Gate {
	f, ok := r.fields(n, what, gateUseObject)
	if !ok {
		return Gate{}
	}
	expect := Expect(r.word(f["expect"], what+": expect", string(ExpectPass), string(ExpectRed)))
	if f["expect"] == nil {
		expect = ExpectPass
	}
	if f["use"] == nil {
		var name string
		if f["name"] == nil {
			r.fail(n.line, "%s has no name", what)
			r.hint("use: a gate of .wfs/config.yaml, or name: and run: for a gate of this workflow's own")
		} else {
			name = r.name(f["name"], what+": name")
		}
		if f["document"] != nil || f["changes"] != nil {
			return r.looking(f, name, what)
		}
		if f["needs"] != nil {
			r.fail(f["needs"].line, "%s: needs is about a document, and there is none", what)
		}
		g := r.definition(f, n, name, what)
		g.Expect = expect
		if expect == ExpectRed && g.Format == FormatExit {
			r.fail(f["expect"].line, "%s: expect red needs a format that has per-test results (%s, %s, …), not %s", what,
				FormatGoTest, FormatJUnit, FormatExit)
		}
		return g
	}
	name := r.name(f["use"], what+": use")
	for _, key := range gateUseObject.names() {
		if key != "use" && key != "expect" && key != "stable" && f[key] != nil {
			r.fail(f[key].line, "%s: %s belongs to the definition of the gate that it uses, in .wfs/config.yaml", what, key)
		}
	}
	return Gate{Name: name, Use: name, Expect: expect, Stable: r.stable(f["stable"], what)}
}

// looking reads a gate that looks at the tree and runs nothing.
func (r *reader) looking(f map[string]*node, name, what string) Gate {
	g := Gate{Name: name, Where: InPlace, Expect: ExpectPass}
	for _, key := range append(gateObject.names(), "expect") {
		if f[key] != nil {
			r.fail(f[key].line, "%s: %s belongs to a gate that runs a command", what, key)
		}
	}
	if f["document"] != nil && f["changes"] != nil {
		r.fail(f["changes"].line, "%s looks at a document and at changes: make it two gates", what)
	}
	g.Document = r.glob(f["document"], what+": document", documentProblem)
	for _, item := range r.items(f["needs"], what+": needs", "needs") {
		if need := r.word(item, what+": needs", string(NeedTasks), string(NeedItems), string(NeedTicked)); need != "" {
			g.Needs = append(g.Needs, Need(need))
		}
	}
	if f["needs"] != nil && f["document"] == nil {
		r.fail(f["needs"].line, "%s: needs is about a document, and there is none", what)
	}
	if f["changes"] != nil {
		g.Changes = r.globs(f["changes"], what+": changes")
	}
	return g
}

// documentProblem says what is wrong with the name of a document, "" if nothing is.
func documentProblem(s string) string {
	if strings.ContainsAny(s, "*?[") {
		return "must be the name of one document"
	}
	if strings.HasSuffix(s, "/") {
		return "must be the name of one document, not of a directory"
	}
	return globProblem(s)
}

// definition reads what a gate is. Its format is "" after a finding about it.
func (r *reader) definition(f map[string]*node, n *node, name, what string) Gate {
	g := Gate{Name: name, Format: FormatExit, Where: Auto}
	if f["run"] == nil {
		r.fail(n.line, "%s has nothing to run", what)
		r.hint("run: the command that judges, for example %q", "go test ./...")
	}
	g.Run = r.command(f["run"], what+": run")
	if f["format"] != nil {
		g.Format = Format(r.word(f["format"], what+": format", formatWords()...))
	}
	g.Report = r.glob(f["report"], what+": report", globProblem)
	if f["report"] != nil && !g.Format.InFiles() && g.Format != "" {
		r.fail(f["report"].line, "%s: report is not read with format %s; it is with %s, %s, %s and %s", what, g.Format, FormatJUnit, FormatJest, FormatRSpec, FormatTRX)
	}
	if f["where"] != nil {
		g.Where = Where(r.word(f["where"], what+": where", string(Auto), string(InPlace), string(Clean)))
	}
	g.Paths = r.globs(f["paths"], what+": paths")
	if g.When = When(r.word(f["when"], what+": when", string(WhenAttempt), string(WhenLap), string(WhenFinish))); g.When == WhenAttempt {
		g.When = ""
	}
	g.Timeout = r.duration(f["timeout"], what+": timeout", DefaultGateTimeout)
	if g.Stable = r.stable(f["stable"], what); g.Stable == 1 {
		g.Stable = 0
	}
	g.MayChangeTree = r.truth(f["may-change-tree"], what+": may-change-tree")
	if g.MayChangeTree && g.Where == Clean {
		r.fail(f["may-change-tree"].line, "%s: its changes in a clean checkout are thrown away", what)
		r.hint("use where: %s", InPlace)
	}
	return g
}

// stable reads a number of runs, 0 when there is none.
func (r *reader) stable(n *node, what string) int {
	if n == nil {
		return 0
	}
	return r.number(n, what+": stable", 1, maxStable)
}

func formatWords() []string {
	var words []string
	for _, f := range Formats() {
		words = append(words, string(f))
	}
	return words
}
