package commit

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Message is the message of a commit, merge or tag: empty, or a separate raw block, so that it can be erased
// without changing the record's CID. Older records contain the text themselves.
type Message struct {
	Block ipld.CID // of the text; undefined if empty, or if the record contains it
	Text  string   // in the record itself, "" but in older ones
}

// MessageOf returns the message of a text, which has a block unless the text is "".
func MessageOf(text string) Message {
	if text == "" {
		return Message{}
	}
	return Message{Block: ipld.Sum(ipld.Raw, []byte(text))}
}

// Says reports whether a text equals the message, erased or not.
func (m Message) Says(text string) bool {
	return m == MessageOf(text) || !m.Block.Defined() && m.Text == text
}

// CheckMessage returns a *graph.FieldError unless a text may be a message.
func CheckMessage(text string) error { return graph.CheckText("message", text, 0, MaxMessage) }

// ReadMessage returns the text of a message. If it was erased the error wraps store.ErrRedacted.
func ReadMessage(ctx context.Context, g store.Getter, m Message) (string, error) {
	if !m.Block.Defined() {
		return m.Text, nil
	}
	data, err := g.Get(ctx, m.Block)
	if err != nil {
		return "", fmt.Errorf("read message: %w", err)
	}
	text := string(data)
	if text == "" {
		err = graph.Fieldf("message", "empty in a block of its own")
	} else {
		err = CheckMessage(text)
	}
	if err != nil {
		return "", fmt.Errorf("read message %s: %w: %w", m.Block, store.ErrCorrupt, err)
	}
	return text, nil
}

func (m Message) check() error {
	if m.Block.Defined() {
		return graph.CheckLink("message", m.Block, ipld.Raw)
	}
	return CheckMessage(m.Text)
}

// field is the message in a record: a link to its block, or its text.
func (m *Message) field(r *ipld.Record) {
	write := func(b []byte) []byte {
		if m.Block.Defined() {
			return ipld.AppendLink(b, m.Block)
		}
		return ipld.AppendString(b, m.Text)
	}
	r.Field("message", write, func(d *ipld.Decoder) error {
		v, err := d.Value()
		if err != nil {
			return err
		}
		m.Block, m.Text = v.Link(), v.Text()
		if v.Kind() != ipld.Link && v.Kind() != ipld.String {
			return d.Errorf("neither a string nor a link")
		}
		return nil
	})
}
