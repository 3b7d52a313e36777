package main

// byteCases are fields of bytes that read as text of more than one byte a character, and as the half
// of such a text: bytes are bytes, whatever they look like.
func byteCases(s *suite) {
	like, half := []byte("界é😁 ok é界"), []byte("\xe7\x95\x8c\xc3")
	id := []byte("界é😁界é\xc3\xff")
	unkeyed := func(edit dict) dict { return both(edit, dict{"key": absent{}, "id": id}) }
	s.records("node", baseNode(), []recordCase{{"1.2", "bytes-like-text",
		"an id and properties of bytes that look like text", "",
		unkeyed(dict{"props": dict{"half": half, "like": like, "none": []byte{}}})}})
	s.records("edge", baseEdge(), []recordCase{{"1.2", "bytes-like-text",
		"properties of bytes that look like text", "", dict{"props": dict{"half": half, "like": like}}}})
	s.records("mark", baseMark(), []recordCase{{"1.2", "bytes-like-text",
		"ids that look like text", "", dict{"id": id, "state": "superseded", "by": []byte("界é界é😁\xc3\xff")}}})
	embedding := dict{"kind": "embedding", "v": 1, "model": "m", "dtype": "i8", "dims": len(like),
		"vector": like, "text": []byte("界é😁界é界é😁界é😁")}
	s.records("embedding", embedding, []recordCase{{"1.2", "bytes-like-text",
		"a vector and a hash that look like text", "", nil}})
	s.records("commit", baseCommit(nil), []recordCase{{"1.2", "bytes-like-text",
		"a change id and a signature that look like text", "",
		dict{"change": id, "signature": like}}})
	byteReceipts(s, id, like, half)
}

func byteReceipts(s *suite, id, like, half []byte) {
	request := func(edit dict) dict { return dict{"request": asked("tide", edit)} }
	base := receiptOn(asked("tide", nil))
	s.records("receipt", base, []recordCase{
		{"13.1", "vectors-like-text", "vectors that look like text, and like half of one", "",
			request(dict{"vectors": dict{"half": half, "like": like, "two": []byte("é")}})},
		{"13.1", "ids-like-text", "ids that look like text", "", request(dict{
			"exclude": []any{id}, "rerank": "m", "reranked": []any{dict{"id": id, "score": 1}}})},
		{"13.1", "where-like-text", "values of predicates that are bytes", "",
			request(dict{"where": []any{dict{"name": "n", "op": "=", "value": like},
				dict{"name": "n", "op": "in", "value": []any{half, "half"}}}})},
		{"13.1", "items-like-text", "items whose bytes look like text", "", dict{"items": []any{
			dict{"id": id, "node": recordCID(baseNode()), "score": 1, "tokens": 0,
				"rendered": []byte("界é😁界é界é😁界é😁")}}, "candidates": 1}},
		{"13.1", "other-parameters", "parameters that no other receipt here has", "", request(dict{"createdTo": t0 + 1,
			"current": true, "updatedTo": t0 + 2, "now": t0, "edgeWeights": dict{"knows": 0}, "profile": "chat", "tokenizer": "cl100k"})},
	})
	shown := dict{"name": "root/3", "source": []byte(rep("\x01", 32)), "tokens": 7, "rendered": []byte(rep("\x02", 32))}
	above := with(request(dict{"altitude": "scope"}), dict{"digests": []any{shown}, "tokens": 7})
	s.records("receipt", base, []recordCase{
		{"13.1", "digests", "a digest before the items", "", above},
		{"13.1", "digests-unasked", "a digest that was not asked for", "field", with(above, request(nil))},
		{"13.1", "digests-tokens", "the tokens of a digest are not in the sum", "field", with(above, dict{"tokens": 0})},
		{"13.1", "digests-many", "more digests than there may be", "field",
			with(above, dict{"digests": []any{shown, shown, shown, shown, shown}})},
	})
}
