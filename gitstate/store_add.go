//go:build !badstore_add

package gitstate

// addErrors lets `git add` go on past what it cannot add.
const addErrors = "--ignore-errors"
