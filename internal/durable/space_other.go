//go:build !linux && !darwin

package durable

// SpaceAt knows nothing here.
func SpaceAt(string) (s Space, known bool) { return Space{}, false }
