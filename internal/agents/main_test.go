package agents

import (
	"os"
	"testing"
	"time"
)

// TestMain sets the local zone: a recorded stream has a time of day without a zone.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
