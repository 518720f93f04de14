package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/wfs-dev/wfs/internal/safetext"
)

const (
	// maxShown is how many bytes of a command's output one call shows. Clients give the output to their model, and some
	// refuse more than 25,000 tokens.
	maxShown = 64 << 10
	// maxKept is how many bytes of it all calls together can show.
	maxKept = 32 << 20
)

// entries returns the fields of an answer, with as many entries of its lists from number `skip` on as one call shows,
// at least one. `next` is the number of the entry after these, and `left` says how many follow in the longest list.
func entries(fields map[string]any, skip int) (part map[string]any, next, left int) {
	_, n := window(fields, 0, skip)
	n = 1 + sort.Search(max(0, n-1), func(i int) bool {
		shown, _ := window(fields, skip, skip+i+2)
		data, err := json.Marshal(shown)
		return err != nil || len(data) > maxShown
	})
	shown, left := window(fields, skip, skip+n)
	return shown.(map[string]any), skip + n, left
}

// window returns a value in which the lists have only their entries in [from, to), and how many follow in the longest
// one. Lists inside of entries stay whole.
func window(value any, from, to int) (part any, left int) {
	switch value := value.(type) {
	case map[string]any:
		some := map[string]any{}
		for name, field := range value {
			shown, after := window(field, from, to)
			some[name], left = shown, max(left, after)
		}
		return some, left
	case []any:
		return value[min(from, len(value)):min(to, len(value))], max(0, len(value)-to)
	}
	return value, 0
}

// lines does for a text what entries does for fields. A line that is too long for a call ends early.
func lines(text string, skip int) (part string, next, left int) {
	all := slices.Collect(strings.Lines(text))
	skip = min(skip, len(all))
	for i, line := range all[skip:] {
		if len(part) > 0 && len(part)+len(line) > maxShown {
			return strings.TrimSuffix(part, "\n"), skip + i, len(all) - skip - i
		}
		if len(line) > maxShown {
			line = fmt.Sprintf("%s… (a line of %d bytes)\n", strings.ToValidUTF8(line[:maxShown], ""), len(line))
		}
		part += line
	}
	return part, len(all), 0
}

// merged returns the fields of all JSON objects in a text, or nil if there is none. Start prints two: the new session
// and its run.
func merged(text []byte) (all map[string]any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for d.Decode(&all) == nil {
	}
	return all
}

// head keeps the first maxKept bytes of what is written to it. The buffer is no embedded field, because its method
// ReadFrom would bypass the limit.
type head struct {
	kept  bytes.Buffer
	total int
}

func (h *head) Write(p []byte) (int, error) {
	h.total += len(p)
	h.kept.Write(p[:min(len(p), maxKept-h.kept.Len())])
	return len(p), nil
}

func (h *head) text() string {
	return strings.TrimSpace(safetext.Strip(strings.ToValidUTF8(h.kept.String(), "?")))
}
