//go:build !race

package agent

import ()

const raceMemory = 1
