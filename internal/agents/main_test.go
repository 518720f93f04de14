package agents

import (
	"os"
	"testing"
	"time"
)

// TestMain pins the zone of this machine: a recorded stream tells a time of day without one.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
