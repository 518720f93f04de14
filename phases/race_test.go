//go:build race

package phases

// raceMemory is how many times more memory a program takes with the race detector.
const raceMemory = 4
