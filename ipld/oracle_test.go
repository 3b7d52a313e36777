// Differential tests against go-ipld-prime's codecs.

package ipld_test

import (
	"bytes"
	"testing"

	"github.com/ipld/go-ipld-prime/codec/dagcbor"
	"github.com/ipld/go-ipld-prime/codec/dagjson"
	"github.com/ipld/go-ipld-prime/datamodel"
	"github.com/ipld/go-ipld-prime/node/basicnode"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
	"pgregory.net/rapid"
)

func oracleDecode(block []byte) (datamodel.Node, error) {
	builder := basicnode.Prototype.Any.NewBuilder()
	if err := dagcbor.Decode(builder, bytes.NewReader(block)); err != nil {
		return nil, err
	}
	return builder.Build(), nil
}

func oracleEncode(t must.T, node datamodel.Node) []byte {
	t.Helper()
	var out bytes.Buffer
	must.OK(t, dagcbor.Encode(node, &out))
	return out.Bytes()
}

// TestOracleValues: our bytes equal the reference codec's in both directions, and it reads our DAG-JSON back to the
// same block.
func TestOracleValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := ipld.AppendValue(nil, genValue(3).Draw(t, "value"))
		theirs, err := oracleDecode(block)
		if err != nil {
			t.Fatalf("%x: %v", block, err)
		}
		ours, err := prime.Node(block)
		must.OK(t, err)
		if !datamodel.DeepEqual(theirs, ours) {
			t.Fatalf("%x: nodes differ", block)
		}
		if out := oracleEncode(t, ours); !bytes.Equal(out, block) {
			t.Fatalf("%x: they write %x", block, out)
		}
		var text bytes.Buffer
		must.OK(t, ipld.DAGJSON(&text, ipld.Sum(ipld.DagCBOR, block), block))
		builder := basicnode.Prototype.Any.NewBuilder()
		must.OK(t, dagjson.Decode(builder, bytes.NewReader(text.Bytes())), text.Bytes())
		if out := oracleEncode(t, builder.Build()); !bytes.Equal(out, block) {
			t.Fatalf("%s: they read %x, want %x", text.Bytes(), out, block)
		}
	})
}

// TestOracleLaxness lists exactly what the reference decoder accepts and we do not.
func TestOracleLaxness(t *testing.T) {
	for _, c := range refused {
		if _, err := oracleDecode(unhex(t, c.hex)); (err == nil) != c.lax {
			t.Errorf("%s: reference decoder says %v", c.name, err)
		}
	}
	for _, c := range accepted {
		block := unhex(t, c.hex)
		node, err := oracleDecode(block)
		if err != nil {
			t.Errorf("%s: reference decoder says %v", c.name, err)
		} else if out := oracleEncode(t, node); !bytes.Equal(out, block) {
			t.Errorf("%s: reference codec writes %x", c.name, out)
		}
	}
}

func FuzzOracle(f *testing.F) {
	for _, c := range accepted {
		f.Add(unhex(f, c.hex))
	}
	for _, c := range refused {
		f.Add(unhex(f, c.hex))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		if ipld.Check(block) != nil {
			return
		}
		node, err := oracleDecode(block)
		if err != nil {
			t.Fatalf("%x: %v", block, err)
		}
		if out := oracleEncode(t, node); !bytes.Equal(out, block) {
			t.Fatalf("%x: they write %x", block, out)
		}
	})
}
