package plans

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/workflows"
)

// Differences returns the differences between two plans as text for people, one line each. It returns none for equal
// plans.
func Differences(a, b *workflows.Plan) []string {
	was, is := asJSON(a), asJSON(b)
	var d differences
	d.walk("", inWords(was), inWords(is))
	if len(d) == 0 && !reflect.DeepEqual(was, is) {
		d.say("plan", "it has changed")
	}
	return d
}

func asJSON(p *workflows.Plan) map[string]any {
	text, _ := Encode(p)
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err) // cannot fail: Encode wrote this JSON
	}
	return v
}

// labels has the names of parts of a plan for people, if they differ from the names in JSON. "=" stands for the name of
// the enclosing part.
var labels = map[string]string{"workflow": "=", "command": "=", "use": "=", "name": "workflow",
	"phases": "phase", "baseline": "gate", "agents": "agent", "unproven": "clean-proof off",
	"provide": "clean-provide", "setup": "set-up",
	"holdout": "hold-out tests"}

// inWords converts the JSON of a plan for display: a command becomes one line, and the items of lists and mappings are
// keyed by their names.
func inWords(v map[string]any) map[string]any {
	out := map[string]any{}
	for key, x := range v {
		label := cmp.Or(labels[key], strings.ReplaceAll(key, "_", "-"))
		switch x := x.(type) {
		case map[string]any:
			objectInWords(out, key, label, x)
		case []any:
			listInWords(out, key, label, x)
		case float64:
			out[label] = x
			if key == "idle" || key == "timeout" {
				out[label] = time.Duration(x)
			}
		default:
			out[label] = x
		}
	}
	return out
}

func objectInWords(out map[string]any, key, label string, x map[string]any) {
	text := x["shell"]
	if argv := texts(x["argv"]); argv != nil {
		text = strings.Join(argv, " ")
	}
	switch {
	case text != nil && key == "run": // the command of a gate
		out["="] = text
	case text != nil:
		out[label] = text
	case key == "holdout":
		out[label] = fmt.Sprintf("%v files (%.8s)", x["files"], x["digest"])
	case key == "agents":
		for name, agent := range x {
			out[label+" "+name] = inWords(agent.(map[string]any))
		}
	default:
		out[label] = inWords(x)
	}
}

func listInWords(out map[string]any, key, label string, list []any) {
	for _, item := range list {
		named, ok := item.(map[string]any)
		switch name := fmt.Sprint(named["name"]); {
		case !ok:
			out[label] = texts(list)
		case key != "gates":
			out[label+" "+name] = inWords(named)
		default: // the gates of a phase by name only: the baseline describes them
			if named["expect"] == string(workflows.ExpectRed) {
				name += " (expect red)"
			}
			uses, _ := out[label].([]string)
			out[label] = append(uses, name)
		}
	}
}

func texts(v any) []string {
	var list []string
	items, _ := v.([]any)
	for _, item := range items {
		list = append(list, fmt.Sprint(item))
	}
	return list
}

type differences []string

func (d *differences) say(what, how string) { *d = append(*d, what+": "+how) }

func (d *differences) walk(what string, a, b map[string]any) {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		x, y := a[key], b[key]
		below := strings.TrimPrefix(what+": "+key, ": ")
		if key == "=" {
			below = what
		}
		switch keys[key].(type) {
		case map[string]any:
			was, had := x.(map[string]any)
			is, has := y.(map[string]any)
			switch {
			case key == "card":
				if a["="] == b["="] && !reflect.DeepEqual(x, y) {
					d.say(what, fmt.Sprintf("how %v is started has changed", a["="]))
				}
			case !had:
				d.say(below, "added")
			case !has:
				d.say(below, "removed")
			default:
				d.walk(below, was, is)
			}
		case []string:
			was, _ := x.([]string)
			is, _ := y.([]string)
			if parts := append(lacking(is, was, "+"), lacking(was, is, "-")...); len(parts) > 0 {
				d.say(below, strings.Join(parts, " "))
			}
		default:
			d.value(below, x, y)
		}
	}
}

// lacking returns the texts that are in `a` and not in `b`, each with the sign before it.
func lacking(a, b []string, sign string) []string {
	var list []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			list = append(list, sign+x)
		}
	}
	return list
}

func (d *differences) value(what string, a, b any) {
	said := func(v any) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprint(v)
	}
	switch x, y := said(a), said(b); {
	case x == y:
	case strings.Contains(x+y, "\n") || len(x+y) > 300:
		d.say(what, "it has changed")
	default:
		d.say(what, x+" → "+y)
	}
}

// SameBaseline reports whether two plans run the same gates on the base.
func SameBaseline(a, b *workflows.Plan) bool {
	return bytes.Equal(workflows.IndentedJSON(a.Baseline), workflows.IndentedJSON(b.Baseline))
}
