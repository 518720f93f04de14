package views

import (
	"cmp"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Matrix has the results of tests in some attempts: one row for each test, one column for each attempt.
type Matrix struct {
	Columns []Column
	Rows    []MatrixRow
	// how many tests are left out because they passed whenever their gate ran, from when they first appeared
	Same int
	// how many other tests are left out because there are too many
	More int
}

// Column is an attempt, or the base, which has no phase.
type Column struct {
	Place
	Evidence    session.Evidence // empty for an attempt without single tests
	Passed, All int              // tests
}

// MatrixRow has the results of one test.
type MatrixRow struct {
	Gate string
	Test session.TestID
	// results by column: `pass`, `fail`, `skip`, `error`, or "" for a test that did not run or did not exist
	Results []string
}

// MatrixOf returns the matrix of at most `most` tests that ever did anything but pass. Columns in which no gate ran are
// left out.
func MatrixOf(columns []Column, most int) Matrix {
	columns = slices.DeleteFunc(columns, func(c Column) bool { return len(c.Evidence.Gates) == 0 })
	type key struct {
		gate string
		test session.TestID
	}
	rows := map[key][]string{}
	for i := range columns {
		c := &columns[i]
		for gate, tests := range c.Evidence.Gates {
			for test, result := range tests {
				if string(test) == "gate "+gate && len(tests) > 1 { // the gate as a whole
					continue
				}
				k := key{gate, test}
				if rows[k] == nil {
					rows[k] = make([]string, len(columns))
				}
				rows[k][i] = string(result)
				if c.All++; result == "pass" {
					c.Passed++
				}
			}
		}
	}
	m := Matrix{Columns: columns, Rows: []MatrixRow{}}
	for k, results := range rows {
		row := MatrixRow{k.gate, k.test, results}
		if row.passes(columns) {
			m.Same++
			continue
		}
		m.Rows = append(m.Rows, row)
	}
	slices.SortFunc(m.Rows, func(x, y MatrixRow) int {
		return cmp.Or(cmp.Compare(x.firstSeen(), y.firstSeen()),
			cmp.Compare(x.Gate, y.Gate), cmp.Compare(x.Test, y.Test))
	})
	if m.More = max(0, len(m.Rows)-most); m.More > 0 {
		m.Rows = m.Rows[:most]
	}
	return m
}

// passes reports whether the test passed whenever its gate ran, from when it first appeared.
func (r MatrixRow) passes(columns []Column) bool {
	for i := r.firstSeen(); i < len(columns); i++ {
		if _, ran := columns[i].Evidence.Gates[r.Gate]; ran && r.Results[i] != "pass" {
			return false
		}
	}
	return true
}

func (r MatrixRow) firstSeen() int {
	return slices.IndexFunc(r.Results, func(s string) bool { return s != "" })
}

// Judged returns the newest `most` attempts that led to a checkpoint, oldest first, and how many older ones there are.
func Judged(attempts []Attempt, most int) (some []Attempt, older int) {
	for _, a := range attempts {
		if a.Checkpoint != nil && a.Verdict != "" {
			some = append(some, a)
		}
	}
	older = max(0, len(some)-most)
	return some[older:], older
}
