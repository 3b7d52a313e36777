package repokit

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/ipld"
)

// Numbered returns a different CID for each number, the hash of i as 8 bytes.
func Numbered(codec ipld.Codec, i int) ipld.CID {
	return ipld.Sum(codec, binary.BigEndian.AppendUint64(nil, uint64(i)))
}
