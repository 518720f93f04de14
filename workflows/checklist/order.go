package checklist

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

const id = `(?:[A-Za-z]{1,8}-?)?[0-9]+(?:\.[0-9]+)*`

var (
	taskID = lazyregexp.New(`^[\[(*]*(` + id + `)[\])*:.]*[ ](.*)`)
	// after matches "(after T1, T3-T5)" and, also without parentheses, "depends on: T1" at the end of a text.
	after = lazyregexp.New(`(?i)(?:[(\[](?:after|depends on):?|\bdepends on:?) +((?:tasks? )?` + id +
		`(?:(?:,? and |, ?| ?[&–-] ?)(?:task )?` + id + `)*)(?:[)\];.]|$)`)
	ids = lazyregexp.New(id)
)

// ID returns the id that a task's text begins with, such as "T1", "T001" or "1.2", and the text after it. Without an id
// it returns "" and the whole text.
func (i Item) ID() (id, text string) {
	if m := taskID.FindStringSubmatch(i.Text); m != nil {
		return m[1], m[2]
	}
	return "", i.Text
}

// name returns what to call a task in a message.
func (i Item) name() string {
	if id, _ := i.ID(); id != "" {
		return id
	}
	return strconv.Quote(i.Text)
}

// Order returns what is wrong with the order of tasks: one depends on a task that does not exist, or in a circle on
// itself, or was ticked before a task that it depends on. It returns "" if all is right.
func Order(tasks []Item) string {
	needs, wrong := dependencies(tasks)
	if wrong != "" {
		return wrong
	}
	var path []int                     // each of these tasks depends on the next
	walked := make([]bool, len(tasks)) // nothing below the task leads to a circle
	var circle func(int) bool
	circle = func(i int) bool {
		at := slices.Index(path, i)
		path = append(path, i)
		if at >= 0 {
			path = path[at:]
			return true
		}
		if !walked[i] && slices.ContainsFunc(needs[i], circle) {
			return true
		}
		walked[i], path = true, path[:len(path)-1]
		return false
	}
	for i, t := range tasks {
		if circle(i) {
			var names []string
			for _, i := range path {
				names = append(names, tasks[i].name())
			}
			return "these tasks depend on each other in a circle: " + strings.Join(names, ", ")
		}
		for _, n := range needs[i] {
			if t.Done && !tasks[n].Done {
				return fmt.Sprintf("%s is ticked, but it depends on %s, which is not", t.name(), tasks[n].name())
			}
		}
	}
	return ""
}

// Next returns the text of the first open task whose dependencies are all done, "" if all tasks are done. Without such
// a task, it is the first open one.
func Next(tasks []Item) string {
	needs, _ := dependencies(tasks)
	first := ""
	for i, t := range tasks {
		if t.Done {
			continue
		}
		if !slices.ContainsFunc(needs[i], func(n int) bool { return !tasks[n].Done }) {
			return t.Text
		}
		first = cmp.Or(first, t.Text)
	}
	return first
}

// dependencies returns, for each task, the indices of the tasks that it depends on, and what is wrong with the first id
// that names no task, or several.
func dependencies(tasks []Item) (needs [][]int, wrong string) {
	byID := map[string][]int{}
	for i, t := range tasks {
		id, _ := t.ID()
		byID[strings.ToUpper(id)] = append(byID[strings.ToUpper(id)], i)
	}
	needs = make([][]int, len(tasks))
	for i, t := range tasks {
		for _, list := range after.FindAllStringSubmatch(t.Text, -1) {
			first, end := len(tasks), 0
			for _, at := range ids.FindAllStringIndex(list[1], -1) {
				id := list[1][at[0]:at[1]]
				of := byID[strings.ToUpper(id)]
				needs[i] = append(needs[i], of...)
				if len(of) == 1 {
					// T1-T3: also the tasks between the two
					for n := first + 1; n < of[0] && strings.ContainsAny(list[1][end:at[0]], "-–"); n++ {
						needs[i] = append(needs[i], n)
					}
					first, end = of[0], at[1]
				}
				if n := len(of); n != 1 && wrong == "" {
					wrong = fmt.Sprintf("%s depends on %s, but %d tasks begin with that", t.name(), id, n)
					if n == 0 {
						wrong = fmt.Sprintf("%s depends on %s, but no task begins with that", t.name(), id)
					}
				}
			}
		}
	}
	return needs, wrong
}
