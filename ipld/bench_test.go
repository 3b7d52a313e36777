package ipld_test

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// node is a record of ten fields, about 430 bytes.
type node struct {
	id                         []byte
	typ, summary, key, context string
	tags                       []string
	props                      ipld.Value
	created, updated           int64
	source                     ipld.CID
	extra                      []ipld.Entry
}

func benchNode() *node {
	return &node{
		id: make([]byte, 16), typ: "Person", key: "people/alice",
		summary: "Alice leads the infrastructure group and is on call for the billing service.",
		context: "From the staff handbook, chapter 3, people and their duties, second edition.",
		tags:    []string{"infra", "billing", "on-call"}, props: benchValue(),
		created: 1_700_000_000_000_000, updated: 1_710_000_000_000_000,
		source: ipld.Sum(ipld.Raw, nil),
	}
}

func benchValue() ipld.Value {
	return ipld.MapValue(
		ipld.Entry{Key: "team", Value: ipld.StringValue("infra")},
		ipld.Entry{Key: "since", Value: ipld.IntValue(2024)},
		ipld.Entry{Key: "office", Value: ipld.ListValue(ipld.StringValue("Vienna"),
			ipld.BoolValue(true))})
}

func (n *node) encode(buf []byte) []byte {
	w := ipld.NewRecord(buf, n.extra)
	w.Version(1)
	w.Bytes("id", n.id)
	w.String("key", n.key)
	w.Kind("node")
	w.Append("tags", func(b []byte) []byte {
		b = ipld.AppendList(b, len(n.tags))
		for _, tag := range n.tags {
			b = ipld.AppendString(b, tag)
		}
		return b
	})
	w.String("type", n.typ)
	w.Value("props", n.props)
	w.Link("source", n.source)
	w.String("context", n.context)
	w.Int("created", n.created)
	w.String("summary", n.summary)
	w.Int("updated", n.updated)
	return w.Finish()
}

func (n *node) field(key string, d *ipld.Decoder) (known bool, err error) {
	switch key {
	case "id":
		n.id, err = d.Bytes()
	case "key":
		n.key, err = d.String()
	case "tags":
		n.tags, err = readTags(d)
	case "type":
		n.typ, err = d.String()
	case "props":
		n.props, err = d.Value()
	case "source":
		n.source, err = d.Link()
	case "context":
		n.context, err = d.String()
	case "created":
		n.created, err = d.Int()
	case "summary":
		n.summary, err = d.String()
	case "updated":
		n.updated, err = d.Int()
	default:
		return false, nil
	}
	return true, err
}

func readTags(d *ipld.Decoder) ([]string, error) {
	n, err := d.List()
	if err != nil {
		return nil, err
	}
	tags := make([]string, n)
	for i := range tags {
		if tags[i], err = d.String(); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

func BenchmarkEncodeRecord(b *testing.B) {
	n := benchNode()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = n.encode(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecodeRecord(b *testing.B) {
	block := benchNode().encode(nil)
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		var n node
		var err error
		if n.extra, err = ipld.DecodeRecord(block, "node", 1, n.field); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseJSON(b *testing.B) {
	v, err := ipld.DecodeValue(benchNode().encode(nil))
	must.OK(b, err)
	text := ipld.AppendJSON(nil, v)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ipld.ParseJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}
