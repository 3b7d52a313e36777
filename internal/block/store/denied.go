package store

import (
	"errors"
	"fmt"
)

// ErrDenied is returned when a database server denies the store's role a privilege. The request was not carried
// out; Compact returns it when deleted bytes are still on the disk.
var ErrDenied = errors.New("permission denied")

// DeniedError reports a privilege that a database server denies a role. errors.Is(err, ErrDenied) holds.
type DeniedError struct {
	Role string
	Err  error // names the table
}

func (e *DeniedError) Error() string { return fmt.Sprintf("role %q lacks a right: %v", e.Role, e.Err) }

// Is reports whether target is ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

func (e *DeniedError) Unwrap() error { return e.Err }
