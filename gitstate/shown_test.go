package gitstate

import (
	"maps"
	"os"
	"testing"
)

// TestShown: Show and Links read the files of a tree, and nothing else of a similar name.
func TestShown(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write("a", "of a")
	r.write("d/b", "of b")
	r.must(os.Symlink("d/b", r.path("l")))
	tree := r.snapshot().Tree
	for name, want := range map[string]string{"a": "of a", "d/b": "of b", "l": "d/b", "d": "", "a/x": "", "d/b/x": "",
		"none": "", "d/none": "", "l/x": ""} {
		got, err := r.Objects.Show(t.Context(), tree, name)
		if err != nil || string(got) != want || (got == nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	links, err := r.Objects.Links(t.Context(), tree)
	if err != nil || !maps.Equal(links, map[string]string{"l": "d/b"}) {
		t.Errorf("links %v, %v", links, err)
	}
}
