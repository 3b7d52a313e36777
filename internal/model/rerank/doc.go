// Package rerank asks a model how well texts answer a query: a cross-encoder behind HTTP that reads
// query and text together, as no index can.
//
// Open finds a provider by its spec:
//
//	cohere:MODEL   POST /v2/rerank of Cohere, or of a server that answers like it
//	jina:MODEL     POST /v1/rerank of Jina, or of a server that answers like it
//	voyage:MODEL   POST /v1/rerank of Voyage
//
// All three are sent the model, the query, a list of documents, and how many of them to judge
// ("top_n", Voyage's "top_k"), which is all of them. They answer with one "relevance_score" for the
// "index" of each document, in any order, in a list "results" (Voyage's "data"). An answer that
// leaves one out, has one twice or one that was not asked about, or a score that is no finite
// number from -32,768 to 32,768, is refused as a whole (model.ErrAnswer): half an answer would be another
// ranking.
//
// Scores come back in units of 2^-16, rounded to the nearest, and of two equally near ones to the
// even. What a server answers tomorrow is the server's affair, so whoever wants an answer again
// keeps the scores. Requests are tried again as package embed does it, and fail with a *model.Error.
package rerank
