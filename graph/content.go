package graph

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/ipld"
)

// defaultMedia is the media type that is omitted.
const defaultMedia = "text/plain"

// Content is the text of a node: in the record up to MaxInline bytes, otherwise in chunks.
type Content struct {
	Text   string       // the text, or "" when it is in Chunks
	Chunks []ipld.CID   // raw blocks of ipld.ChunkSize bytes, the last of 1 to ipld.ChunkSize
	Size   int64        // length of the text in bytes, 1 to MaxContent
	Media  string       // media type, "" for text/plain
	Extra  []ipld.Entry // unknown fields in canonical order
}

// Chunk is one raw block of content.
type Chunk struct {
	CID  ipld.CID
	Data []byte
}

// SplitContent returns the content of a text and media type, and the blocks to store before the
// record: none up to MaxInline bytes. The media type may be empty. Text that is empty, too long or
// not UTF-8 is refused with a *FieldError.
func SplitContent(text, media string) (*Content, []Chunk, error) {
	if err := CheckText("text", text, 1, MaxContent); err != nil {
		return nil, nil, err
	}
	if media == defaultMedia {
		media = ""
	}
	c := &Content{Size: int64(len(text)), Media: media}
	if err := CheckText("media", media, 0, MaxMedia); err != nil {
		return nil, nil, err
	}
	if len(text) <= MaxInline {
		c.Text = text
		return c, nil, nil
	}
	chunks := make([]Chunk, 0, chunkCount(c.Size))
	for len(text) > 0 {
		n := min(len(text), ipld.ChunkSize)
		data := []byte(text[:n])
		chunks = append(chunks, Chunk{CID: ipld.Sum(ipld.Raw, data), Data: data})
		c.Chunks = append(c.Chunks, chunks[len(chunks)-1].CID)
		text = text[n:]
	}
	return c, chunks, nil
}

// JoinContent returns the text of c, reading each chunk once, in order, with get, which must return the verified
// bytes of a block. An error of get is returned unchanged; chunks that do not make up the text give an error that
// wraps ipld.ErrInvalid.
func JoinContent(c *Content, get func(ipld.CID) ([]byte, error)) (string, error) {
	if len(c.Chunks) == 0 {
		return c.Text, nil
	}
	var text strings.Builder
	for i, id := range c.Chunks {
		data, err := get(id)
		if err != nil {
			return "", err
		}
		want := min(c.Size-int64(i)*ipld.ChunkSize, ipld.ChunkSize)
		if int64(len(data)) != want {
			return "", fmt.Errorf("%w: content chunk %s of %d bytes, want %d", ipld.ErrInvalid, id, len(data), want)
		}
		text.Write(data)
	}
	if !utf8.ValidString(text.String()) {
		return "", fmt.Errorf("%w: content is not valid UTF-8", ipld.ErrInvalid)
	}
	return text.String(), nil
}

// chunkCount returns the number of chunks of a text of size bytes.
func chunkCount(size int64) int { return int((size + ipld.ChunkSize - 1) / ipld.ChunkSize) }

var contentFields = ipld.FieldNames(new(Content).fields)

func (c *Content) fields(r *ipld.Record) {
	r.Extra(&c.Extra)
	r.Int("size", &c.Size)
	r.OptString("text", &c.Text)
	r.OptString("media", &c.Media)
	if r.Has("chunks", len(c.Chunks) > 0) {
		r.Links("chunks", &c.Chunks, 1, chunkCount(MaxContent))
	}
}

func (c *Content) check(m *meter) error {
	err := cmp.Or(
		CheckText("text", c.Text, 0, MaxInline),
		CheckText("media", c.Media, 0, MaxMedia),
		c.checkSize(),
	)
	if err != nil {
		return err
	}
	if c.Media == defaultMedia {
		return Fieldf("media", "%s must be left out", defaultMedia)
	}
	for _, chunk := range c.Chunks {
		if err := CheckLink("chunks", chunk, ipld.Raw); err != nil {
			return err
		}
	}
	m.text(c.Text, c.Media)
	m.links(len(c.Chunks))
	return m.extra(c.Extra, contentFields)
}

func (c *Content) checkSize() error {
	if len(c.Chunks) == 0 {
		if c.Text == "" {
			return Fieldf("size", "content must not be empty")
		}
		if c.Size != int64(len(c.Text)) {
			return Fieldf("size", "%d, but the text has %d bytes", c.Size, len(c.Text))
		}
		return nil
	}
	if c.Text != "" {
		return Fieldf("text", "given together with chunks")
	}
	if c.Size <= MaxInline || c.Size > MaxContent {
		return Fieldf("size", "%d in chunks, want %d to %d", c.Size, MaxInline+1, MaxContent)
	}
	if want := chunkCount(c.Size); len(c.Chunks) != want {
		return Fieldf("chunks", "%d chunks for %d bytes, want %d", len(c.Chunks), c.Size, want)
	}
	return nil
}
