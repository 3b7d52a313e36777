package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/bert"
)

const (
	// maxVocab is the largest vocabulary: sixteen times the size of the largest multilingual models' vocabularies.
	maxVocab = 1 << 22
	// maxWordChars bounds max_input_chars_per_word, since a word takes time by its square.
	maxWordChars = 1000
)

// supported says what tokenizer.json may ask for.
const supported = "supported are the model WordPiece, the normalizer BertNormalizer or null, and " +
	"the pre-tokenizer BertPreTokenizer"

// tokenizer is a WordPiece tokenizer as BERT has it.
type tokenizer struct {
	norm  bert.Normalizer
	whole map[string]int32 // tokens that begin a word
	rest  map[string]int32 // tokens that go on with one, without their prefix
	// unknown is the token of words that have no pieces, -1 for none. It has no vector.
	unknown  int32
	maxChars int // longer words are unknown
	longest  int // bytes of the longest token
	top      int32
}

// parseTokenizer reads tokenizer.json.
func parseTokenizer(data []byte) (*tokenizer, error) {
	var pieces, norm, pre, added json.RawMessage
	err := model.Members(data, map[string]any{
		"model": &pieces, "normalizer": &norm, "pre_tokenizer": &pre, "added_tokens": &added,
	}, nil)
	if err != nil {
		return nil, err
	}
	if pieces == nil {
		return nil, errors.New("no model: not a tokenizer.json")
	}
	t := &tokenizer{}
	if err := t.readModel(pieces); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if err := t.readNormalizer(norm); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	kind, err := typeOf(pre)
	if err == nil && kind != "BertPreTokenizer" {
		err = unsupported(kind)
	}
	if err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if err := t.checkAdded(added); err != nil {
		return nil, fmt.Errorf("added_tokens: %w", err)
	}
	return t, nil
}

// typeOf returns the member "type" of an object, "null" if there is no object.
func typeOf(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "null", nil
	}
	kind := ""
	err := model.Members(raw, map[string]any{"type": &kind}, nil)
	if err == nil && kind == "" {
		err = errors.New("no type")
	}
	return kind, err
}

func unsupported(kind string) error {
	return fmt.Errorf("%s is not supported: %s", model.Clip(kind), supported)
}

func (t *tokenizer) readModel(raw json.RawMessage) error {
	var (
		kind, unknown, prefix = "", "[UNK]", "##"
		vocab                 json.RawMessage
	)
	t.maxChars = 100
	err := model.Members(raw, map[string]any{
		"type": &kind, "unk_token": &unknown, "continuing_subword_prefix": &prefix,
		"max_input_chars_per_word": &t.maxChars, "vocab": &vocab,
	}, nil)
	if err != nil {
		return err
	}
	if kind != "WordPiece" {
		return unsupported(kind)
	}
	if t.maxChars < 1 || t.maxChars > maxWordChars {
		return fmt.Errorf("max_input_chars_per_word is %d, want 1 to %d", t.maxChars, maxWordChars)
	}
	if prefix == "" {
		return errors.New("continuing_subword_prefix is empty")
	}
	if vocab == nil {
		return errors.New("no vocab")
	}
	if err := t.readVocab(vocab, prefix); err != nil {
		return fmt.Errorf("vocab: %w", err)
	}
	if id, ok := t.whole[unknown]; ok {
		t.unknown = id
	} else {
		t.unknown = -1
	}
	return nil
}

// readVocab reads an object of token to number.
func (t *tokenizer) readVocab(raw json.RawMessage, prefix string) error {
	t.whole, t.rest = map[string]int32{}, map[string]int32{}
	owners := map[int32]string{}
	err := model.ReadObject(raw, func(token string, value json.RawMessage) error {
		var id int32
		if err := json.Unmarshal(value, &id); err != nil || string(value) == "null" {
			return fmt.Errorf("%s is no number of a token", model.Clip(string(value)))
		}
		if id < 0 || id >= maxVocab {
			return fmt.Errorf("number %d is outside 0 to %d", id, maxVocab-1)
		}
		if other, taken := owners[id]; taken {
			return fmt.Errorf("number %d belongs to %s already", id, model.Clip(other))
		}
		owners[id] = token
		t.whole[token] = id
		if tail, ok := strings.CutPrefix(token, prefix); ok {
			t.rest[tail] = id
		}
		t.longest = max(t.longest, len(token))
		t.top = max(t.top, id)
		return nil
	})
	if err == nil && len(owners) == 0 {
		err = errors.New("empty")
	}
	return err
}

func (t *tokenizer) readNormalizer(raw json.RawMessage) error {
	kind, err := typeOf(raw)
	if err != nil || kind == "null" {
		return err
	}
	if kind != "BertNormalizer" {
		return unsupported(kind)
	}
	t.norm = bert.Normalizer{Clean: true, Chinese: true, Lower: true}
	var strip *bool
	err = model.Members(raw, map[string]any{
		"type": &kind, "clean_text": &t.norm.Clean, "handle_chinese_chars": &t.norm.Chinese,
		"strip_accents": &strip, "lowercase": &t.norm.Lower,
	}, errors.New("not a setting of BertNormalizer"))
	// Nothing said about accents means: as about case.
	t.norm.Strip = t.norm.Lower
	if strip != nil {
		t.norm.Strip = *strip
	}
	return err
}

// checkAdded refuses tokens that are found in the text before it is normalised, except special
// ones: those control a model that this is not, and a text that happens to spell one means it.
func (t *tokenizer) checkAdded(raw json.RawMessage) error {
	var all []struct {
		Content string
		Special bool
	}
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return model.JSONProblem(err)
	}
	for _, a := range all {
		if !a.Special {
			return fmt.Errorf("%s is not special: such tokens are not supported", model.Clip(a.Content))
		}
	}
	return nil
}

// tokens calls yield with the numbers of the tokens of s, without unknown words.
func (t *tokenizer) tokens(s string, yield func(id int32)) {
	var ids []int32
	find := func(part []byte, first bool) (id int32, found bool) {
		if first {
			id, found = t.whole[string(part)]
		} else {
			id, found = t.rest[string(part)]
		}
		return id, found
	}
	t.norm.Words(s, func(word []byte) bool {
		if utf8.RuneCount(word) > t.maxChars {
			return true
		}
		pieces, ok := bert.Pieces(ids[:0], word, t.longest, find)
		for _, id := range pieces {
			if ok && id != t.unknown {
				yield(id)
			}
		}
		ids = pieces
		return true
	})
}
