// Package steering changes sessions for a person, without a run: goal and spec, configuration, phase, budget, allowed
// paths and notes.
package steering

import (
	"github.com/wfs-dev/wfs/engine/checkpoint"
)

// Steering changes a session that is open for writing.
type Steering struct {
	*checkpoint.Checkpoints
	Hit func(point string) // called with the name of each durable step, for fault injection in tests
}
