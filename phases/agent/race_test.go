//go:build race

package agent

// raceMemory is how many times more memory a program takes with the race detector.
const raceMemory = 4
