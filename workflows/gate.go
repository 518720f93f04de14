package workflows

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
		g := r.definition(f, n, name, what)
		g.Expect = expect
		if expect == ExpectRed && g.Format == FormatExit {
			r.fail(f["expect"].line, "%s: expect red needs a format that tells tests apart (%s, %s), not %s", what,
				FormatGoTest, FormatJUnit, FormatExit)
		}
		return g
	}
	name := r.name(f["use"], what+": use")
	for _, key := range gateUseObject.names() {
		if key != "use" && key != "expect" && f[key] != nil {
			r.fail(f[key].line, "%s: %s belongs to the definition of the gate that it uses, in .wfs/config.yaml", what, key)
		}
	}
	return Gate{Name: name, Use: name, Expect: expect}
}

// definition reads what a gate is. Its format is "" after a finding about it.
func (r *reader) definition(f map[string]*node, n *node, name, what string) Gate {
	g := Gate{Name: name, Format: FormatExit, Where: InPlace}
	if f["run"] == nil {
		r.fail(n.line, "%s has nothing to run", what)
		r.hint("run: the command that judges, for example %q", "go test ./...")
	}
	g.Run = r.command(f["run"], what+": run")
	if f["format"] != nil {
		g.Format = Format(r.word(f["format"], what+": format", string(FormatGoTest), string(FormatJUnit), string(FormatExit)))
	}
	g.Report = r.glob(f["report"], what+": report", globProblem)
	if f["report"] != nil && g.Format != FormatJUnit && g.Format != "" {
		r.fail(f["report"].line, "%s: report is read with format %s only", what, FormatJUnit)
	}
	if f["where"] != nil {
		g.Where = Where(r.word(f["where"], what+": where", string(InPlace), string(Clean)))
	}
	if g.Where == Clean {
		r.fail(f["where"].line, "%s: where: %s is not built yet", what, Clean)
		r.hint("use where: %s", InPlace)
	}
	g.Timeout = r.duration(f["timeout"], what+": timeout", DefaultGateTimeout)
	g.MayChangeTree = r.truth(f["may-change-tree"], what+": may-change-tree")
	return g
}
