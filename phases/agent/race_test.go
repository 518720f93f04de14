//go:build race

package agent

// raceMemory is the factor by which the race detector increases memory.
const raceMemory = 4
