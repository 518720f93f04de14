// Package steering is what a person changes about a session without a run: its goal and spec, its configuration, its
// phase, its budget, and what they allow or say.
package steering

import (
	"github.com/wfs-dev/wfs/engine/checkpoint"
)

// Steering changes a session in hand.
type Steering struct {
	*checkpoint.Checkpoints
	Hit func(point string) // marks a durable step for fault injection
}
