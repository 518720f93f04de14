//go:build !race

package phases

const raceMemory = 1
