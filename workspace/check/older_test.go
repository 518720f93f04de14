package check

import "testing"

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"v0.1.0", "v0.2.0", true}, {"v0.2.0", "v0.1.0", false}, {"v0.2.0", "v0.10.0", true}, {"v1.0.0", "v1.0.0", false},
		{"v0.1.0-rc.1", "v0.1.0", true}, {"v0.1.0", "v0.1.0-rc.1", false}, {"v0.1.0-rc.1", "v0.1.0-rc.2", true},
		{"dev", "v1.0.0", false}, {"v1.0.0", "dev", false}, {"", "v1.0.0", false}, {"dev", "dev", false},
	} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("older(%q, %q) is %t", c.a, c.b, got)
		}
	}
}
