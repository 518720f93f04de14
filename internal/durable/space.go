package durable

// Space is what is left of a file system.
type Space struct {
	Bytes uint64 // that this user may still write
	Files uint64 // that may still be made, where the file system counts them
	Count bool   // Files is known
}
