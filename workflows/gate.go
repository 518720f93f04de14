package workflows

import "slices"

// check checks a gate and fills in its defaults. There are three kinds: a gate defined in the configuration, the use of
// such a gate in a workflow, and a gate defined in a workflow.
func (g *Gate) check(r *reader, at string) {
	if r.has(at, "use") {
		r.refuse(at, " belongs to the definition of the gate that it uses, in .wfs/config.yaml",
			slices.DeleteFunc(objects().gateUse.names(), func(k string) bool { return slices.Contains(ofUse, k) })...)
		if !r.has(at, "stable") {
			g.Stable = 0
		}
		*g = Gate{Name: g.Use, Use: g.Use, Expect: g.Expect, Stable: g.Stable, Complexity: g.Complexity,
			Optional: g.Optional, Require: g.Require}
		return
	}
	r.refuse(at, " belongs beside use:, for a gate that the configuration may not have", "optional")
	if !r.has(at, "name") && r.layer == nil {
		r.fail(at, " has no name\nuse: a gate of .wfs/config.yaml, or name: and run: for a gate of this workflow's own")
	}
	document, file, changes := r.has(at, "document"), r.has(at, "file"), r.has(at, "changes")
	if !document && !file {
		r.refuse(at, " is about a document or a file, and there is none", "needs", "contains")
	}
	if !file && !changes {
		r.refuse(at, " is about files or changes, and there are none", "since")
	}
	if !document && !file && !changes {
		g.checkRun(r, at)
		return
	}
	r.refuse(at, " belongs to a gate that runs a command", append(objects().gate.names(), "expect", "require")...)
	if document && (file || changes) || file && changes {
		r.fail(at, " looks at more than one of document, file and changes: make it several gates")
	}
	*g = Gate{Name: g.Name, Document: g.Document, File: g.File, Needs: g.Needs, Contains: g.Contains, Changes: g.Changes,
		Since: g.Since, Complexity: g.Complexity, Where: InPlace, Expect: ExpectPass}
}

// ofUse are the keys that may stand beside `use`.
var ofUse = []string{"use", "expect", "stable", "complexity", "optional", "require"}

// refuse reports each of these keys that is present, with the problem: they are not allowed in this place.
func (r *reader) refuse(at, problem string, keys ...string) {
	for _, key := range keys {
		if r.has(at, key) {
			r.fail(at+"."+key, "%s", problem)
		}
	}
}

// checkRun checks a gate that runs a command.
func (g *Gate) checkRun(r *reader, at string) {
	if !r.has(at, "run") {
		r.fail(at, " has nothing to run\nrun: the command that judges, for example %q", "go test ./...")
	}
	if g.Report != "" && g.Format != "" && !g.Format.InFiles() {
		r.fail(at+".report", " is not read with format %s; it is with %s, %s, %s and %s", g.Format,
			FormatJUnit, FormatJest, FormatRSpec, FormatTRX)
	}
	if g.Expect == ExpectRed && g.Format == FormatExit {
		r.fail(at+".expect", " red needs a format that has per-test results (%s, %s, …), not %s",
			FormatGoTest, FormatJUnit, FormatExit)
	}
	if g.MayChangeTree && g.Where == Clean {
		r.fail(at+".may-change-tree", ": its changes in a clean checkout are thrown away\nuse where: %s", InPlace)
	}
	g.dropDefaults()
}

// dropDefaults clears fields that have their default values, so that they are not part of a plan.
func (g *Gate) dropDefaults() {
	if g.When == WhenAttempt {
		g.When = ""
	}
	if g.Stable == 1 {
		g.Stable = 0
	}
}

// UseAll as the value of `use` stands for all gates of the configuration; with ExpectRed, for all gates with per-test
// results. If there are no such gates, a person approves the result of the phase.
const UseAll = "all"
