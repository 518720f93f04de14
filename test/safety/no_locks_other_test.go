//go:build !linux

package safety

func noLocksMain() int { return 1 }
