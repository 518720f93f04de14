package browser

import (
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestReport opens the file of wfs report from the disk, without a network: it asks for nothing else, and is as
// readable as the page.
func TestReport(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	for name, args := range map[string][]string{"one.html": {"csv-export"}, "all.html": {"--all"}} {
		r.OK(append([]string{"wfs", "report", "-o", "../" + name}, args...)...)
		p := newPage(t)
		p.offline()
		address := "file://" + filepath.Join(filepath.Dir(r.Dir), name)
		p.open(address)
		testkit.Holds(t, p.text(), "csv-export", "WORK")
		p.axe()
		p.size(360, 740)
		p.narrow()
		p.scripts(false)
		p.open(address)
		testkit.Holds(t, p.text(), "csv-export", "WORK")
		if other := p.sentElsewhere(address); len(other) > 0 {
			t.Errorf("the file asks for %q", other)
		}
	}
}
