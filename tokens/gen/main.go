// Command gen writes the vocabularies of package tokens as it embeds them.
//
//	go run ./tokens/gen ./tokens
//
// A file is compressed with zstd. In it are, for each rank in order, one byte with the length of
// the token (0 where there is none), and then the bytes of all tokens in the same order.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"github.com/tiktoken-go/tokenizer/codec"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DIR")
		os.Exit(2)
	}
	for _, v := range []struct {
		name  string
		size  uint
		codec *codec.Codec
	}{
		{"cl100k", 100_256, codec.NewCl100kBase()}, {"o200k", 199_998, codec.NewO200kBase()},
	} {
		data, err := pack(v.codec, v.size)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], v.name+".zst"), data, 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "gen: %s: %v\n", v.name, err)
			os.Exit(1)
		}
	}
}

func pack(c *codec.Codec, size uint) ([]byte, error) {
	var lengths, tokens []byte
	for id := range size {
		token, err := c.Decode([]uint{id})
		if err != nil {
			token = "" // a rank that no token has
		}
		if len(token) > 255 {
			return nil, fmt.Errorf("token %d has %d bytes", id, len(token))
		}
		lengths = append(lengths, byte(len(token)))
		tokens = append(tokens, token...)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(append(lengths, tokens...), nil), nil
}
