package car

import (
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
)

// ErrFormat marks every error about an invalid file.
var ErrFormat = errors.New("invalid CAR file")

// FormatError says where a file is wrong and why. errors.Is(err, ErrFormat) holds.
type FormatError struct {
	Offset int64    // in bytes from the start, of the header or section at fault
	CID    ipld.CID // of the block at fault; undefined if the error concerns no block
	Reason string
}

func (e *FormatError) Error() string {
	if e.CID.Defined() {
		return fmt.Sprintf("%v: at byte %d, block %s: %s", ErrFormat, e.Offset, e.CID, e.Reason)
	}
	return fmt.Sprintf("%v: at byte %d: %s", ErrFormat, e.Offset, e.Reason)
}

// Is reports whether target is ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }
