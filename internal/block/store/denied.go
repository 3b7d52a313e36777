package store

import (
	"errors"
	"fmt"
)

// ErrDenied is returned when a database server denies the role of a store a right. What was asked for was not done;
// Compact returns it when what was deleted is still on the disk.
var ErrDenied = errors.New("permission denied")

// DeniedError is an error of a database server that denies a role a right. errors.Is(err, ErrDenied) holds.
type DeniedError struct {
	Role string
	Err  error // names the table
}

func (e *DeniedError) Error() string { return fmt.Sprintf("role %q lacks a right: %v", e.Role, e.Err) }

// Is reports whether target is ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

func (e *DeniedError) Unwrap() error { return e.Err }
