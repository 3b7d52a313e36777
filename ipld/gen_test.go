package ipld_test

import (
	"math"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"pgregory.net/rapid"
)

// edgeInts are integers around each change of head width.
var edgeInts = []int64{
	0, 23, 24, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64,
	-1, -24, -25, -256, -257, -65536, -65537, -math.MaxUint32 - 1, -math.MaxUint32 - 2,
	math.MinInt64,
}

var edgeFloats = []float64{
	0, math.Copysign(0, -1), 1, -1, 1e21, 1e20, 123456789012345680000, 1e-6, 9.999e-7, 0.1,
	math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 1<<53 + 2, 5e-324, 2.2250738585072014e-308,
}

func genCID() *rapid.Generator[ipld.CID] {
	return rapid.Custom(func(t *rapid.T) ipld.CID {
		codec := rapid.SampledFrom([]ipld.Codec{ipld.Raw, ipld.DagCBOR}).Draw(t, "codec")
		return ipld.Sum(codec, rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "content"))
	})
}

func genString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 30, -1),
		rapid.SampledFrom([]string{
			"", "\x00", "\"\\\b\f\n\r\t\x1f\x7f", "\u2028\u2029", "\ufeff", "\ufffd", "\U0010ffff",
			"exactly twenty-three by", "exactly twenty-four byte", "<script>&amp;",
		}))
}

// genValue draws values of at most depth nested lists and maps, that have a JSON form.
func genValue(depth int) *rapid.Generator[ipld.Value] {
	leaves := []*rapid.Generator[ipld.Value]{
		rapid.Just(ipld.Value{}),
		rapid.Map(rapid.Bool(), ipld.BoolValue),
		rapid.Map(rapid.OneOf(rapid.Int64(), rapid.SampledFrom(edgeInts)), ipld.IntValue),
		rapid.Map(rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
			rapid.SampledFrom(edgeFloats)), ipld.FloatValue),
		rapid.Map(genString(), ipld.StringValue),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 30), ipld.BytesValue),
		rapid.Map(genCID(), ipld.LinkValue),
	}
	leaf := rapid.OneOf(leaves...)
	if depth == 0 {
		return leaf
	}
	most := 5 // of items, to keep deep values small
	if depth == 1 {
		most = 30
	}
	list := rapid.Custom(func(t *rapid.T) ipld.Value {
		return ipld.ListValue(rapid.SliceOfN(genValue(depth-1), 0, most).Draw(t, "list")...)
	})
	object := rapid.Custom(func(t *rapid.T) ipld.Value {
		m := rapid.MapOfN(genString(), genValue(depth-1), 0, most).Draw(t, "map")
		var entries []ipld.Entry
		for key, v := range m {
			if key != "/" {
				entries = append(entries, ipld.Entry{Key: key, Value: v})
			}
		}
		return ipld.MapValue(entries...)
	})
	return rapid.OneOf(leaf, list, object)
}

func TestValueRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		block := ipld.AppendValue(nil, v)
		must.OK(t, ipld.Check(block))
		got := must.Get(ipld.DecodeValue(block))(t)
		if !got.Equal(v) || !v.Equal(got) {
			t.Fatalf("got %s, want %s", show(got), show(v))
		}
		must.Same(t, ipld.AppendValue(nil, got), block, "re-encoded as")
	})
}

// TestChangedByteChangesValue changes single bytes: whatever is still accepted is another value.
func TestChangedByteChangesValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(2).Draw(t, "value")
		block := ipld.AppendValue(nil, v)
		at := rapid.IntRange(0, len(block)-1).Draw(t, "at")
		block[at] ^= rapid.ByteRange(1, 255).Draw(t, "change")
		got, err := ipld.DecodeValue(block)
		if err != nil {
			return
		}
		if got.Equal(v) {
			t.Fatalf("%x is a second encoding of %s", block, show(v))
		}
	})
}

func someValue() ipld.Value {
	return ipld.MapValue(
		ipld.Entry{Key: "team", Value: ipld.StringValue("infra")},
		ipld.Entry{Key: "since", Value: ipld.IntValue(2024)},
		ipld.Entry{Key: "office", Value: ipld.ListValue(ipld.StringValue("Vienna"),
			ipld.BoolValue(true))})
}
