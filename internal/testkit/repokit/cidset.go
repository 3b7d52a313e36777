package repokit

import (
	"encoding/binary"

	"github.com/mnem-project/mnem/ipld"
)

func Numbered(codec ipld.Codec, i int) ipld.CID {
	return ipld.Sum(codec, binary.BigEndian.AppendUint64(nil, uint64(i)))
}
