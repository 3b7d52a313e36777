package core

import (
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
)

// EncodeRef returns the value of a ref in a view, nil for one that does not exist.
func EncodeRef(ref Ref) []byte {
	switch {
	case ref.Symbolic != "":
		return ipld.AppendString(nil, string(ref.Symbolic))
	case ref.Target.Defined():
		return ipld.AppendLink(nil, ref.Target)
	}
	return nil
}

// Reversed returns the operation that one took back, undefined for none.
func Reversed(o *commit.Operation) ipld.CID {
	if o.Undoes.Defined() {
		return o.Undoes
	}
	return o.Redoes
}
