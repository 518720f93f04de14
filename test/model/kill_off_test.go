//go:build !linux || !amd64

package model

// traces cannot trace on this system: here commands are killed only at named steps, in builds that have them.
func (w *world) traces(typed, []string, int) (calls, exit int) { return 0, 0 }
