//go:build !linux || !amd64

package model

// traces cannot trace here: commands are killed at named steps alone, in builds that have them.
func (w *world) traces(typed, []string, int) (calls, exit int) { return 0, 0 }
