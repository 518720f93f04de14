//go:build badstore_add

package gitstate

// addErrors lets `git add` take what the exclude rules name, too. It is wrong, for a test of the tests.
const addErrors = "--force"
