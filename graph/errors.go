package graph

import (
	"errors"
	"fmt"
)

// ErrInvalid marks every error about a record or change that breaks a rule of the format.
var ErrInvalid = errors.New("invalid record or change")

// FieldError says which field of a record, or member of a change, was refused and why.
// errors.Is(err, ErrInvalid) holds.
type FieldError struct {
	Field  string // as in "summary", "props.team" or "node.content.media"
	Reason string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Is reports whether target is ErrInvalid.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// Fieldf returns a *FieldError with a formatted reason.
func Fieldf(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// within prefixes the field of err, a *FieldError or nil, with the name of an enclosing object.
func within(outer string, err error) error {
	fe, ok := err.(*FieldError)
	if !ok {
		return err
	}
	if fe.Field == "" || outer == "" {
		return &FieldError{Field: outer + fe.Field, Reason: fe.Reason}
	}
	return &FieldError{Field: outer + "." + fe.Field, Reason: fe.Reason}
}
